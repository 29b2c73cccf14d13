"""The percentile bootstrap, for rows that come block by block."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from craftmaps.scores.intervals import LEVEL

_RESAMPLES = 1000


class Bootstrap:
    """Resamples the weighted means of some columns.

    The first rows are groups of their own, and every later row joins a group at random. Groups are resampled in place
    of rows: means spread as much, and a billion rows cost as little as two thousand.

    Parameters
    ----------
    most_groups : int, default=2000
    """

    def __init__(self, most_groups: int = 2000):
        self._most_groups = most_groups
        self._rng = np.random.default_rng(0)
        self._n_rows = 0
        self._sums: NDArray[np.float64] | None = None
        self._weights = np.zeros(most_groups)

    def add(self, columns: NDArray[np.float64], weight: NDArray[np.float64]) -> None:
        """Add rows of shape (n_rows, n_columns)."""
        if self._sums is None:
            self._sums = np.zeros((self._most_groups, columns.shape[1]))
        n_own = min(max(self._most_groups - self._n_rows, 0), weight.size)
        own = np.arange(self._n_rows, self._n_rows + n_own)
        joined = (self._most_groups * self._rng.random(weight.size - n_own)).astype(np.int64)
        group = np.concatenate([own, joined])
        for sums, column in zip(self._sums.T, columns.T, strict=True):
            sums += np.bincount(group, weight * column, self._most_groups)
        self._weights += np.bincount(group, weight, self._most_groups)
        self._n_rows += weight.size

    def interval(self, statistic: Callable[[NDArray], NDArray]) -> list[float] | None:
        """Return the interval of a statistic, or None for fewer than two rows.

        Parameters
        ----------
        statistic : function of the means, of shape (n_resamples, n_columns)
        """
        if self._sums is None or self._n_rows < 2:
            return None
        n_groups = min(self._n_rows, self._most_groups)
        rng = np.random.default_rng(0)
        draws = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=_RESAMPLES).astype(np.float64)
        with np.errstate(all="ignore"):
            values = statistic((draws @ self._sums[:n_groups]) / (draws @ self._weights[:n_groups])[:, None])
        values = values[np.isfinite(values)]
        if not values.size:
            return None
        return [float(end) for end in np.quantile(values, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])]
