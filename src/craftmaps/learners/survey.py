"""What settling features needs to know of rows, wherever they are: a value that adds up."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.sampling import row_hashes
from craftmaps.learners.held_out import stack_rows
from craftmaps.learners.tally import RowLayout
from craftmaps.learners.targets import Targets

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: multiples of it spread evenly


class Entries(NamedTuple):
    """Different pairs of row and target, sorted by their hashes, how often each occurs and what all copies weigh."""

    hashes: NDArray[np.uint64]
    target_hashes: NDArray[np.uint64]
    X: Any
    y: NDArray
    count: NDArray[np.int64]
    weight: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Survey:
    """How many rows there are, their labels, and the rows with the smallest content hashes.

    The survey of rows in several places is the sum of their surveys, whatever the places and the order of rows.

    Parameters
    ----------
    layout : RowLayout
    targets : Targets
        With room for the labels of all rows.
    size : int
        The number of different rows that are kept.
    seed : int
    n_rows : int
        The number of all rows.
    entries : Entries
    """

    layout: RowLayout
    targets: Targets
    size: int
    seed: int
    n_rows: int
    entries: Entries

    @classmethod
    def of(
        cls,
        X: Any,
        y: NDArray,
        layout: RowLayout,
        targets: Targets,
        size: int,
        seed: int,
        weight: NDArray[np.float64] | None = None,
    ) -> "Survey":
        """Survey rows with targets that there is room for, and perhaps weights."""
        hashes = row_hashes(X, seed)
        low = np.flatnonzero(hashes <= _largest(hashes, size))
        low_y, low_weight = y[low], np.ones(low.size) if weight is None else weight[low]
        entries = Entries(hashes[low], targets.hashes(low_y), X[low], low_y, np.ones(low.size, np.int64), low_weight)
        return cls(layout, targets, size, seed, X.shape[0], _grouped(entries, size))

    def __add__(self, other: "Survey") -> "Survey":
        difference = self.layout.difference(other.layout)
        if difference:
            raise ValueError(f"Rows of all parts must have the same {difference.replace(', ', ', got ', 1)}.")
        mine, theirs = self.entries, other.entries
        both = Entries(
            np.concatenate([mine.hashes, theirs.hashes]),
            np.concatenate([mine.target_hashes, theirs.target_hashes]),
            stack_rows([mine.X, theirs.X]),
            np.concatenate([mine.y, theirs.y]),
            np.concatenate([mine.count, theirs.count]),
            np.concatenate([mine.weight, theirs.weight]),
        )
        entries = _grouped(both, self.size)
        targets = self.targets.joined(other.targets)
        return Survey(self.layout, targets, self.size, self.seed, self.n_rows + other.n_rows, entries)

    def different_rows(self, size: int) -> Any:
        """Return the different rows with the smallest hashes, smallest first."""
        _, first = np.unique(self.entries.hashes, return_index=True)
        return self.entries.X[first[:size]]

    def rows_with_copies(self, size: int) -> tuple[Any, NDArray, NDArray[np.float64]]:
        """Return a sample of rows, targets and weights, in random order; equal rows come as often as among all rows.

        The rows with the smallest hashes are taken, and of each its share of copies.
        """
        hashes, count = self.entries.hashes, self.entries.count
        _, first = np.unique(hashes, return_index=True)
        n_entries = first[size] if size < first.size else hashes.size
        ends = np.cumsum(count[:n_entries])
        n_candidates = int(ends[-1]) if ends.size else 0
        size = min(size, n_candidates)
        # Evenly spaced among all copies, so that every row, and every target of it, has its share.
        numbers = -(-np.arange(1, size + 1) * n_candidates // max(size, 1)) - 1
        taken = np.searchsorted(ends, numbers, side="right")
        # Different rows are in a random order; further copies are spread over it.
        copy = np.arange(size) - np.searchsorted(hashes[taken], hashes[taken])
        with np.errstate(over="ignore"):
            keys = hashes[taken] + copy.astype(np.uint64) * _GOLDEN
        taken = taken[np.argsort(keys, kind="stable")]
        weight = self.entries.weight[taken] / count[taken]
        return self.entries.X[taken], self.entries.y[taken], weight


def _largest(hashes: NDArray[np.uint64], size: int) -> np.uint64:
    """Return the largest of the `size` smallest different hashes."""
    different = np.unique(hashes)
    return different[min(size, different.size) - 1] if different.size else np.uint64(0)


def _grouped(entries: Entries, size: int) -> Entries:
    """Sort entries, add up equal ones, and keep those of the `size` smallest different rows."""
    order = np.lexsort((entries.target_hashes, entries.hashes))
    hashes, ties = entries.hashes[order], entries.target_hashes[order]
    is_new = np.ones(order.size, bool)
    is_new[1:] = (hashes[1:] != hashes[:-1]) | (ties[1:] != ties[:-1])
    starts = np.flatnonzero(is_new)
    kept = starts[hashes[starts] <= _largest(hashes, size)]
    count, weight = entries.count, entries.weight
    if starts.size:
        count = np.add.reduceat(count[order], starts)[: kept.size]
        weight = np.add.reduceat(weight[order], starts)[: kept.size]
    rows = order[kept]
    return Entries(hashes[kept], ties[kept], entries.X[rows], entries.y[rows], count, weight)


def first_copies(keys: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return positions among others at which keys stand; of equal ones the first, as many as there are keys."""
    different, count = np.unique(keys, return_counts=True)
    if not different.size:
        return np.empty(0, np.int64)
    order = np.argsort(others, kind="stable")
    others = others[order]
    place = np.minimum(np.searchsorted(different, others), different.size - 1)
    copy = np.arange(others.size) - np.searchsorted(others, others)
    return np.sort(order[(different[place] == others) & (copy < count[place])])
