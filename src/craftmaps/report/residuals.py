"""Predictions against targets and the distribution of the errors, from rows that come block by block."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.report.symmetric_histogram import SymmetricHistogram

_MOST_TARGETS = 4
_MOST_POINTS = 800


class Residuals:
    """Some points (target, prediction) and a histogram of the residuals, for each of the first four targets."""

    def __init__(self) -> None:
        self._points: list[NDArray[np.float64]] = []
        self._histograms: list[SymmetricHistogram] = []
        self._n_rows, self._stride = 0, 1

    def add(self, X: Any, y: NDArray, predicted: NDArray) -> None:
        """Add test rows with their targets and predictions."""
        y, predicted = (np.asarray(values, dtype=np.float64).reshape(len(y), -1) for values in (y, predicted))
        pairs = np.stack([y, predicted], axis=2)[:, :_MOST_TARGETS]
        if not self._histograms:
            self._histograms = [SymmetricHistogram() for _ in range(pairs.shape[1])]
        for histogram, (target, prediction) in zip(self._histograms, pairs.transpose(1, 2, 0), strict=True):
            histogram.add(prediction - target)
        self._sample(pairs)

    def to_plain(self, names: list[str]) -> list[dict[str, Any]]:
        """Return the points and the histogram of each target; names of columns are not needed."""
        points = np.concatenate(self._points)
        found = []
        for i, histogram in enumerate(self._histograms):
            counts, edges = histogram.table()
            found.append({"points": points[:, i], "residuals": {"counts": counts, "edges": edges}})
        return found

    def _sample(self, pairs: NDArray[np.float64]) -> None:
        """Keep every n-th row; double n when too many rows are kept."""
        self._points.append(pairs[-self._n_rows % self._stride :: self._stride])
        self._n_rows += len(pairs)
        while sum(map(len, self._points)) > _MOST_POINTS:
            self._points = [np.concatenate(self._points)[::2]]
            self._stride *= 2
