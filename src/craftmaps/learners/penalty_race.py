"""Alphas compared on one fold after another."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.progress import Phase, tell
from craftmaps.learners.held_out import HeldOutFold
from craftmaps.learners.targets import Errors

_TIE = 1e-2
Encoder = Callable[[NDArray], NDArray]


class PenaltyChoice(NamedTuple):
    """The best alpha, the curve that it was chosen from, and the outputs of rows left out."""

    relative: float
    results: dict[str, Any]
    outputs: NDArray[np.float64]  # of every row of the folds, when it was left out, at an alpha that others chose
    labels: NDArray  # of the same rows
    weights: NDArray[np.float64]  # of the same rows
    folds: NDArray[np.int64]  # which fold each of these rows belongs to
    left_out: Sequence[HeldOutFold]  # the folds themselves


class PenaltyRace:
    """Alphas, in ascending order, and their errors on one fold after another.

    An alpha that on the folds so far is worse than another by more than three standard errors of the difference is not
    tried on the folds that are left. Its mean error is that of the best one, plus the difference on the folds on which
    both were tried. Where the outputs for some alpha are, to a hundredth of their spread, those for the smallest, this
    and all in between are a tie, and that alpha stands for all of them.

    Parameters
    ----------
    alphas : list of float
    folds : sequence of HeldOutFold
    errors : function of outputs and targets
        Returns the error of each row.
    encoded : function of targets
        Returns the columns that outputs should equal.
    fewest_rows : float
        Rows that must be scored before an alpha can be dropped: a standard error of fewer is worth little.
    n_reported : int or None
        The first so many folds are reported, all if it is None. Rows of the others, which automatic choices have looked
        at, help to choose and no more.
    """

    def __init__(
        self,
        alphas: list[float],
        folds: Sequence[HeldOutFold],
        errors: Errors,
        encoded: Encoder,
        fewest_rows: float,
        n_reported: int | None = None,
    ):
        self.alphas, self.error, self.fewest_rows = alphas, errors, fewest_rows
        self.n_reported = len(folds) if n_reported is None else n_reported
        self.targets = [encoded(fold.y) for fold in folds]
        self.labels, self.weights = [fold.y for fold in folds], [fold.weight for fold in folds]
        self.folds, self.counts = folds, [fold.count for fold in folds]
        self.errors, self.squares = np.full((2, len(alphas), len(folds)), np.nan)
        self.live = np.arange(len(alphas))
        self.lowest = 0  # what lies below is a tie with it
        self._outputs: list[list[NDArray]] = [[] for _ in alphas]
        self._row_errors: list[list[NDArray]] = [[] for _ in alphas]

    def run(self, fold: int, outputs: Callable[[float], NDArray]) -> None:
        """Try the remaining alphas on a fold; drop ties and beaten ones."""
        is_telling = sum(count.sum() for count in self.counts[: fold + 1]) >= self.fewest_rows
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

    def result(self) -> PenaltyChoice:
        """Return the best alpha, the curve and the outputs of rows left out.

        The lowest of several mean errors flatters: it was looked for. So the error that is reported, and the outputs
        that calibrate, are those of each fold at the alpha that the other folds would choose. Of equally good alphas
        the one with the smallest squared error of the outputs is taken, since probabilities are made of them, and of
        those the largest.
        """
        fold_weights, reported = np.array([weight.sum() for weight in self.weights]), slice(self.n_reported)
        best = self._best(fold_weights)
        chosen_by_others = [self._best(_without(fold, fold_weights)) for fold in range(self.n_reported)]
        errors, folds, weights = self.errors[:, reported], self.folds[reported], fold_weights[reported]
        left_out = np.array([errors[j, fold] for fold, j in enumerate(chosen_by_others)])
        errors[: self.lowest] = errors[self.lowest]
        mean = float(np.average(errors[best], weights=weights))
        results = {
            "alpha": np.array(self.alphas),
            "mean_error": np.array([mean + _mean_difference(row, errors[best], weights) for row in errors]),
            "std_error": np.nanstd(errors, axis=1),
            "fold_errors": errors,
            "chosen": int(best),
            "error": float(np.average(left_out, weights=weights)),
            "error_by_fold": left_out,
            "n_rows": int(sum(fold.count.sum() for fold in folds)),
        }
        outputs = np.concatenate([self._outputs[j][fold] for fold, j in enumerate(chosen_by_others)])
        return PenaltyChoice(
            self.alphas[best],
            results,
            outputs.astype(np.float64),
            np.concatenate([fold.y for fold in folds]),
            np.concatenate([fold.weight for fold in folds]),
            np.repeat(np.arange(len(folds)), [len(fold.y) for fold in folds]),
            folds,
        )

    def _best(self, fold_weights: NDArray[np.float64]) -> Any:
        """Return the best of the alphas that are left, by a weighted mean over the folds."""
        means, squares = (of[self.live] @ fold_weights / fold_weights.sum() for of in (self.errors, self.squares))
        if not (np.isfinite(means).all() and np.isfinite(squares).all()):
            raise ValueError("Outputs are not finite for any alpha: the sums are not those of rows.")
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
    """Tell whether two alphas have the same outputs, in every column: columns may have unlike units."""
    distances = np.linalg.norm(smallest - larger, axis=0)
    return bool((distances <= _TIE * np.linalg.norm(larger - larger.mean(axis=0), axis=0)).all())


def _mean_difference(errors: NDArray, others: NDArray, weights: NDArray) -> float:
    """Return the weighted mean of the differences on the folds on which there are errors."""
    tried = ~np.isnan(errors)
    return float(np.average((errors - others)[tried], weights=weights[tried]))
