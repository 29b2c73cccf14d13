"""The held-out sample: rows kept in raw form, to choose alpha in the same pass.

The rows with the smallest content hashes are kept (bottom-k). Which they are depends on
the set of rows alone, not on their order or on how they were cut into blocks, and two samples add up to
the sample of both. At the end each fold of the sample is taken out of the statistic, so every row of
it is truly left out when it is scored.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from craftmaps._rows.sampling import row_hashes


class Sample(NamedTuple):
    """Different rows in the order of their hashes, with targets, weights and multiplicities.

    Equal rows with equal targets are one entry: `count` says how often it was seen, and `weight` is the sum of
    the weights of all copies.
    """

    hashes: NDArray[np.uint64]
    X: Any
    y: NDArray
    weight: NDArray[np.float64]
    count: NDArray[np.int64]


class RowCounts(NamedTuple):
    """How often rows occur, by their hashes in ascending order."""

    hashes: NDArray[np.uint64]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, hashes: NDArray[np.uint64]) -> Self:
        """Count equal hashes."""
        return cls(*np.unique(hashes, return_counts=True))

    def look_up(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return how often each of some rows occurs."""
        if not self.hashes.size:
            return np.zeros(hashes.size, np.int64)
        place = np.minimum(np.searchsorted(self.hashes, hashes), self.hashes.size - 1)
        return np.where(self.hashes[place] == hashes, self.count[place], 0)

    def equals(self, other: "RowCounts") -> bool:
        """Tell whether the same rows occur as often."""
        return all(map(np.array_equal, self, other))


NO_ROWS = RowCounts(np.empty(0, np.uint64), np.empty(0, np.int64))


