"""Choosing alpha in the same pass: each fold of the held-out sample is taken out of the statistic.

What is scored was truly left out, the measure is the one that counts, and no second pass is needed.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.progress import Phase, tell
from craftmaps._system.threads import multiply
from craftmaps.learners.held_out import HeldOut
from craftmaps.least_squares.normal_equations import NormalEquations

DEFAULT_ALPHAS = tuple(10.0 ** np.arange(-8, 2))
_FEWEST_ROWS = 500  # for a standard error to be worth something
_TIE = 1e-2


class AlphaChoice(NamedTuple):
    """The best alpha, the curve that it was chosen from, and the scores of rows left out."""

    relative: float
    results: dict[str, Any]
    outputs: NDArray[np.float64]  # of every row of the folds, when it was left out, at an alpha that others chose
    labels: NDArray  # of the same rows
    weights: NDArray[np.float64]  # of the same rows
    folds: NDArray[np.int64]  # which fold each of these rows belongs to


class Fold(NamedTuple):
    """Rows that are left out together, with labels, weights and how many copies of each row there are."""

    X: Any
    y: NDArray
    weight: NDArray[np.float64]  # of all copies together
    count: NDArray[np.int64]


def folds_of(holdout: HeldOut, n_folds: int) -> list[Fold]:
    """Cut a held-out sample into folds."""
    sample = holdout.sample
    if sample is None:
        return []
    share = sample.weight / sample.count
    folds = holdout.folds(min(n_folds, holdout.n_rows))
    return [Fold(sample.X[rows], sample.y[rows], share[rows] * count, count) for rows, count in folds]


def folds_of_splits(splits: list[NDArray], kept: NDArray, spent: NDArray, rows: tuple) -> list[Fold]:
    """Return the folds of given splits: their rows of some weight that the choices have not looked at.

    `kept` says which rows of the splits these rows are, `spent` which of these rows were looked at.
    """
    X, y, weight = rows
    position = np.full(max(kept.max(initial=0), *(split.max(initial=0) for split in splits)) + 1, -1)
    position[kept] = np.arange(kept.size)
    position[kept[spent]] = -1
    tested = [position[split] for split in splits]
    tested = [split[split >= 0] for split in tested]
    weight = np.ones(X.shape[0]) if weight is None else weight
    folds = [Fold(X[test], y[test], weight[test], np.ones(test.size, np.int64)) for test in tested if test.size]
    if not folds:
        raise ValueError(
            "cv must have at least one split with rows to test on that the automatic choices have not looked at, "
            "got none."
        )
    return folds


def dependence(folds: list[Fold], weight: float) -> float:
    """Return by how much folds that train each other's models spread their mean error.

    Whatever row i does to the prediction of row j, by symmetry row j does to that of row i if it is in another fold.
    On noise, where nothing else decides, errors of such pairs go together, and the variance of their mean grows by the
    share of the training rows of a fold that are themselves held out in another one.
    """
    held = sum(float(fold.weight.sum()) for fold in folds)
    return 1 + held * (1 - 1 / len(folds)) / max(weight - held / len(folds), held * (1 - 1 / len(folds)), 1e-300)


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

    An alpha that on the folds so far is worse than another by more than three standard errors
    of the difference is not tried on the folds that are left: it has next to no chance to win. Its
    mean error is that of the best one, plus the difference on the folds on which both were tried.
    Where the outputs for some alpha are, to a hundredth of their spread, those for the
    smallest, this and all in between are a tie, and that alpha stands for all of them.

    The lowest of several mean errors flatters: it was looked for. So the error that is reported, and the outputs that
    calibrate, are those of each fold at the alpha that the other folds would choose.

    Parameters
    ----------
    features, targets : functions of rows and of labels
        What a row and its label count as in the statistic.
    error : function of outputs and labels
        The error of each row.
    alphas : sequence of float
        In units of `statistic.scale()`. Of equally good ones that with the smallest squared error of the outputs is
        taken, since probabilities are made of them, and of those the largest.
    """
    race = _Race(sorted(alphas), folds, error, targets)
    rest = None
    for i, fold in enumerate(folds):
        Z = features(fold.X)
        rest = statistic.branch(room=rest)
        rest.add(Z, targets(fold.y), fold.weight, sign=-1.0)
        unit = rest.scale(fit_intercept) or 1.0
        path = rest.into_ridge_path(fit_intercept)
        tell(Phase.PENALTY, f"fold {i + 1} of {len(folds)}")
        path.prepare([race.alphas[j] * unit for j in race.live])

        def outputs(alpha: float, path=path, unit=unit, Z=Z) -> NDArray:
            solution = path.solve(alpha * unit, quick=True)
            return multiply(Z, solution.coef.T.astype(Z.dtype)) + solution.intercept

        race.run(i, outputs)
    return race.result()


