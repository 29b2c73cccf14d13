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


class HeldOutFold(NamedTuple):
    """Rows that are left out together, with targets, weights and how many copies of each row there are."""

    X: Any
    y: NDArray
    weight: NDArray[np.float64]  # of all copies together
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


ALL_ROWS = 2**64 - 1
NO_ROWS = RowCounts(np.empty(0, np.uint64), np.empty(0, np.int64))


class HeldOut:
    """All rows whose hashes are at most theta, with their targets, weights and multiplicities.

    Theta is lowered until at most `size` different rows are left. It is kept with the rows, as in the theta sketches of
    Apache DataSketches: the sample of two sets of rows, or of one without the other, then follows from their samples.

    Parameters
    ----------
    size, seed : int
    spent : RowCounts
        Rows whose labels were looked at before the pass, to choose a kernel or to fit a metric. A score on them
        would flatter, so of equal rows only the copies beyond those are held out.
    sample : Sample, optional
    theta : int
    """

    def __init__(
        self, size: int, seed: int, spent: RowCounts = NO_ROWS, sample: Sample | None = None, theta: int = ALL_ROWS
    ):
        self.size = size
        self.seed = seed
        self.spent = spent
        self._sample, self._theta = sample, theta
        # Rows that may belong to the sample: sorting them in at every block would cost too much.
        self._candidates: list[Sample] = []

    @property
    def sample(self) -> Sample | None:
        """The rows with the smallest hashes, or None if no row was seen."""
        if self._candidates:
            parts = [part for part in (self._sample, *self._candidates) if part is not None]
            self._candidates = []
            self._sample, self._theta = self._cut(_joined(parts), self._theta)
        return self._sample

    @property
    def theta(self) -> int:
        """The largest hash that a row of the sample may have."""
        _ = self.sample
        return self._theta

    @property
    def free(self) -> NDArray[np.int64]:
        """How many copies of each entry can be held out: copies whose labels nothing has looked at."""
        sample = self.sample
        return np.empty(0, np.int64) if sample is None else self._free(sample)

    @property
    def n_rows(self) -> int:
        """The number of rows that can be held out, copies counted."""
        return int(self.free.sum())

    def __len__(self) -> int:
        """Return the number of different rows that can be held out."""
        return int(np.count_nonzero(self.free))

    def hashes(self, X: Any, target_hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Hash rows together with their targets."""
        return row_hashes(X, self.seed) ^ target_hashes

    def add(self, X: Any, y: NDArray, target_hashes: NDArray[np.uint64], weight: NDArray[np.float64] | None) -> None:
        """Add rows in place."""
        hashes = self.hashes(X, target_hashes)
        low = np.flatnonzero(hashes <= np.uint64(self._bound(hashes)))  # most rows of a long stream are out at once
        if not low.size:
            return
        weight = np.ones(low.size) if weight is None else weight[low]
        self._candidates.append(Sample(hashes[low], X[low], y[low], weight, np.ones(low.size, np.int64)))
        if sum(part.hashes.size for part in self._candidates) > 2 * self.size:
            _ = self.sample

    def __add__(self, other: "HeldOut") -> "HeldOut":
        self.refuse_unlike(other)
        parts = [part.sample for part in (self, other) if part.sample is not None]
        theta = min(self.theta, other.theta)
        if not parts:
            return self.emptied()
        return HeldOut(self.size, self.seed, self.spent, *self._cut(_joined(parts), theta))

    def __sub__(self, other: "HeldOut") -> "HeldOut":
        self.refuse_unlike(other)
        mine, theirs, theta = self.sample, other.sample, min(self.theta, other.theta)
        if mine is not None and theirs is not None:
            mine = _without(_up_to(mine, theta), _up_to(theirs, theta))
        return HeldOut(self.size, self.seed, self.spent, mine, theta)

    def __mul__(self, factor: float) -> "HeldOut":
        sample = self.sample
        scaled = None if sample is None else sample._replace(weight=sample.weight * factor)
        return HeldOut(self.size, self.seed, self.spent, scaled, self.theta)

    def sparing(self, X: Any, target_hashes: NDArray[np.uint64]) -> "HeldOut":
        """Return an empty sample that will not hold out these rows."""
        return HeldOut(self.size, self.seed, RowCounts.of(self.hashes(X, target_hashes)))

    def copy(self) -> "HeldOut":
        """Return a sample that can be added to on its own: samples are never changed in place, only replaced."""
        return HeldOut(self.size, self.seed, self.spent, self.sample, self.theta)

    def emptied(self) -> "HeldOut":
        """Return a sample of the same kind without rows."""
        return HeldOut(self.size, self.seed, self.spent)

    def refuse_unlike(self, other: "HeldOut") -> None:
        """Refuse a sample of another size or seed, or one that spares other rows."""
        if (self.size, self.seed) != (other.size, other.seed):
            raise ValueError(
                f"Samples must have the same size and seed to be merged, got {self.size}, {self.seed} "
                f"and {other.size}, {other.seed}."
            )
        if not self.spent.equals(other.spent):
            raise ValueError("Samples can be merged if choices were made by the same rows, or by none.")

    def folds(self, n_folds: int) -> list[HeldOutFold]:
        """Cut the sample into folds, at most as many as there are rows."""
        return [self.fold(entries, count) for entries, count in self.deal(min(n_folds, self.n_rows))]

    def fold(self, entries: NDArray[np.int64], count: NDArray[np.int64]) -> HeldOutFold:
        """Return so many copies of some entries."""
        sample = self.sample
        assert sample is not None
        weight = sample.weight[entries] / sample.count[entries] * count
        return HeldOutFold(sample.X[entries], sample.y[entries], weight, count)

    @property
    def spent_entries(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The entries with copies whose labels were looked at, and how many copies these are."""
        sample = self.sample
        spent = np.empty(0, np.int64) if sample is None else sample.count - self._free(sample)
        entries = np.flatnonzero(spent)
        return entries, spent[entries]

    def deal(self, n_folds: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return the entries of each fold, and how many of their copies belong to it.

        Copies are numbered through, and every n-th one belongs to a fold: equal rows are spread over the folds, as a
        random split would spread them. Leaving them all out together would leave only rows of other labels.
        """
        free = self.free
        ends = np.cumsum(free)
        dealt = []
        for fold in range(n_folds):
            count = _n_multiples(ends - fold, n_folds) - _n_multiples(ends - free - fold, n_folds)
            entries = np.flatnonzero(count)
            dealt.append((entries, count[entries]))
        return dealt

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

    def _bound(self, hashes: NDArray[np.uint64]) -> int:
        """Return what theta will be at most once rows are added: what is above it need not be copied.

        Of as many entries as the sample and the spent rows have together, the sample can be filled.
        """
        n_entries = self.size + self.spent.hashes.size
        different = np.unique(hashes) if hashes.size > n_entries else hashes
        return min(self._theta, int(different[n_entries - 1])) if different.size > n_entries else self._theta

    def _free(self, sample: Sample) -> NDArray[np.int64]:
        """Return how many copies of each entry nothing has looked at."""
        return np.maximum(sample.count - self.spent.look_up(sample.hashes), 0)

    def _cut(self, sample: Sample, theta: int) -> tuple[Sample, int]:
        """Lower theta until at most `size` entries have free copies; return what is left, and theta.

        Entries without a free copy are kept besides, since another copy may come; they do not count.
        """
        sample = _up_to(sample, theta)
        free = np.flatnonzero(self._free(sample))
        if free.size >= self.size:
            theta = int(sample.hashes[free[self.size - 1]])
        return _up_to(sample, theta), theta


def _joined(parts: list[Sample]) -> Sample:
    """Join entries and add up equal ones."""
    hashes, first, group = np.unique(
        np.concatenate([part.hashes for part in parts]), return_index=True, return_inverse=True
    )
    weight = np.bincount(group, np.concatenate([part.weight for part in parts])).astype(np.float64)
    count = np.bincount(group, np.concatenate([part.count for part in parts])).astype(np.int64)
    X = parts[0].X if len(parts) == 1 else stack_rows([part.X for part in parts])
    y = np.concatenate([part.y for part in parts])
    return Sample(hashes, X[first], y[first], weight, count)


def _up_to(sample: Sample, theta: int) -> Sample:
    """Return the entries whose hashes are at most theta."""
    n_kept = np.searchsorted(sample.hashes, np.uint64(theta), side="right")
    return sample if n_kept == sample.hashes.size else _taken(sample, slice(int(n_kept)))


def _without(sample: Sample, other: Sample) -> Sample:
    """Take the copies of one sample out of another."""
    place = np.searchsorted(sample.hashes, other.hashes)
    is_there = place < sample.hashes.size
    is_there[is_there] = sample.hashes[place[is_there]] == other.hashes[is_there]
    if not is_there.all() or (sample.count[place] < other.count).any():
        raise ValueError("Rows can be taken out of those that were added only: some were not.")
    count, weight = sample.count.copy(), sample.weight.copy()
    count[place] -= other.count
    weight[place] -= other.weight
    return _taken(sample._replace(weight=weight, count=count), np.flatnonzero(count))


def _taken(sample: Sample, rows: NDArray[np.int64] | slice) -> Sample:
    """Return some entries of a sample."""
    return Sample(sample.hashes[rows], sample.X[rows], sample.y[rows], sample.weight[rows], sample.count[rows])


def _n_multiples(ends: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """Count the multiples of a step in [0, end)."""
    return -(-ends // step)


def stack_rows(rows: list[Any]) -> Any:
    """Put rows on top of each other, dense or CSR."""
    return vstack(rows, format="csr") if any(issparse(part) for part in rows) else np.concatenate(rows)
