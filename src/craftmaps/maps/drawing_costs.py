"""Limits of the draws that a model file can cause.

A file of a few bytes can describe a map that would fill the memory. Maps report the sizes of their draws before they
draw; at all limits together, loading takes seconds and about two gigabytes.
"""

from typing import NamedTuple

WIDEST_ROWS = 2**27
WIDEST_MAP = 2**24
MOST_SORTED = 2**25  # words drawn and sorted for permutations: 3 s
LONGEST_PERMUTATION = 2**24  # a long one is slower to sort: 3 s
MOST_WORDS = 2**25  # words for the buckets of a TensorSketch: 1 GB while they are drawn
MOST_SIGNS = 2**27  # kept as float32
MOST_LINES = 2**25  # numbers in the factors of a group, as lines of 32 or 64 bytes
MOST_GROUPS = 2**23  # entries of the table of degrees by groups
MOST_PRODUCTS = 2**27  # entries of the sketches of one row


class DrawingCost(NamedTuple):
    """How many numbers a part of a draw takes, and the most that a file can ask for."""

    what: str  # the subject of an error message
    size: int
    most: int
