"""The held-out sample: rows kept in raw form, to choose alpha in the same pass.

The rows with the smallest content hashes are kept (bottom-k). Which they are depends on
the set of rows alone, not on their order or on how they were cut into blocks, and two samples add up to
the sample of both. At the end each fold of the sample is taken out of the statistic, so every row of
it is truly left out when it is scored.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from craftmaps.sampling import row_hashes


class Sample(NamedTuple):
    """Different rows in the order of their hashes, with targets, weights and multiplicities."""

    hashes: NDArray[np.uint64]
    X: Any
    y: NDArray
    weight: NDArray[np.float64]
    count: NDArray[np.int64]


class Holdout:
    """At most `size` different rows with their targets, weights and multiplicities.

    Equal rows with equal targets count as one row that was seen several times: all of them must be
    left out together. `weight` is the sum of the weights of all of them.
    """

    def __init__(self, size: int, seed: int, sample: Sample | None = None):
        self.size = size
        self.seed = seed
        self._sample = sample
        # Rows that may belong to it: sorting them in at every block would cost too much.
        self._candidates: list[Sample] = []

    @property
    def sample(self) -> Sample | None:
        """The rows with the smallest hashes, or None if no row was seen."""
        if self._candidates:
            self._sample = _joined([part for part in (self._sample, *self._candidates) if part is not None], self.size)
            self._candidates = []
        return self._sample

    def __len__(self) -> int:
        sample = self.sample
        return 0 if sample is None else sample.hashes.size

    def add(self, X: Any, y: NDArray, target_bits: NDArray[np.uint64], weight: NDArray[np.float64] | None) -> None:
        """Add rows in place; `target_bits` is a hash of each row's target."""
        hashes = row_hashes(X, self.seed) ^ target_bits
        low = np.arange(hashes.size)
        if self._sample is not None and self._sample.hashes.size == self.size:
            # Most rows of a long stream are out at once; the others are few.
            low = np.flatnonzero(hashes <= self._sample.hashes[-1])
        if not low.size:
            return
        weight = np.ones(low.size) if weight is None else weight[low]
        self._candidates.append(Sample(hashes[low], X[low], y[low], weight, np.ones(low.size, np.int64)))
        if sum(part.hashes.size for part in self._candidates) > 2 * self.size:
            _ = self.sample

    def merged(self, other: "Holdout") -> "Holdout":
        """Return the sample of the rows of both."""
        self.refuse_difference(other)
        parts = [part.sample for part in (self, other) if part.sample is not None]
        return Holdout(self.size, self.seed, _joined(parts, self.size) if parts else None)

    def refuse_difference(self, other: "Holdout") -> None:
        """Refuse a sample that cannot be merged with this one."""
        if (self.size, self.seed) != (other.size, other.seed):
            raise ValueError(
                f"Samples must have the same size and seed to be merged, got {self.size}, {self.seed} "
                f"and {other.size}, {other.seed}."
            )

    def folds(self, n_folds: int) -> list[NDArray[np.int64]]:
        """Return the positions of the rows of each fold."""
        return [np.arange(fold, len(self), n_folds) for fold in range(n_folds)]


def _joined(parts: list[Sample], size: int) -> Sample:
    """Join rows, add up equal ones, and keep those with the smallest hashes."""
    both = np.concatenate([part.hashes for part in parts])
    unique, first, group = np.unique(both, return_index=True, return_inverse=True)
    kept = first[:size]
    weight = np.bincount(group, np.concatenate([part.weight for part in parts]))[:size].astype(np.float64)
    count = np.bincount(group, np.concatenate([part.count for part in parts]))[:size].astype(np.int64)
    X = parts[0].X if len(parts) == 1 else stack_rows([part.X for part in parts])
    y = np.concatenate([part.y for part in parts])
    return Sample(unique[:size], X[kept], y[kept], weight, count)


def stack_rows(rows: list[Any]) -> Any:
    """Put rows on top of each other, dense or CSR."""
    return vstack(rows, format="csr") if any(issparse(part) for part in rows) else np.concatenate(rows)