class _Race:
    """Alphas, in ascending order, and how they do on one fold after another."""

    def __init__(self, alphas: list[float], folds: Sequence[Fold], error: Callable, targets: Callable):
        self.alphas, self.error = alphas, error
        self.targets = [targets(fold.y) for fold in folds]
        self.labels, self.weights = [fold.y for fold in folds], [fold.weight for fold in folds]
        self.counts = [fold.count for fold in folds]
        self.errors, self.squares = np.full((2, len(alphas), len(folds)), np.nan)
        self.live = np.arange(len(alphas))
        self.lowest = 0  # what lies below is a tie with it
        self._outputs: list[list[NDArray]] = [[] for _ in alphas]
        self._row_errors: list[list[NDArray]] = [[] for _ in alphas]

    def run(self, fold: int, outputs: Callable[[float], NDArray]) -> None:
        """Try the alphas that are left on a fold; drop ties and those that are beaten."""
        is_telling = sum(count.sum() for count in self.counts[: fold + 1]) >= _FEWEST_ROWS
        smallest, *others = self.live
        self._score(fold, smallest, outputs)
        # From the middle down to where alphas no longer matter, and then up.
        for j in others[len(others) // 2 :: -1] if others else ():
            self._score(fold, j, outputs)
            if is_telling and _is_tie(self._outputs[smallest][-1], self._outputs[j][-1]):
                self.lowest, self.live = j, self.live[self.live >= j]
                break
        for j in others[len(others) // 2 + 1 :]:
            self._score(fold, j, outputs)
        if is_telling:
            self._drop_the_beaten(np.concatenate(self.weights[: fold + 1]), np.concatenate(self.counts[: fold + 1]))

    def result(self) -> AlphaChoice:
        """Return the best alpha and how it came about."""
        errors, live = self.errors, self.live
        fold_weights = np.array([weight.sum() for weight in self.weights])
        finished = errors[live] @ fold_weights / fold_weights.sum()
        best = self._best(fold_weights)
        chosen_by_others = [self._best(_without(fold, fold_weights)) for fold in range(len(self.labels))]
        left_out = np.array([errors[j, fold] for fold, j in enumerate(chosen_by_others)])
        errors[: self.lowest] = errors[self.lowest]
        means = [finished.min() + _mean_difference(row, errors[best], fold_weights) for row in errors]
        results = {
            "alpha": np.array(self.alphas),
            "mean_error": np.array(means),
            "std_error": np.nanstd(errors, axis=1),
            "fold_errors": errors,
            "chosen": int(best),
            "error": float(np.average(left_out, weights=fold_weights)),
            "error_by_fold": left_out,
            "n_rows": int(sum(count.sum() for count in self.counts)),
        }
        outputs = np.concatenate([self._outputs[j][fold] for fold, j in enumerate(chosen_by_others)])
        return AlphaChoice(
            self.alphas[best],
            results,
            outputs.astype(np.float64),
            np.concatenate(self.labels),
            np.concatenate(self.weights),
            np.repeat(np.arange(len(self.labels)), [len(labels) for labels in self.labels]),
        )

    def _best(self, fold_weights: NDArray[np.float64]) -> Any:
        """Return the best of the alphas that are left, by a weighted mean over the folds."""
        means, squares = (of[self.live] @ fold_weights / fold_weights.sum() for of in (self.errors, self.squares))
        level = np.flatnonzero(means <= means.min() * (1 + 1e-12))
        return self.live[level[squares[level] <= squares[level].min() * (1 + 1e-12)][-1]]

    def _score(self, fold: int, j: Any, outputs: Callable[[float], NDArray]) -> None:
        """Score an alpha on a fold."""
        tell(Phase.PENALTY, f"{self.alphas[j]:g} on fold {fold + 1} of {len(self.labels)}")
        self._outputs[j].append(outputs(self.alphas[j]))
        self._row_errors[j].append(self.error(self._outputs[j][-1], self.labels[fold]))
        self.errors[j, fold] = np.average(self._row_errors[j][-1], weights=self.weights[fold])
        squares = np.square(self._outputs[j][-1] - self.targets[fold]).mean(axis=1)
        self.squares[j, fold] = np.average(squares, weights=self.weights[fold])

    def _drop_the_beaten(self, weights: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        """Keep the alphas that the rows scored so far do not rule out."""
        row_errors = [np.concatenate(self._row_errors[j]) for j in self.live]
        weights = weights / weights.sum()
        means = np.array([weights @ errors for errors in row_errors])
        best = row_errors[int(means.argmin())]
        # Weighted standard error of the mean of paired differences.
        squares = weights**2 / counts
        spreads = np.array([np.sqrt(squares @ (e - best - weights @ (e - best)) ** 2) for e in row_errors])
        self.live = self.live[means - means.min() <= 3 * spreads]


def _without(fold: int, fold_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of the folds with that of one set to zero, unless it is the only one."""
    return fold_weights if fold_weights.size == 1 else np.where(np.arange(fold_weights.size) == fold, 0, fold_weights)


def _is_tie(smallest: NDArray[np.floating], larger: NDArray[np.floating]) -> bool:
    """Tell whether two alphas have the same outputs."""
    return bool(np.linalg.norm(smallest - larger) <= _TIE * np.linalg.norm(larger - larger.mean(axis=0)))


def _mean_difference(errors: NDArray, others: NDArray, weights: NDArray) -> float:
    """Return the weighted mean of the differences on the folds on which there are errors."""
    tried = ~np.isnan(errors)
    return float(np.average((errors - others)[tried], weights=weights[tried]))
