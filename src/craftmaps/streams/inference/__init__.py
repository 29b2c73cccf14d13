"""The first look at the data, which fixes the rule by which a table becomes a matrix."""
