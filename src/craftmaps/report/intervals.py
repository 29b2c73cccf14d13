"""Intervals that hold the true value in 95 of 100 runs."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

_LEVEL = 0.95
_RESAMPLES = 1000
_MOST_GROUPS = 2000


def wilson(successes: float, n: float) -> list[float]:
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


def of_folds(errors: NDArray[np.float64], mean: float) -> list[float] | None:
    """Return Student's interval about the mean error, from the spread of the folds, if there are several."""
    if errors.size < 2:
        return None
    quantile = float(t.ppf(0.5 + _LEVEL / 2, errors.size - 1))
    half = quantile * float(errors.std(ddof=1)) / float(np.sqrt(errors.size))
    return [max(mean - half, 0.0), mean + half]


def of_root_mean_square(square: float, variance: float, n: int) -> list[float] | None:
    """Return the interval of a root mean square error of n rows, from the mean square and the variance of that mean.

    Both follow from sums, so rows that come block by block have the same interval as rows in memory.
    """
    if n < 2 or not np.isfinite(square + variance):
        return None
    half = float(norm.ppf(0.5 + _LEVEL / 2) * np.sqrt(max(variance, 0.0)))
    return [float(np.sqrt(max(square - half, 0.0))), float(np.sqrt(square + half))]


class ChosenAlpha(NamedTuple):
    """The place of the alpha that was taken, and what is known of its error on rows that were left out.

    `error` is a share of rows with its interval, or for numbers a mean square error with that of its root.
    """

    index: int
    error: float
    interval: list[float] | None
    n_rows: int

    def to_plain(self, is_classifier: bool) -> dict[str, Any]:
        """Return rows, error or root mean square error, and its interval."""
        if is_classifier:
            return {"rows": self.n_rows, "error": self.error, "error_interval": self.interval}
        return {"rows": self.n_rows, "rmse": float(np.sqrt(self.error)), "rmse_interval": self.interval}


def chosen_alpha(results: dict[str, Any], is_classifier: bool) -> ChosenAlpha:
    """Return which alpha the learner took, and the error of rows that were left out, from `cv_results_`."""
    error, n_rows = float(results["error"]), int(results["n_rows"])
    if is_classifier:
        n_effective = float(results["n_effective"])
        return ChosenAlpha(results["chosen"], error, wilson(error * n_effective, n_effective), n_rows)
    ends = of_folds(results["error_by_fold"], error)
    return ChosenAlpha(results["chosen"], error, None if ends is None else np.sqrt(ends).tolist(), n_rows)


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
