"""Scores of a regressor, from rows that come block by block."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.scores.bootstrap import Bootstrap
from craftmaps.scores.intervals import of_root_mean_square
from craftmaps.scores.weight_sum import WeightSum


class NumberScores:
    """Root mean square error, mean absolute error and R2 of one target or several; means are weighted.

    Attributes
    ----------
    weight : WeightSum
    n_targets : int
    """

    def __init__(self) -> None:
        self.weight = WeightSum()
        self.n_targets = 1
        self._origin: NDArray[np.float64] | None = None
        self._sums: Any = 0.0  # over rows: squared errors, centred targets and their squares, each for all targets
        self._sizes = 0.0
        self._squares = np.zeros(3)  # of squared weights x 1, squared error, its square
        self._resampled = Bootstrap()

    def add(self, predicted: NDArray, y: NDArray, weight: NDArray[np.float64] | None = None) -> None:
        """Add rows with their predictions and targets, of shape (n_rows,) or (n_rows, n_targets)."""
        n_rows = len(y)
        weight = self.weight.add(weight, n_rows)
        y, predicted = (np.asarray(values, dtype=np.float64).reshape(n_rows, -1) for values in (y, predicted))
        if self._origin is None:
            self._origin, self.n_targets = y.mean(axis=0), y.shape[1]  # so that no digits are lost to a large mean
        with np.errstate(over="ignore", invalid="ignore"):
            error, centred = y - predicted, y - self._origin
            columns = np.hstack([error**2, centred, centred**2])
            square = columns[:, : self.n_targets].mean(axis=1)
            self._sums = self._sums + weight @ columns
            self._sizes += float(weight @ np.abs(error).mean(axis=1))
            self._squares += [weight @ weight, weight**2 @ square, weight**2 @ square**2]
            self._resampled.add(columns, weight)

    @property
    def rmse(self) -> float:
        """The root mean square error over all targets."""
        return float(np.sqrt(np.mean(self._means[: self.n_targets])))

    @property
    def rmse_interval(self) -> list[float] | None:
        """The interval of the root mean square error."""
        with np.errstate(all="ignore"):
            square = np.mean(self._means[: self.n_targets])
            # The variance of a weighted mean of squared errors: sum w^2 (e^2 - mean)^2 / (sum w)^2.
            variance = float(self._squares @ [square**2, -2 * square, 1.0]) / self.weight.total**2
        return of_root_mean_square(float(square), variance, self.weight.n_rows)

    @property
    def r2(self) -> float | None:
        """The explained share of the variance, averaged over targets; None if a target does not vary."""
        r2 = float(np.mean(self.r2_by_target()))
        return None if np.isnan(r2) else r2

    @property
    def r2_interval(self) -> list[float] | None:
        """The bootstrap interval of R2."""
        return self._resampled.interval(lambda means: _r2(means).mean(axis=1))

    def rmse_by_target(self) -> NDArray[np.float64]:
        """Return the root mean square error of each target."""
        return np.sqrt(self._means[: self.n_targets])

    def r2_by_target(self) -> NDArray[np.float64]:
        """Return R2 of each target; NaN if it does not vary."""
        return _r2(self._means[None])[0]

    def to_plain(self) -> dict[str, Any]:
        """Return all scores as plain values that JSON can hold."""
        return {
            "rows": self.weight.n_rows,
            **self.weight.to_plain(),
            "rmse": self.rmse,
            "rmse_interval": self.rmse_interval,
            "mean_absolute_error": self._sizes / self.weight.total,
            "r2": self.r2,
        }

    @property
    def _means(self) -> NDArray[np.float64]:
        """Weighted means of squared errors, centred targets and their squares."""
        return self._sums / self.weight.total


def _r2(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return R2 of each target from means of squared errors, targets and their squares, one resample a row."""
    squared_error, mean, square = np.split(means, 3, axis=1)
    with np.errstate(all="ignore"):
        variance = square - mean**2
        return 1 - squared_error / np.where(variance > 0, variance, np.nan)
