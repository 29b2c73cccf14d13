"""Rows that can be looked at again after the pass, through the features of a tally: at hand, or on a worker."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.memory import available_memory
from craftmaps._system.threads import cut
from craftmaps.learners.tally import Tally
from craftmaps.least_squares.row_looks import Look, RowBlocks, RowSource, WeightedRows
from craftmaps.least_squares.stored_features import Features, StoredFeatures
from craftmaps.maps.feature_map import FeatureMap

MEMORY_SHARE = 0.3  # of what is free, for features that are kept between looks
_BLOCK_ROWS = 1024
_LEAST_STORED = 512  # features: products of fewer are quick


class RowsAgain(Protocol):
    """All rows of a tally, wherever they are."""

    def through(self, tally: Tally) -> RowSource:
        """Return the features, targets and weights that the rows have in a tally, to be looked at."""
        ...


@dataclass(frozen=True, eq=False)
class RowsAtHand:
    """Validated rows in memory.

    Parameters
    ----------
    X : ndarray or CSR matrix
    y : ndarray
    weight : ndarray or None
    memory : float, optional
        Bytes that the features of all rows may take to be kept between looks, by default a share of what is free.
        Those that take more are mapped at every look.
    """

    X: Any
    y: NDArray
    weight: NDArray[np.float64] | None
    memory: float | None = None

    def through(self, tally: Tally) -> RowBlocks:
        """Return blocks of rows, whose features are kept if they fit the memory."""
        memory = MEMORY_SHARE * (available_memory() or np.inf) if self.memory is None else self.memory
        if feature_bytes(tally, self.X.shape[0], self.X.dtype) <= memory:
            return self.mapped(tally).in_blocks()
        encoded, weight = tally.targets.encoded, self._weights(tally)

        def mapped(part: slice) -> WeightedRows:
            return WeightedRows(tally.features(self.X[part]), encoded(self.y[part]), weight[part])

        return RowBlocks([partial(mapped, part) for part in cut(self.X.shape[0], _BLOCK_ROWS)])

    def mapped(self, tally: Tally) -> WeightedRows:
        """Return all rows with their features."""
        return WeightedRows(kept_features(tally, self.X), tally.targets.encoded(self.y), self._weights(tally))

    def _weights(self, tally: Tally) -> NDArray[np.float64]:
        """Return the weights of rows, times those of their classes."""
        weight = np.ones(self.X.shape[0]) if self.weight is None else self.weight
        return np.asarray(tally.targets.weighted(self.y, weight))


def kept_features(tally: Tally, X: Any) -> Features:
    """Return the features of rows that are looked at again: in 16 bits where that is quicker and precise enough."""
    width = tally.statistic.cross.shape[0]
    if _are_stored(tally):
        return StoredFeatures.of(tally.features, X, width)
    Z = np.empty((X.shape[0], width), X.dtype)
    for part in cut(X.shape[0], 4 * _BLOCK_ROWS):
        Z[part] = tally.features(X[part])
    return Z


def feature_bytes(tally: Tally, n_rows: int, dtype: np.dtype) -> int:
    """Return the bytes of the kept features of so many rows of a precision."""
    itemsize = 2 if _are_stored(tally) else dtype.itemsize
    return itemsize * n_rows * tally.statistic.cross.shape[0]


def _are_stored(tally: Tally) -> bool:
    """Tell whether features are kept in 16 bits: those of a map are alike in size, columns of rows may not be."""
    features, width = tally.features, tally.statistic.cross.shape[0]
    is_of_map = isinstance(features.feature_map, FeatureMap) and features.linear is None
    return is_of_map and width >= _LEAST_STORED


def look_at(mapped: WeightedRows | None, look: Look) -> Any:
    """Return what rows whose features were kept come to; None if there are none."""
    return None if mapped is None else mapped.in_blocks().added_up(look)
