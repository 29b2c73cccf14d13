"""Calibration: how often predictions of a given probability are right."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps.scores.intervals import wilson

_BINS = 10
_BARS = 2 * _BINS


class CalibrationBin(NamedTuple):
    """Predictions of similar probability: their mean probability, the share that is right, and its interval."""

    n_rows: int
    probability: float
    right: float
    interval: list[float]


class CalibrationTable:
    """Predictions in ten bins of equal width by their probability; shares and means are weighted."""

    def __init__(self) -> None:
        # Rows; sums of weights, of weights of right predictions, of weights x probabilities, of squared weights.
        self._sums = np.zeros((5, _BARS))

    def add(self, confidence: NDArray[np.float64], is_right: NDArray[np.bool_], weight: NDArray[np.float64]) -> None:
        """Add predictions with the probability of the predicted class."""
        bars = np.minimum((confidence * _BARS).astype(int), _BARS - 1)
        parts = (None, weight, weight * is_right, weight * confidence, weight**2)
        for sums, part in zip(self._sums, parts, strict=True):
            sums += np.bincount(bars, part, _BARS)

    @property
    def bins(self) -> list[CalibrationBin]:
        """The bins that hold some weight."""
        found = []
        for n_rows, total, right, probability, squares in self._in_bins().T:
            if total:
                n_effective = total**2 / squares
                interval = wilson(right / total * n_effective, n_effective)
                found.append(CalibrationBin(int(n_rows), float(probability / total), float(right / total), interval))
        return found

    @property
    def expected_error(self) -> float:
        """The expected calibration error: the mean distance between probability and share that is right."""
        _, total, right, probability, _ = self._in_bins()
        return float(np.abs(right - probability).sum() / total.sum())

    def histogram(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the number of rows in twenty bins of equal width, and the edges of these bins."""
        return self._sums[0].astype(np.int64), np.linspace(0.0, 1.0, _BARS + 1)

    def _in_bins(self) -> NDArray[np.float64]:
        """Return the sums of each of the ten bins."""
        return self._sums.reshape(5, _BINS, 2).sum(axis=2)
