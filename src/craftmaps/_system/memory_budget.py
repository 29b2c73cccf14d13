"""How many rows, classes and features of a learner fit in a bound of memory."""

from bisect import bisect_right
from typing import NamedTuple

# Measured: interpreter, libraries and compiled loops, and the features of a block with their copies.
_FIXED = 500_000_000
# Per entry of the E x E Gram matrix while alpha is chosen: the statistic, the statistic of a fold, their float32
# products and a factor.
BYTES_PER_CELL = 28
# The same with one triangle in float32: the triangle and a factor.
_BYTES_PER_PACKED_CELL = 4
# Rows that metrics and choices are fitted on, and held-out rows; each with copies.
SETTLE_ROWS, HELD_OUT_ROWS, _FOLDS = 12_288, 10_000, 5
_COPIES_OF_ROWS = 3
# Features of the rows of a fold.
_COPIES_OF_FOLD = 6
# Copies of a block of rows: two read ahead, one in work, one being made, and Arrow's own.
_COPIES_OF_BLOCK = 5
# Features of candidates while choices are made, with their copies, up to this width.
_WIDEST_TRIAL, _COPIES_OF_TRIAL = 2048, 8
# Or the kernel matrices of two gradient metrics fitted side by side, each to at most this many rows.
GRADIENT_ROWS = 4096
_KERNEL_MATRICES = 2 * 4 * GRADIENT_ROWS**2
_SMALLEST_BLOCK, _LARGEST_BLOCK = 256, 8192


class Budget(NamedTuple):
    """What fits in a bound of memory."""

    n_bytes: int
    batch_rows: int
    most_classes: int
    is_packed: bool


class TooWideError(ValueError):
    """The features are too many for a bound of memory.

    Parameters
    ----------
    n_components : int
        Number of features asked for.
    needed : int
        Bytes that they need.
    bound : int
        Bytes that there are.
    largest : int
        Number of features that fit; 0 if none do.
    """

    def __init__(self, n_components: int, needed: int, bound: int, largest: int):
        super().__init__(n_components, needed, bound, largest)
        self.n_components, self.needed, self.bound, self.largest = n_components, needed, bound, largest

    def __str__(self) -> str:
        return f"n_components={self.n_components} {self.complaint}"

    @property
    def complaint(self) -> str:
        """The sentence without its subject, the number of features."""
        advice = f"at most {self.largest} fit" if self.largest else "not even one fits"
        return (
            f"needs about {self.needed / 1e9:.1f} GB of memory, but the bound is {self.bound / 1e9:.2g} GB: {advice}."
        )


def memory_budget(n_bytes: int, n_components: int, row_bytes: int, is_automatic: bool) -> Budget:
    """Return the rows of a block and the classes that fit in a bound, and whether the Gram matrix must be packed.

    Parameters
    ----------
    n_bytes : int
        The bound.
    n_components : int
        Width of the features.
    row_bytes : int
        Size of a row.
    is_automatic : bool
        Whether kernel or metric are chosen automatically.

    Raises
    ------
    TooWideError
        If not even a packed Gram matrix fits.
    """
    left = n_bytes - _needed(n_components, BYTES_PER_CELL, row_bytes, is_automatic)
    is_packed = left < 0
    if is_packed:

        def needed(width: int) -> int:
            return _needed(width, _BYTES_PER_PACKED_CELL, row_bytes, is_automatic)

        left = n_bytes - needed(n_components)
        if left < 0:
            largest = bisect_right(range(1, n_components), n_bytes, key=needed)
            raise TooWideError(n_components, n_bytes - left, n_bytes, largest)
    batch_rows = _SMALLEST_BLOCK + left // (2 * _COPIES_OF_BLOCK * row_bytes)
    # A class takes a column beside the Gram matrix, and a column of outputs of a block and of the held-out rows.
    per_class = 8 * (n_components + 2 * _LARGEST_BLOCK + 2 * HELD_OUT_ROWS)
    return Budget(n_bytes, min(batch_rows, _LARGEST_BLOCK), max(2, left // 2 // per_class), is_packed)


def _needed(width: int, cell: int, row_bytes: int, is_automatic: bool) -> int:
    """Return the bytes that a run needs with the smallest blocks."""
    fold = 4 * _COPIES_OF_FOLD * HELD_OUT_ROWS // _FOLDS * width
    rows = row_bytes * (_COPIES_OF_ROWS * (SETTLE_ROWS + HELD_OUT_ROWS) + _COPIES_OF_BLOCK * _SMALLEST_BLOCK)
    trials = max(_KERNEL_MATRICES, 4 * _COPIES_OF_TRIAL * SETTLE_ROWS * min(width, _WIDEST_TRIAL))
    return _FIXED + rows + is_automatic * trials + fold + cell * width**2
