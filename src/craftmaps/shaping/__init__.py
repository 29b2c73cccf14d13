"""Rows to rows worth comparing: metrics and lengths, and the whole way of a row to its features."""
