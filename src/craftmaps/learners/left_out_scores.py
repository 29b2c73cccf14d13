"""Solutions compared on folds that were left out, and what may honestly be said of the best one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.learners.calibration import tempered_losses
from craftmaps.learners.held_out import HeldOutFold
from craftmaps.learners.targets import ClassTargets, Targets

_ONE_SPLIT = 0.1  # of the rows: more would make solutions look worse than those of the penalty search, by folds


class LeftOutScores:
    """Errors and losses of the rows of every fold, of one solution after another.

    The loss of classes is the cross-entropy at the best temperature, that of numbers the squared error.

    Parameters
    ----------
    folds : sequence of HeldOutFold
    targets : Targets
    is_first_preferred : bool
        Whether the first solution that is as good as the best, to a standard error of the difference, is taken: with
        solutions from strong penalties to weak ones, the simplest.
    """

    def __init__(self, folds: Sequence[HeldOutFold], targets: Targets, is_first_preferred: bool = False):
        self.folds, self.targets, self.is_first_preferred = folds, targets, is_first_preferred
        self._row_errors: list[NDArray] = []
        self.outputs: list[NDArray] = []  # of the rows of all folds, one fold after the other
        self.errors: list[NDArray] = []  # means of the folds
        self.losses: list[NDArray] = []
        self.fold_weights = np.array([fold.weight.sum() for fold in folds])
        self._weights = np.concatenate([np.empty(0), *(fold.weight for fold in folds)])
        self.fold_of_row = np.repeat(np.arange(len(folds)), [len(fold.y) for fold in folds])

    def add(self, outputs: NDArray) -> None:
        """Score the outputs for the rows of all folds."""
        y, weight = np.concatenate([fold.y for fold in self.folds]), self._weights
        errors = losses = self.targets.errors(outputs, y)
        if isinstance(self.targets, ClassTargets):
            scores = self.targets.decoded(outputs.astype(np.float64))
            losses = tempered_losses(scores, self.targets.numbers(y), weight)
        self.outputs.append(outputs)
        self._row_errors.append(errors)
        for into, of_rows in ((self.errors, errors), (self.losses, losses)):
            into.append(np.bincount(self.fold_of_row, weight * of_rows) / self.fold_weights)

    def best(self, without: int | None = None, since: int = 0) -> int:
        """Return the best solution, perhaps by all folds but one: by error times loss, as few errors tell little."""
        weight = self.fold_weights.copy()
        if without is not None and weight.size > 1:
            weight[without] = 0
        values = self._values(weight)
        best = since + int(np.argmin(values[since:]))
        if not self.is_first_preferred:
            return best
        share = self._weights * (weight[self.fold_of_row] > 0)
        share = share / share.sum()
        for i in range(since, best):
            worse = self._row_errors[i] - self._row_errors[best]
            mean = float(share @ worse)
            if mean <= np.sqrt(share**2 @ (worse - mean) ** 2):
                return i
        return best

    def lead_of_first(self) -> float:
        """Return by how much the first solution is better than the best of all others."""
        values = self._values(self.fold_weights)
        return float(values[1:].min() - values[0])

    def _values(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithms of error times loss of all solutions, with weights of folds."""
        errors, losses = (np.array(of) @ weight / weight.sum() for of in (self.errors, self.losses))
        half_a_row = 0.5 * max(float(np.max(self.errors)), 1e-300) / self.fold_of_row.size
        return np.log(errors + half_a_row) + np.log(losses + 1e-300)

    def honest(self, alike: Sequence[Any] | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the error of each fold, and outputs for all rows, at the solution that the other folds would choose.

        `alike` names the kind of each solution: outputs of another kind than the best one's are replaced by its own,
        as they may be of another scale.
        """
        best = self.best()
        by_others = [self.best(without=fold) for fold in range(len(self.folds))]
        errors = np.array([self.errors[j][fold] for fold, j in enumerate(by_others)])
        outputs = self.outputs[best].astype(np.float64)
        for fold, j in enumerate(by_others):
            if alike is None or alike[j] == alike[best]:
                rows = self.fold_of_row == fold
                outputs[rows] = self.outputs[j][rows]
        return errors, outputs


def left_out_together(folds: Sequence[HeldOutFold], weight: float) -> list[list[int]]:
    """Return the numbers of folds to be left out together: neighbours, as long as they are few of all rows."""
    groups: list[list[int]] = []
    held = np.inf
    for i, fold in enumerate(folds):
        held += float(fold.weight.sum())
        if held > _ONE_SPLIT * weight:
            groups.append([])
            held = float(fold.weight.sum())
        groups[-1].append(i)
    return groups
