"""A histogram about zero of numbers that come block by block, whose range is not known beforehand."""

import math

import numpy as np
from numpy.typing import NDArray

_CELLS = 2**11
_MOST_BINS = 41
_LARGEST = 1e250  # as on the axes of charts


class SymmetricHistogram:
    """Counts numbers in fine cells over (-reach, reach); the reach, a power of two, doubles as needed.

    Bins are unions of whole cells, so that their counts are exact.
    """

    def __init__(self) -> None:
        self._counts = np.zeros(_CELLS, dtype=np.int64)
        self._reach = float(np.finfo(float).tiny)
        self._largest = 0.0

    def add(self, values: NDArray[np.float64]) -> None:
        """Add numbers; infinite ones and NaN are ignored."""
        values = np.clip(values[np.isfinite(values)], -_LARGEST, _LARGEST)
        self._largest = max(self._largest, float(np.abs(values).max(initial=0.0)))
        if self._largest and not self._counts.any():
            self._reach = math.ldexp(1.0, math.frexp(self._largest)[1])
        while self._largest >= self._reach:
            self._double()
        # Exact, since the reach is a power of two above all values.
        cells = np.floor(values / self._reach * (_CELLS // 2)).astype(np.int64) + _CELLS // 2
        self._counts += np.bincount(cells, minlength=_CELLS)

    def table(self) -> tuple[NDArray[np.int64], NDArray[np.floating]]:
        """Return the counts of an odd number of bins, the middle one about zero, and the edges of the bins."""
        n_values = int(self._counts.sum())
        n_bins = min(_MOST_BINS, 2 * math.isqrt(n_values) + 1)
        if not self._largest:
            counts = np.zeros(n_bins, dtype=np.int64)
            counts[n_bins // 2] = n_values
            return counts, np.linspace(-1.0, 1.0, n_bins + 1)
        width = self._reach / (_CELLS // 2)
        # An even number of cells, so that zero is the middle of a bin and an edge of cells.
        n_cells = 2 * (int(self._largest / (n_bins * width)) + 1)
        room = max(n_bins * n_cells - _CELLS, 0) // 2
        cells = np.pad(self._counts, room)
        outside = (cells.size - n_bins * n_cells) // 2
        cells = cells[outside : cells.size - outside]
        return cells.reshape(n_bins, n_cells).sum(axis=1), (np.arange(n_bins + 1) - n_bins / 2) * n_cells * width

    def _double(self) -> None:
        """Double the reach: pairs of cells become one."""
        pairs = self._counts.reshape(-1, 2).sum(axis=1)
        self._counts = np.pad(pairs, _CELLS // 4)
        self._reach *= 2
