"""Intervals that hold the true value in 95 of 100 runs."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

_LEVEL = 0.95
_RESAMPLES = 1000
_MOST_GROUPS = 2000


def wilson(successes: float, n: int) -> list[float]:
    """Return the 95 % confidence interval of Wilson for a share of n rows.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0, 100)]
    [0.0, 0.037]
    """
    z = float(norm.ppf(0.5 + _LEVEL / 2))
    share = successes / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * float(np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)))
    return [max(middle - half, 0.0), min(middle + half, 1.0)]


def of_folds(errors: NDArray[np.float64]) -> list[float] | None:
    """Return Student's interval of the mean of the errors of folds, if there are several."""
    if errors.size < 2:
        return None
    quantile = float(t.ppf(0.5 + _LEVEL / 2, errors.size - 1))
    half = quantile * float(errors.std(ddof=1)) / np.sqrt(errors.size)
    return [max(float(errors.mean()) - half, 0.0), float(errors.mean()) + half]


def bootstrap(columns: NDArray[np.float64], statistic: Callable[[NDArray], NDArray]) -> list[float] | None:
    """Return the percentile bootstrap interval of a statistic of the mean of rows.

    Many rows are first put together at random into groups, which are then drawn like rows: the
    spread of means is the same, and a million rows cost no more than two thousand.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)
    statistic : function of means, of shape (n_resamples, n_columns)
    """
    n_rows = columns.shape[0]
    if n_rows < 2:
        return None
    rng = np.random.default_rng(0)
    n_groups = min(n_rows, _MOST_GROUPS)
    group = rng.permutation(n_rows) % n_groups
    sums = np.zeros((n_groups, columns.shape[1]))
    np.add.at(sums, group, columns)
    sizes = np.bincount(group, minlength=n_groups)
    draws = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=_RESAMPLES)
    with np.errstate(all="ignore"):
        values = statistic((draws @ sums) / (draws @ sizes)[:, None])
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    return [float(end) for end in np.quantile(values, [0.5 - _LEVEL / 2, 0.5 + _LEVEL / 2])]