class Holdout:
    """At most `size` different rows with their targets, weights and multiplicities.

    Parameters
    ----------
    size, seed : int
    spent : RowCounts
        Rows whose labels were looked at before the pass, to choose a kernel or to fit a metric. A score on them
        would flatter, so of equal rows only the copies beyond those are held out.
    """

    def __init__(self, size: int, seed: int, sample: Sample | None = None, spent: RowCounts = NO_ROWS):
        self.size = size
        self.seed = seed
        self.spent = spent
        # Rows that may belong to the sample: sorting them in at every block would cost too much.
        self._candidates: list[Sample] = []
        self._keep(sample)

    @property
    def sample(self) -> Sample | None:
        """The rows with the smallest hashes, or None if no row was seen."""
        if self._candidates:
            parts = [part for part in (self._sample, *self._candidates) if part is not None]
            self._candidates = []
            self._keep(self._joined(parts))
        return self._sample

    @property
    def free(self) -> NDArray[np.int64]:
        """How many copies of each entry of the sample can be held out: those that nothing has looked at."""
        sample = self.sample
        return np.empty(0, np.int64) if sample is None else self._free(sample)

    @property
    def n_rows(self) -> int:
        """The number of rows that can be held out, copies counted."""
        return int(self.free.sum())

    def __len__(self) -> int:
        """Return the number of different rows that can be held out."""
        return int(np.count_nonzero(self.free))

    def hashes(self, X: Any, target_bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Hash rows together with their targets."""
        return row_hashes(X, self.seed) ^ target_bits

    def add(self, X: Any, y: NDArray, target_bits: NDArray[np.uint64], weight: NDArray[np.float64] | None) -> None:
        """Add rows in place; `target_bits` is a hash of each row's target."""
        hashes = self.hashes(X, target_bits)
        # Most rows of a long stream are out at once; the others are few.
        low = np.arange(hashes.size) if self._threshold is None else np.flatnonzero(hashes <= self._threshold)
        if not low.size:
            return
        weight = np.ones(low.size) if weight is None else weight[low]
        self._candidates.append(Sample(hashes[low], X[low], y[low], weight, np.ones(low.size, np.int64)))
        if sum(part.hashes.size for part in self._candidates) > 2 * self.size:
            _ = self.sample

    def merged(self, other: "Holdout") -> "Holdout":
        """Return the sample of the rows of both."""
        self.refuse_difference(other)
        if not self.spent.equals(other.spent):
            raise ValueError("Samples can be merged if choices were made by the same rows, or by none.")
        parts = [part.sample for part in (self, other) if part.sample is not None]
        return Holdout(self.size, self.seed, self._joined(parts) if parts else None, self.spent)

    def sparing(self, X: Any, target_bits: NDArray[np.uint64]) -> "Holdout":
        """Return an empty sample that will not hold out these rows."""
        return Holdout(self.size, self.seed, spent=RowCounts.of(self.hashes(X, target_bits)))

    def emptied(self) -> "Holdout":
        """Return a sample of the same kind without rows."""
        return Holdout(self.size, self.seed, spent=self.spent)

    def refuse_difference(self, other: "Holdout") -> None:
        """Refuse a sample that cannot be merged with this one."""
        if (self.size, self.seed) != (other.size, other.seed):
            raise ValueError(
                f"Samples must have the same size and seed to be merged, got {self.size}, {self.seed} "
                f"and {other.size}, {other.seed}."
            )

    def folds(self, n_folds: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return the entries of each fold, and how many of their copies belong to it.

        Copies are numbered through, and every n-th one belongs to a fold: equal rows are spread over the folds, as a
        random split would spread them. Leaving them all out together would leave only rows of other labels.
        """
        free = self.free
        ends = np.cumsum(free)
        folds = []
        for fold in range(n_folds):
            count = _n_multiples(ends - fold, n_folds) - _n_multiples(ends - free - fold, n_folds)
            entries = np.flatnonzero(count)
            folds.append((entries, count[entries]))
        return folds

    def n_effective(self, n_seen: int) -> float:
        """Return the number of independent rows, of equal weight, that a mean over the sample is worth.

        Where the sample has all rows, copies are rows like others. Where it is a sample of different
        rows, all copies of a row come in together and are worth one.
        """
        sample, free = self.sample, self.free
        if sample is None or not free.any():
            return 0.0
        held = free > 0
        free, weight = free[held], sample.weight[held] * free[held] / sample.count[held]
        share = min(1.0, free.sum() / max(1, n_seen - int(self.spent.count.sum())))
        of_rows, of_entries = (weight**2 / free).sum(), (weight**2).sum()
        return float(weight.sum() ** 2 / (share * of_rows + (1 - share) * of_entries))

    def _keep(self, sample: Sample | None) -> None:
        """Take over a sample, and the hash above which no row can belong to it any more."""
        self._sample, self._threshold = sample, None
        if sample is not None and np.count_nonzero(self._free(sample)) == self.size:
            self._threshold = sample.hashes[-1]

    def _free(self, sample: Sample) -> NDArray[np.int64]:
        """Return how many copies of each entry nothing has looked at."""
        return np.maximum(sample.count - self.spent.look_up(sample.hashes), 0)

    def _joined(self, parts: list[Sample]) -> Sample:
        """Join entries, add up equal ones, and keep those with the smallest hashes.

        Entries without a free copy are kept besides, since another copy may come; they do not count.
        """
        both = np.concatenate([part.hashes for part in parts])
        unique, first, group = np.unique(both, return_index=True, return_inverse=True)
        weight = np.bincount(group, np.concatenate([part.weight for part in parts])).astype(np.float64)
        count = np.bincount(group, np.concatenate([part.count for part in parts])).astype(np.int64)
        free = np.flatnonzero(count > self.spent.look_up(unique))
        n_kept = unique.size if free.size < self.size else int(free[self.size - 1]) + 1
        X = parts[0].X if len(parts) == 1 else stack_rows([part.X for part in parts])
        y = np.concatenate([part.y for part in parts])
        kept = first[:n_kept]
        return Sample(unique[:n_kept], X[kept], y[kept], weight[:n_kept], count[:n_kept])


def _n_multiples(ends: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """Count the multiples of a step in [0, end)."""
    return -(-ends // step)


def stack_rows(rows: list[Any]) -> Any:
    """Put rows on top of each other, dense or CSR."""
    return vstack(rows, format="csr") if any(issparse(part) for part in rows) else np.concatenate(rows)
