"""The logistic loss: a few more looks at the rows, from the tally's solution, and whether they are worth it.

Least squares punishes outputs that are too good, and classes far from the boundary bend it. Where the rows are still
at hand after the pass, a few quasi-Newton steps, with the Gram matrix of the tally as their Hessian, mend that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.memory import available_memory
from craftmaps._system.progress import Phase, tell
from craftmaps._system.threads import cut, multiply
from craftmaps.learners.calibration import tempered_losses
from craftmaps.learners.few_rows import FewRows
from craftmaps.learners.held_out import HeldOutFold
from craftmaps.learners.penalty_race import PenaltyChoice
from craftmaps.learners.tally import Tally
from craftmaps.learners.targets import ClassTargets, Targets
from craftmaps.least_squares.logistic_steps import Blocks, WeightedRows, blocks_of, logistic_regressions
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.least_squares.ridge_path import Solution

MOST_CLASSES = 32  # with more, looks take longer than the pass
_LOOKS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)  # after which solutions are compared
_PATIENCE = 2
_PENALTY, _LEAST_ALPHA = 1e-5, 1e-6
_ONE_SPLIT = 0.2  # of the rows: fewer held-out rows can be left out all at once
_MEMORY_SHARE = 0.3  # of what is free, for features that are kept between looks
_BLOCK_ROWS = 1024


class LogisticModel(NamedTuple):
    """A solution of the logistic loss, or None where squares did better, and what rows left out say of it."""

    solution: Solution | None
    choice: PenaltyChoice | None


@dataclass(frozen=True)
class LogisticSearch:
    """Fits the logistic loss, leaving out the folds of a choice, and keeps it if it does better.

    Parameters
    ----------
    is_forced : bool
        Whether the logistic loss is taken even if squares do better.
    looks : tuple of int
        After how many looks at the rows solutions are compared on rows left out.
    """

    is_forced: bool = False
    looks: tuple[int, ...] = _LOOKS

    def run(
        self, tally: Tally, rows: tuple, relative: float, choice: PenaltyChoice | None, few: FewRows | None
    ) -> LogisticModel:
        """Return the logistic model of all rows of a tally, given with targets and weights.

        `relative` is the penalty of the squared loss. The number of looks is chosen on rows left out, and the error
        that is reported for a fold is that of the solution which the other folds would choose.
        """
        problem = _Problem.of_few(tally, few) if few is not None else _Problem.of(tally, *rows)
        folds = [] if choice is None else choice.left_out
        parts = [problem.left_out(group) for group in _groups(folds, tally.statistic.weight)]
        solutions = logistic_regressions(
            problem.blocks, problem.statistic, max(relative, _LEAST_ALPHA), _PENALTY, [None, *parts]
        )
        scores, kept = _Scores(folds, tally.targets), []  # type: ignore[arg-type]
        if choice is not None and not self.is_forced:
            scores.add(choice.outputs)
            kept.append(None)
        whole = None
        for look, (whole, *others) in enumerate(solutions, start=1):
            tell(Phase.LOSS, f"look {look} of at most {self.looks[-1]}")
            if look not in self.looks:
                continue
            kept.append(whole)
            if choice is not None:
                scores.add(np.concatenate([_outputs(*pair) for pair in zip(parts, others, strict=True)]))
                if len(kept) - 1 - scores.best(since=kept.count(None)) >= _PATIENCE:
                    break
            if look == self.looks[-1]:
                break
        best = kept[-1 if choice is None else scores.best()]
        solution = None if best is None else problem.restored(best)
        return LogisticModel(solution, None if choice is None else scores.judged(choice, not self.is_forced))


class _Scores:
    """Errors and losses of the rows of every fold, of one solution after another."""

    def __init__(self, folds: Sequence[HeldOutFold], targets: ClassTargets):
        self.folds, self.targets = folds, targets
        self.outputs: list[NDArray] = []
        self.errors: list[NDArray] = []  # mean of every fold
        self.losses: list[NDArray] = []
        self._fold = np.repeat(np.arange(len(folds)), [len(fold.y) for fold in folds])

    def add(self, outputs: NDArray) -> None:
        """Score the outputs for the rows of all folds, at their best temperature."""
        y, weight = (np.concatenate([fold[i] for fold in self.folds]) for i in (1, 2))
        scores = self.targets.decoded(outputs.astype(np.float64))
        losses = tempered_losses(scores, self.targets.numbers(y), weight)
        sums = np.bincount(self._fold, weight)
        self.outputs.append(outputs)
        self.errors.append(np.bincount(self._fold, weight * self.targets.errors(outputs, y)) / sums)
        self.losses.append(np.bincount(self._fold, weight * losses) / sums)

    def best(self, without: int | None = None, since: int = 0) -> int:
        """Return the best solution, perhaps by all folds but one: by error times loss, as few errors tell little."""
        weight = np.array([fold.weight.sum() for fold in self.folds])
        if without is not None and weight.size > 1:
            weight[without] = 0
        errors, losses = (np.array(of) @ weight / weight.sum() for of in (self.errors, self.losses))
        values = np.log(errors + 0.5 / self._fold.size) + np.log(losses + 1e-12)
        return since + int(np.argmin(values[since:]))

    def judged(self, choice: PenaltyChoice, has_squares: bool) -> PenaltyChoice:
        """Return the choice of a penalty with the errors, and the outputs that calibrate, of what was chosen."""
        best, by_others = self.best(), [self.best(without=fold) for fold in range(len(self.folds))]
        errors = np.array([self.errors[j][fold] for fold, j in enumerate(by_others)])
        outputs = self.outputs[best].copy()
        for fold, j in enumerate(by_others):
            if not has_squares or (j > 0) == (best > 0):  # outputs of one loss are of one scale
                outputs[self._fold == fold] = self.outputs[j][self._fold == fold]
        is_logistic = best > 0 or not has_squares
        error = np.average(errors, weights=[fold.weight.sum() for fold in self.folds])
        results = choice.results | {"error": float(error), "error_by_fold": errors}
        return choice._replace(results=results, outputs=outputs.astype(np.float64), is_logistic=is_logistic)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Features of all rows and their statistic.

    Parameters
    ----------
    tally : Tally
    blocks : sequence of functions
    statistic : NormalEquations
    mean, axes : ndarrays or None
        Features are shifted by the mean and projected to the axes.
    """

    tally: Tally
    blocks: Blocks
    statistic: NormalEquations
    mean: NDArray[np.float64] | None = None
    axes: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, tally: Tally, X: Any, y: NDArray, weight: NDArray | None) -> Self:
        """Return the problem of rows. Their features are kept if they fit in memory, else mapped at every look."""
        features, encoded, width = tally.features, tally.targets.encoded, tally.statistic.cross.shape[0]
        weight = np.ones(X.shape[0]) if weight is None else weight
        free = available_memory()
        if free is not None and 4 * X.shape[0] * width > _MEMORY_SHARE * free:

            def mapped(part: slice) -> WeightedRows:
                return WeightedRows(features(X[part]).astype(np.float32), encoded(y[part]), weight[part])

            return cls(tally, [partial(mapped, part) for part in cut(X.shape[0], _BLOCK_ROWS)], tally.statistic)
        Z = np.empty((X.shape[0], width), np.float32)
        for part in cut(X.shape[0], 4 * _BLOCK_ROWS):
            Z[part] = features(X[part])
        return cls(tally, blocks_of(Z, encoded(y), weight), tally.statistic)

    @classmethod
    def of_few(cls, tally: Tally, few: FewRows) -> Self:
        """Return the problem of few rows on axes of the space that they span: no more than there are rows."""
        weight, encoded = few.sample.weight, tally.targets.encoded(few.sample.y)
        mean, axes = few.space.axes(few.features)
        Z = (few.features - mean) @ axes
        return cls(tally, blocks_of(Z, encoded, weight), NormalEquations.of(Z, encoded, weight), mean, axes)

    def left_out(self, folds: Sequence[HeldOutFold]) -> WeightedRows:
        """Return the rows of folds that are left out together."""
        Z = np.concatenate([self.tally.features(fold.X) for fold in folds])
        Z = Z.astype(np.float32) if self.axes is None else (Z - self.mean) @ self.axes
        y, weight = (np.concatenate([fold[i] for fold in folds]) for i in (1, 2))
        return WeightedRows(Z, self.tally.targets.encoded(y), weight)

    def restored(self, solution: Solution) -> Solution:
        """Return the solution for the features themselves."""
        if self.axes is None:
            return solution
        coef = solution.coef @ self.axes.T
        return Solution(coef, solution.intercept - coef @ self.mean)


def is_logistic_tried(tally: Tally, choice: PenaltyChoice | None) -> bool:
    """Tell whether the logistic loss is asked for, or can be compared with the squared one in reasonable time."""
    if tally.targets.loss != "auto":
        return tally.targets.loss == "logistic"
    return choice is not None and tally.targets.n_columns <= MOST_CLASSES and not tally.statistic.packed


def refuse_one_look(targets: Targets) -> None:
    """Refuse the logistic loss where rows are looked at only once."""
    if targets.loss == "logistic":
        raise ValueError("loss must be 'squared' or 'auto' for rows that are looked at once, got 'logistic': use fit.")


def _outputs(rows: WeightedRows, solution: Solution) -> NDArray:
    """Return the outputs for rows that were left out."""
    return multiply(rows.Z, solution.coef.T.astype(rows.Z.dtype)) + solution.intercept


def _groups(folds: Sequence[HeldOutFold], weight: float) -> list[Sequence[HeldOutFold]]:
    """Return the folds that are left out together: all of them where they are few of the rows."""
    held = sum(float(fold.weight.sum()) for fold in folds)
    if not folds:
        return []
    return [folds] if held <= _ONE_SPLIT * weight else [[fold] for fold in folds]
