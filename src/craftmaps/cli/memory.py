"""How much memory there is, how much a run takes, and how to stay within a bound."""

import math
import os
import sys
from pathlib import Path
from typing import NamedTuple

# Interpreter, libraries and compiled loops, and the features of a block with their copies.
_FIXED = 450_000_000
# Copies of the E x E Gram matrix while alpha is chosen: the statistic, that of a fold, their
# float32 products, and a factor.
_BYTES_PER_CELL = 36
_FIRST_ROWS = 8192
_HOLDOUT_ROWS = 10_000
# Copies of a block of raw rows: two read ahead, one in work, one being made, and Arrow's own.
_COPIES_OF_BLOCK = 5
_FEWEST_ROWS, _MOST_ROWS = 256, 8192


class Budget(NamedTuple):
    """What fits in a bound of memory."""

    n_bytes: int
    batch_rows: int
    most_classes: int


def budget(n_bytes: int, n_components: int, n_columns: int, stored: float) -> Budget:
    """Return how many rows to read at a time and how many classes fit; refuse what does not fit at all.

    Parameters
    ----------
    n_bytes : int
        The bound.
    n_components, n_columns : int
        Width of the features and of the rows.
    stored : float
        Bytes of a row.
    """
    fixed = _FIXED + stored * (2 * _FIRST_ROWS + _HOLDOUT_ROWS + _COPIES_OF_BLOCK * _FEWEST_ROWS)
    left = n_bytes - fixed - _BYTES_PER_CELL * n_components**2
    if left < 0:
        largest = math.isqrt(int((n_bytes - fixed) // _BYTES_PER_CELL)) if n_bytes > fixed else 0
        advice = f"at most {largest} fit" if largest else f"not even one does with rows of {n_columns} columns"
        raise ValueError(
            f"--components {n_components} needs about {(n_bytes - left) / 1e9:.1f} GB of memory, "
            f"but the bound is {n_bytes / 1e9:.1f} GB: {advice}."
        )
    rows = _FEWEST_ROWS + left // (2 * _COPIES_OF_BLOCK * stored)
    # A class takes a column beside the Gram matrix, and one of outputs for the rows at hand and those held out.
    per_class = 8 * (n_components + 2 * _FIRST_ROWS + 2 * _HOLDOUT_ROWS)
    return Budget(n_bytes, int(min(rows, _MOST_ROWS)), int(max(2, left // 2 // per_class)))


def total_memory() -> int:
    """Return the memory that this process may use: that of its container, or of the machine."""
    total = 2**63
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return total
    return min(total, int(limit)) if limit.isdecimal() else total


def peak_memory() -> int | None:
    """Return the most memory that this process has used so far, in bytes, where the system tells it."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
