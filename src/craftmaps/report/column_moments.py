"""Means and standard deviations of columns, from rows that come block by block."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

_ROWS = 1024  # at a time, to bound the memory of differences in double precision


class ColumnMoments:
    """Mean and standard deviation of every column, and the smallest value of all.

    Blocks are merged by the formula of Chan, Golub and LeVeque, which does not cancel.
    """

    def __init__(self) -> None:
        self.lowest = np.inf
        self.mean: Any = 0.0
        self._n_rows = 0
        self._squares: Any = 0.0

    def add(self, X: Any) -> None:
        """Add rows, dense or CSR."""
        for start in range(0, X.shape[0], _ROWS):
            self._add(X[start : start + _ROWS])

    @property
    def deviation(self) -> NDArray[np.float64]:
        """The standard deviation of every column."""
        return np.sqrt(self._squares / self._n_rows)

    def _add(self, X: Any) -> None:
        """Add some rows."""
        n_rows = X.shape[0]
        self.lowest = min(self.lowest, float(X.min()))
        with np.errstate(over="ignore", invalid="ignore"):
            if issparse(X):
                mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / n_rows
                squares = np.asarray(X.astype(np.float64).power(2).sum(axis=0)).ravel() - n_rows * mean**2
                squares = np.maximum(squares, 0.0)
            else:
                mean = X.mean(axis=0, dtype=np.float64)
                squares = np.square(X - mean).sum(axis=0)
            total, step = self._n_rows + n_rows, mean - self.mean
            self.mean = self.mean + step * (n_rows / total)
            self._squares = self._squares + squares + step**2 * (self._n_rows * n_rows / total)
        self._n_rows = total
