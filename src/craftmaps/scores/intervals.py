"""Intervals that hold the true value in 95 of 100 runs."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

LEVEL = 0.95


def wilson(successes: float, n: float) -> list[float]:
    """Return Wilson's interval for a share of n rows.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0, 100)]
    [0.0, 0.037]
    """
    z = float(norm.ppf(0.5 + LEVEL / 2))
    share = successes / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    # Rounding may carry the share of weights past 1.
    half = z / (1 + z**2 / n) * float(np.sqrt(max(share * (1 - share), 0.0) / n + z**2 / (4 * n**2)))
    return [max(middle - half, 0.0), min(middle + half, 1.0)]


def of_folds(errors: NDArray[np.float64], mean: float) -> list[float] | None:
    """Return Student's interval about a mean error, from the spread of the folds, or None for a single fold."""
    if errors.size < 2:
        return None
    quantile = float(t.ppf(0.5 + LEVEL / 2, errors.size - 1))
    half = quantile * float(errors.std(ddof=1)) / float(np.sqrt(errors.size))
    return [max(mean - half, 0.0), mean + half]


def of_root_mean_square(square: float, variance: float, n: int) -> list[float] | None:
    """Return the interval of a root mean square error of n rows, from the mean square and the variance of that mean."""
    if n < 2 or not np.isfinite(square + variance):
        return None
    half = float(norm.ppf(0.5 + LEVEL / 2) * np.sqrt(max(variance, 0.0)))
    return [float(np.sqrt(max(square - half, 0.0))), float(np.sqrt(square + half))]
