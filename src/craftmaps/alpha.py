"""Choosing alpha in the same pass: each fold of the held-out sample is taken out of the statistic.

What is scored was truly left out, the measure is the one that counts, and no second pass is needed.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps.holdout import Holdout
from craftmaps.normal_equations import NormalEquations, RidgePath

DEFAULT_ALPHAS = tuple(10.0 ** np.arange(-8, 2))
_FEWEST_ROWS = 500  # for a standard error to be worth something
_TIE = 1e-3


class AlphaChoice(NamedTuple):
    """The best alpha, the curve that it was chosen from, and the scores of rows left out."""

    relative: float
    results: dict[str, Any]
    outputs: NDArray[np.float64]  # of every row of the folds, when it was left out, at the best alpha
    labels: NDArray  # of the same rows
    weights: NDArray[np.float64]  # of the same rows


Fold = tuple[Any, NDArray, NDArray]  # rows, labels and weights


def folds_of(holdout: Holdout, n_folds: int) -> list[Fold]:
    """Cut a held-out sample into folds."""
    sample, folds = holdout.sample, holdout.folds(min(n_folds, len(holdout)))
    return [] if sample is None else [(sample.X[fold], sample.y[fold], sample.weight[fold]) for fold in folds]


def choose_alpha(
    statistic: NormalEquations,
    folds: Sequence[Fold],
    *,
    features: Callable[[Any], NDArray],
    targets: Callable[[NDArray], NDArray],
    error: Callable[[NDArray, NDArray], NDArray[np.float64]],
    alphas: Sequence[float],
    fit_intercept: bool,
) -> AlphaChoice:
    """Score alphas on every fold and return the best one.

    An alpha that on the folds so far is worse than another by more than five standard errors
    of the difference is not tried on the folds that are left: it has next to no chance to win. Nor
    is one whose outputs are, to a thousandth of their spread, those of a larger one: that is a tie.
    The mean error of an alpha that left the race is that of the best one, plus the difference
    on the folds on which both were tried.

    Parameters
    ----------
    features, targets : functions of rows and of labels
        What a row and its label count as in the statistic.
    error : function of outputs and labels
        The error of each row.
    alphas : sequence of float
        In units of `statistic.scale()`. Of equally good ones the largest is taken.
    """
    alphas = sorted(alphas)
    errors = np.full((len(alphas), len(folds)), np.nan)
    live, quick = np.arange(len(alphas)), np.ones(len(alphas), bool)
    row_errors: list[list[NDArray]] = [[] for _ in alphas]
    outputs: list[list[NDArray]] = [[] for _ in alphas]
    weights = np.concatenate([weight for _, _, weight in folds])
    for i, (X, y, weight) in enumerate(folds):
        Z = features(X)
        rest = statistic.without(Z, targets(y), weight)
        unit = rest.scale(fit_intercept) or 1.0
        path = RidgePath(rest, fit_intercept, owned=True)
        for j in live:
            solution = path.solve(alphas[j] * unit, quick=bool(quick[j]))
            quick[j] = path.was_quick  # where it was not precise enough, it will not be in other folds
            outputs[j].append(Z @ solution.coef.T.astype(Z.dtype) + solution.intercept)
            row_errors[j].append(error(outputs[j][-1], y))
            errors[j, i] = np.average(row_errors[j][-1], weights=weight)
        if sum(map(len, row_errors[live[0]])) >= _FEWEST_ROWS:
            live = _in_the_race(live, [np.concatenate(row_errors[j]) for j in live], weights)
            live = _without_ties(live, [outputs[j][-1] for j in live])
    fold_weights = np.array([weight.sum() for _, _, weight in folds])
    finished = errors[live] @ fold_weights / fold_weights.sum()
    best = live[len(live) - 1 - int(np.argmin(finished[::-1]))]
    means = finished.min() + np.array([_mean_difference(row, errors[best], fold_weights) for row in errors])
    results = {
        "alpha": np.array(alphas),
        "mean_error": means,
        "std_error": np.nanstd(errors, axis=1),
        "fold_errors": errors,
        "n_rows": weights.size,
    }
    labels = np.concatenate([y for _, y, _ in folds])
    return AlphaChoice(alphas[best], results, np.concatenate(outputs[best]).astype(np.float64), labels, weights)


def _in_the_race(
    live: NDArray[np.int64], row_errors: list[NDArray[np.float64]], weights: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the alphas that the rows scored so far do not rule out."""
    weights = weights[: row_errors[0].size] / weights[: row_errors[0].size].sum()
    means = np.array([weights @ errors for errors in row_errors])
    best = row_errors[int(means.argmin())]
    # Weighted standard error of the mean of paired differences.
    spreads = np.array([np.sqrt(weights**2 @ (e - best - weights @ (e - best)) ** 2) for e in row_errors])
    return live[means - means.min() <= 5 * spreads]


def _without_ties(live: NDArray[np.int64], outputs: list[NDArray[np.floating]]) -> NDArray[np.int64]:
    """Return the alphas, in ascending order, without those whose outputs are those of a larger one that stays."""
    staying = [len(live) - 1]
    for j in range(len(live) - 2, -1, -1):
        larger = outputs[staying[-1]]
        if not np.linalg.norm(outputs[j] - larger) <= _TIE * np.linalg.norm(larger - larger.mean(axis=0)):
            staying.append(j)
    return live[staying[::-1]]


def _mean_difference(errors: NDArray, others: NDArray, weights: NDArray) -> float:
    """Return the weighted mean of the differences on the folds on which there are errors."""
    tried = ~np.isnan(errors)
    return float(np.average((errors - others)[tried], weights=weights[tried]))
