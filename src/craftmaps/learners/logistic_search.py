"""The logistic loss: a few more looks at the rows, from the tally's solution, and whether they are worth it.

Least squares punishes outputs that are too good, and classes far from the boundary bend it. Where the rows are still
at hand after the pass, a few quasi-Newton steps, with the Gram matrix of the tally as their Hessian, mend that.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from craftmaps._system.progress import Phase, tell
from craftmaps.learners.few_rows import FewRows
from craftmaps.learners.held_out import HeldOutFold, stack_rows
from craftmaps.learners.left_out_scores import LeftOutScores, left_out_together
from craftmaps.learners.penalty_race import PenaltyChoice
from craftmaps.learners.rows_again import RowsAgain, kept_features
from craftmaps.learners.tally import Tally
from craftmaps.learners.targets import Targets
from craftmaps.least_squares.logistic_steps import logistic_regressions
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.least_squares.ridge_path import Solution
from craftmaps.least_squares.row_looks import RowSource, WeightedRows
from craftmaps.least_squares.stored_features import Features

MOST_CLASSES = 32  # with more, looks take longer than the pass
_LOOKS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)  # after which solutions are compared
_LARGE, _MOST_LARGE_LOOKS = 2**27, 16  # rows times features from which the last looks cost more than they bring
_PATIENCE = 2
_TELLING_LOOKS, _HOPELESS = 6, 0.4  # so far behind squares after so many looks, the loss does not catch up
# Of the preconditioner: a float32 factor of a matrix closer to singular leads steps astray.
PENALTY, _LEAST_ALPHA = 1e-5, 1e-3


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
        self, tally: Tally, rows: RowsAgain, relative: float, choice: PenaltyChoice | None, few: FewRows | None
    ) -> LogisticModel:
        """Return the logistic model of all rows of a tally.

        `relative` is the penalty of the squared loss. The number of looks is chosen on rows left out, and the error
        that is reported for a fold is that of the solution which the other folds would choose. Folds of few rows are
        those of the held-out sample.
        """
        folds = [] if choice is None else choice.left_out
        problem = _Problem.of(tally, folds, rows) if few is None else _Problem.of_few(tally, folds, few)
        groups = left_out_together(folds, tally.statistic.weight)
        parts = [problem.left_out(group, folds, tally.targets) for group in groups]
        solutions = logistic_regressions(
            problem.rows, problem.statistic, max(relative, _LEAST_ALPHA), PENALTY, [None, *parts]
        )
        n_numbers = tally.n_rows * tally.statistic.cross.shape[0]
        found = self.compare(solutions, [part.Z for part in parts], tally.targets, n_numbers, choice)
        return found if found.solution is None else found._replace(solution=problem.restored(found.solution))

    def compare(
        self,
        solutions: Iterator[list[Solution]],
        left_out: Sequence[Features],
        targets: Targets,
        n_numbers: int,
        choice: PenaltyChoice | None,
    ) -> LogisticModel:
        """Return the best of the solutions after some looks, and of the squares that a choice is of.

        Parameters
        ----------
        solutions : iterator
            After each look the solution of all rows, and one without each group of rows that is left out.
        left_out : sequence of Features
            The features of these groups.
        targets : Targets
        n_numbers : int
            Rows times features.
        choice : PenaltyChoice or None
            None takes the solution after the last look.
        """
        scores, kept = LeftOutScores([] if choice is None else choice.left_out, targets), []
        is_large = n_numbers > _LARGE
        looks = [look for look in self.looks if not is_large or look <= _MOST_LARGE_LOOKS]
        if choice is not None and not self.is_forced:
            scores.add(choice.outputs)
            kept.append(None)
        whole = None
        for look, (whole, *others) in enumerate(solutions, start=1):
            tell(Phase.LOSS, f"look {look} of at most {looks[-1]}")
            if look not in looks:
                continue
            kept.append(whole)
            if choice is not None:
                scores.add(np.concatenate([s.outputs(Z) for Z, s in zip(left_out, others, strict=True)]))
                if len(kept) - 1 - scores.best(since=kept.count(None)) >= _PATIENCE:
                    break
                if kept[0] is None and look >= _TELLING_LOOKS and scores.lead_of_first() > _HOPELESS:
                    break
            if look == looks[-1]:
                break
        best = kept[-1 if choice is None else scores.best()]
        if choice is not None:
            choice = _judged(choice, scores, [solution is None for solution in kept])
        return LogisticModel(best, choice)


def _judged(choice: PenaltyChoice, scores: LeftOutScores, are_squares: list[bool]) -> PenaltyChoice:
    """Return the choice of a penalty with the errors, and the outputs that calibrate, of what was chosen."""
    errors, outputs = scores.honest(are_squares)
    error = float(np.average(errors, weights=scores.fold_weights))
    return choice._replace(results=choice.results | {"error": error, "error_by_fold": errors}, outputs=outputs)


class _Problem(NamedTuple):
    """All rows, their statistic, the features of a fold, and the way from solutions to the map's features.

    For few rows they are coordinates on axes of the space that these span: no more than there are rows.
    """

    rows: RowSource
    statistic: NormalEquations
    features_of: Callable[[Sequence[int]], Features]
    restored: Callable[[Solution], Solution]

    @classmethod
    def of(cls, tally: Tally, folds: Sequence[HeldOutFold], rows: RowsAgain) -> Self:
        """Return the problem of rows."""

        def features_of(group: Sequence[int]) -> Features:
            return kept_features(tally, stack_rows([folds[i].X for i in group]))

        return cls(rows.through(tally), tally.statistic, features_of, lambda solution: solution)

    @classmethod
    def of_few(cls, tally: Tally, folds: Sequence[HeldOutFold], few: FewRows) -> Self:
        """Return the problem of few rows, all of which are in the held-out sample."""
        weight, encoded, Z = few.sample.weight, tally.targets.encoded(few.sample.y), few.space.coordinates()
        entries = [] if tally.held_out is None or not folds else [e for e, _ in tally.held_out.deal(len(folds))]
        return cls(
            WeightedRows(Z, encoded, weight).in_blocks(),
            NormalEquations.of(Z, encoded, weight),
            lambda group: Z[np.concatenate([entries[i] for i in group])],
            lambda solution: few.space.from_coordinates(solution, few.features),
        )

    def left_out(self, group: Sequence[int], folds: Sequence[HeldOutFold], targets: Targets) -> WeightedRows:
        """Return the rows of folds that are left out together."""
        y, weight = (np.concatenate([folds[i].y for i in group]), np.concatenate([folds[i].weight for i in group]))
        return WeightedRows(self.features_of(group), targets.encoded(y), weight)


def is_logistic_tried(targets: Targets, choice: PenaltyChoice | None, is_packed: bool = False) -> bool:
    """Tell whether the logistic loss is asked for, or can be compared with the squared one in reasonable time."""
    if targets.loss != "auto":
        return targets.loss == "logistic"
    return choice is not None and targets.n_columns <= MOST_CLASSES and not is_packed


def refuse_one_look(targets: Targets) -> None:
    """Refuse what needs all rows at once, where they are looked at in parts and only once."""
    targets.weighted(np.empty(0, getattr(targets, "classes", np.empty(0)).dtype), None)
    refuse_logistic(targets)


def refuse_logistic(targets: Targets) -> None:
    """Refuse the logistic loss where rows are looked at only once."""
    if targets.loss == "logistic":
        raise ValueError("loss must be 'squared' or 'auto' for rows that are looked at once, got 'logistic': use fit.")
