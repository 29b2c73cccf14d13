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
    outputs: NDArray[np.float64]  # of every row of the folds, when it was left out, at the best alpha
    labels: NDArray  # of the same rows
    weights: NDArray[np.float64]  # of the same rows


Fold = tuple[Any, NDArray, NDArray]  # rows, labels and weights


def folds_of(holdout: Holdout, n_folds: int) -> list[Fold]:
    """Cut a held-out sample into folds."""
    folds = holdout.folds(min(n_folds, len(holdout)))
    return [(holdout.X[fold], holdout.y[fold], holdout.weight[fold]) for fold in folds]


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
    alphas = sorted(alphas)
    errors = np.zeros((len(alphas), len(folds)))
    outputs: list[list[NDArray]] = [[] for _ in alphas]
    for i, (X, y, weight) in enumerate(folds):
        Z = features(X)
        rest = statistic.without(Z, targets(y), weight)
        unit = rest.scale(fit_intercept) or 1.0
        for j, alpha in enumerate(alphas):
            solution = rest.solve(alpha * unit, fit_intercept=fit_intercept)
            outputs[j].append(Z @ solution.coef.T.astype(Z.dtype) + solution.intercept)
            errors[j, i] = np.average(error(outputs[j][-1], y), weights=weight)
    means = np.average(errors, axis=1, weights=[weight.sum() for _, _, weight in folds])
    best = len(alphas) - 1 - int(np.argmin(means[::-1]))
    results = {
        "alpha": np.array(alphas),
        "mean_error": means,
        "std_error": errors.std(axis=1),
        "fold_errors": errors,
        "n_rows": sum(y.shape[0] for _, y, _ in folds),
    }
    labels = np.concatenate([y for _, y, _ in folds])
    weights = np.concatenate([weight for _, _, weight in folds])
    return AlphaChoice(alphas[best], results, np.concatenate(outputs[best]).astype(np.float64), labels, weights)
