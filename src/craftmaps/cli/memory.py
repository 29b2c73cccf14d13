"""How much memory there is, how much a run takes, and how to stay within a bound."""

import os
import sys
from bisect import bisect_right
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

# Measured: interpreter, libraries and compiled loops, and the features of a block with their copies.
_FIXED = 500_000_000
# Of the E x E Gram matrix while alpha is chosen: the statistic, that of a fold, their float32 products, a factor.
_BYTES_PER_CELL = 28
# The same where the statistic is one triangle in float32: that and a factor.
_BYTES_PER_PACKED_CELL = 4
# Rows that metrics and choices are settled on, and those held out; each with copies.
_FIRST_ROWS, _HOLDOUT_ROWS, _FOLDS = 12_288, 10_000, 5
_COPIES_OF_ROWS = 3
# Features of the rows of a fold.
_COPIES_OF_FOLD = 6
# Copies of a block of rows: two read ahead, one in work, one being made, and Arrow's own.
_COPIES_OF_BLOCK = 5
# Features of candidates while choices are made, with their copies, of at most this width.
_WIDEST_TRIAL, _COPIES_OF_TRIAL = 2048, 8
# Or the kernel machines of two gradient metrics, which are fitted side by side; those of choices take less than trials.
_MACHINES = 2 * 4 * 6144**2
_FEWEST_ROWS, _MOST_ROWS = 256, 8192


class Budget(NamedTuple):
    """What fits in a bound of memory."""

    n_bytes: int
    batch_rows: int
    most_classes: int
    is_packed: bool


def budget(n_bytes: int, n_components: int, row_bytes: int, is_automatic: bool) -> Budget:
    """Return how many rows to read at a time, how many classes fit, and whether the statistic must be packed for that.

    What does not fit at all is refused.

    Parameters
    ----------
    n_bytes : int
        The bound.
    n_components : int
        Width of the features.
    row_bytes : int
        Size of a row.
    is_automatic : bool
        Whether kernel or metric are to be chosen.
    """

    def needed(width: int, cell: int = _BYTES_PER_PACKED_CELL) -> int:
        fold = 4 * _COPIES_OF_FOLD * _HOLDOUT_ROWS // _FOLDS * width
        rows = row_bytes * (_COPIES_OF_ROWS * (_FIRST_ROWS + _HOLDOUT_ROWS) + _COPIES_OF_BLOCK * _FEWEST_ROWS)
        trials = max(_MACHINES, 4 * _COPIES_OF_TRIAL * _FIRST_ROWS * min(width, _WIDEST_TRIAL))
        return _FIXED + rows + is_automatic * trials + fold + cell * width**2

    left = n_bytes - needed(n_components, _BYTES_PER_CELL)
    is_packed = left < 0
    if is_packed:
        left = n_bytes - needed(n_components)
    if left < 0:
        largest = bisect_right(range(1, n_components), n_bytes, key=needed)
        advice = f"at most {largest} fit" if largest else "not even one fits"
        raise ValueError(
            f"--components {n_components} needs about {(n_bytes - left) / 1e9:.1f} GB of memory, "
            f"but the bound is {n_bytes / 1e9:.2g} GB: {advice}."
        )
    rows = _FEWEST_ROWS + left // (2 * _COPIES_OF_BLOCK * row_bytes)
    # A class takes a column beside the Gram matrix, and one of outputs for the rows at hand and those held out.
    per_class = 8 * (n_components + 2 * _MOST_ROWS + 2 * _HOLDOUT_ROWS)
    return Budget(n_bytes, min(rows, _MOST_ROWS), max(2, left // 2 // per_class), is_packed)


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
    with suppress(OSError):  # Linux; its `getrusage` also counts what the program that started this one had used
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
