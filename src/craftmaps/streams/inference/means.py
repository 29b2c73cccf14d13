"""Means of columns, which replace missing numbers."""

import numpy as np
from numpy.typing import NDArray


class Means:
    """Running means of the columns of a matrix that comes in batches; missing and infinite values are left out."""

    def __init__(self, width: int):
        self._sums = np.zeros(width)
        self._counts = np.zeros(width, np.int64)
        self.n_missing = 0

    def add(self, rows: NDArray) -> None:
        """Add a batch of rows."""
        # Contiguous columns: a sum has the same bits whether its column comes alone or in a matrix.
        values = np.array(rows.T, dtype=np.float64, order="C")
        if not np.isfinite(values).all():
            self.n_missing += int(np.isnan(values).sum())
            self._counts -= (~np.isfinite(values)).sum(axis=1)
            values[~np.isfinite(values)] = 0
        self._counts += values.shape[1]
        with np.errstate(over="ignore"):
            self._sums += values.sum(axis=1)

    @property
    def n_seen(self) -> int:
        """Number of values in the means."""
        return int(self._counts.sum())

    @property
    def fill(self) -> tuple[float, ...]:
        """The means; 0 for a column without values."""
        return tuple(np.nan_to_num(self._sums / np.maximum(self._counts, 1)).tolist())
