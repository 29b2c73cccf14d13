"""Columns of numbers to learn, brought to one spread, so that neither a column nor a few rows outweigh the others."""

import numpy as np
from numpy.typing import NDArray

_QUARTILES = 1.349  # distance of the quartiles of a normal distribution of deviation 1
_MOST_SPREADS = 20.0


def without_extremes(y: NDArray) -> NDArray[np.float64]:
    """Return targets with the median in place of those many spreads away: a few of them would decide every comparison.

    Cut off instead of replaced, one in 500 would still outweigh the noise of all others. The spread is that of a normal
    distribution of the same quartiles, or the deviation if these are equal.
    """
    low, median, high = np.quantile(y, (0.25, 0.5, 0.75), axis=0)
    spread = (high - low) / _QUARTILES
    spread = np.where(spread > 0, spread, np.std(y, axis=0))
    return np.where(np.abs(y - median) > _MOST_SPREADS * spread, median, y)


def to_one_spread(y: NDArray) -> NDArray[np.float64]:
    """Return factors that bring all targets to the root of their mean variance; 1 if there is only one."""
    spread = np.std(y, axis=0)
    factors = np.ones(y.shape[1])
    if y.shape[1] > 1:
        np.divide(np.sqrt(np.mean(spread**2)), spread, out=factors, where=spread > 0)
    return factors
