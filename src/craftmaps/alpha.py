"""Choosing alpha in the same pass: each fold of the held-out sample is taken out of the statistic.

What is scored was truly left out, the measure is the one that counts, and no second pass is needed.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps.holdout import Holdout
from craftmaps.normal_equations import NormalEquations

DEFAULT_ALPHAS = tuple(10.0 ** np.arange(-8, 2))


class AlphaChoice(NamedTuple):
    """The best alpha, the curve that it was chosen from, and the scores of rows left out."""

    relative: float
    results: dict[str, Any]
    outputs: NDArray[np.float64]  # of every row of the sample, when it was left out, at the best alpha


def choose_alpha(
    statistic: NormalEquations,
    holdout: Holdout,
    *,
    features: Callable[[Any], NDArray],
    targets: Callable[[NDArray], NDArray],
    error: Callable[[NDArray, NDArray], NDArray[np.float64]],
    alphas: Sequence[float],
    n_folds: int,
    fit_intercept: bool,
) -> AlphaChoice:
    """Score every alpha on every fold and return the best one.

    Parameters
    ----------
    features, targets : functions of rows and of labels
        What a row and its label count as in the statistic.
    error : function of outputs and labels
        The error of each row.
    alphas : sequence of float
        In units of `statistic.scale()`. Of equally good ones the largest is taken.
    """
    n_folds = min(n_folds, len(holdout))
    alphas = sorted(alphas)
    folds = holdout.folds(n_folds)
    errors = np.zeros((len(alphas), n_folds))
    outputs: list[list[NDArray]] = [[] for _ in alphas]
    for i, fold in enumerate(folds):
        Z, y, weight = features(holdout.X[fold]), holdout.y[fold], holdout.weight[fold]
        rest = statistic.without(Z, targets(y), weight)
        unit = rest.scale(fit_intercept) or 1.0
        for j, alpha in enumerate(alphas):
            solution = rest.solve(alpha * unit, fit_intercept=fit_intercept)
            outputs[j].append(Z @ solution.coef.T.astype(Z.dtype) + solution.intercept)
            errors[j, i] = np.average(error(outputs[j][-1], y), weights=weight)
    means = np.average(errors, axis=1, weights=[holdout.weight[fold].sum() for fold in folds])
    best = len(alphas) - 1 - int(np.argmin(means[::-1]))
    left_out = np.empty((len(holdout), outputs[best][0].shape[1]))
    for fold, values in zip(folds, outputs[best], strict=True):
        left_out[fold] = values
    results = {
        "alpha": np.array(alphas),
        "mean_error": means,
        "std_error": errors.std(axis=1),
        "fold_errors": errors,
        "n_rows": len(holdout),
    }
    return AlphaChoice(alphas[best], results, left_out)
