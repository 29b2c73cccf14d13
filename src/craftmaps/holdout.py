"""The held-out sample: rows kept in raw form, to choose alpha in the same pass.

The rows with the smallest content hashes are kept (bottom-k). Which they are depends on
the set of rows alone, not on their order or on how they were cut into blocks, and two samples add up to
the sample of both. At the end each fold of the sample is taken out of the statistic, so every row of
it is truly left out when it is scored.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from craftmaps.sampling import row_hashes


class Holdout:
    """At most `size` different rows with their targets, weights and multiplicities.

    Equal rows with equal targets count as one row that was seen several times: all of them must be
    left out together. `weight` is the sum of the weights of all of them.
    """

    def __init__(self, size: int, seed: int):
        self.size = size
        self.seed = seed
        self.hashes = np.empty(0, np.uint64)
        self.X: Any = None
        self.y: NDArray = np.empty(0)
        self.weight: NDArray[np.float64] = np.empty(0)
        self.count = np.empty(0, np.int64)

    def __len__(self) -> int:
        return self.hashes.size

    def add(self, X: Any, y: NDArray, target_bits: NDArray[np.uint64], weight: NDArray[np.float64] | None) -> None:
        """Add rows in place; `target_bits` is a hash of each row's target."""
        hashes = row_hashes(X, self.seed) ^ target_bits
        if len(self) == self.size:
            # Most rows of a long stream are out at once; the others are few.
            low = np.flatnonzero(hashes <= self.hashes[-1])
            X, y, hashes = X[low], y[low], hashes[low]
            weight = None if weight is None else weight[low]
        weight = np.ones(hashes.size) if weight is None else weight
        self._take(X, y, hashes, weight, np.ones(hashes.size, np.int64))

    def merged(self, other: "Holdout") -> "Holdout":
        """Return the sample of the rows of both."""
        if (self.size, self.seed) != (other.size, other.seed):
            raise ValueError(
                f"Samples must have the same size and seed to be merged, got {self.size}, {self.seed} "
                f"and {other.size}, {other.seed}."
            )
        both = Holdout(self.size, self.seed)
        for part in (self, other):
            if len(part):
                both._take(part.X, part.y, part.hashes, part.weight, part.count)
        return both

    def folds(self, n_folds: int) -> list[NDArray[np.int64]]:
        """Return the positions of the rows of each fold."""
        return [np.arange(fold, len(self), n_folds) for fold in range(n_folds)]

    def _take(self, X: Any, y: NDArray, hashes: NDArray, weight: NDArray, count: NDArray) -> None:
        """Join rows to the sample and keep those with the smallest hashes."""
        if not hashes.size:
            return
        both = np.concatenate([self.hashes, hashes])
        unique, first, group = np.unique(both, return_index=True, return_inverse=True)
        kept = first[: self.size]
        old, new = kept[kept < len(self)], kept[kept >= len(self)] - len(self)
        # np.unique sorts by hash; `kept` follows it, and mixes old and new rows.
        order = np.argsort(np.argsort(kept, kind="stable"), kind="stable")
        rows = [
            part for part in (None if self.X is None else self.X[np.sort(old)], X[np.sort(new)]) if part is not None
        ]
        joined = rows[0] if len(rows) == 1 else stack_rows(rows)
        labels = np.concatenate([self.y[np.sort(old)], y[np.sort(new)]]) if len(self) else y[np.sort(new)]
        self.weight = np.bincount(group, np.concatenate([self.weight, weight]))[: self.size].astype(np.float64)
        self.count = np.bincount(group, np.concatenate([self.count, count]))[: self.size].astype(np.int64)
        self.hashes, self.X, self.y = unique[: self.size], joined[order], labels[order]


def stack_rows(rows: list[Any]) -> Any:
    """Put rows on top of each other, dense or CSR."""
    return vstack(rows, format="csr") if any(issparse(part) for part in rows) else np.concatenate(rows)
