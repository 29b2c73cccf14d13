"""HTML: markup that escapes what is put into it, and the page made of it."""
