"""HTML: escaped markup, and the page made of it."""
