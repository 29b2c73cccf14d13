"""Sums over rows, and ridge solutions from them."""
