"""Rows to features: random maps whose inner products estimate a kernel, and their moments."""
