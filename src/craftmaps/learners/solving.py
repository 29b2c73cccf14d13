"""From a tally to a model: choose the penalty, solve, and perhaps go on with the logistic loss."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from craftmaps._system.progress import Phase, tell
from craftmaps.learners.few_rows import FewRows
from craftmaps.learners.fitted_model import FittedModel, Solved
from craftmaps.learners.held_out import HeldOutFold
from craftmaps.learners.logistic_search import LogisticSearch, is_logistic_tried, refuse_one_look
from craftmaps.learners.penalty_search import PenaltySearch
from craftmaps.learners.rows_again import RowsAgain
from craftmaps.learners.tally import Tally


@dataclass(frozen=True)
class Solver:
    """How a tally is solved.

    Parameters
    ----------
    alphas : sequence of float
        Penalties to compare, in units of the mean diagonal of the centred Gram matrix.
    fit_intercept : bool
    cv : int, splits or None
        As in `CraftClassifier`.
    """

    alphas: Sequence[float]
    fit_intercept: bool
    cv: Any

    def solve(self, tally: Tally, folds: list[HeldOutFold] | None = None, rows: RowsAgain | None = None) -> Solved:
        """Choose alpha, on given folds or on those of the held-out sample, and solve.

        If all rows can be looked at again, classes may be learned with the logistic loss.
        """
        if rows is None:
            refuse_one_look(tally.targets)
        few, choice = FewRows.of(tally, self.fit_intercept), None
        if self.cv is not None:
            n_folds = int(self.cv) if isinstance(self.cv, Integral) else None
            choice = PenaltySearch(self.alphas, self.fit_intercept, n_folds).choose(tally, folds, few)
        relative, logistic = self.alphas[0] if choice is None else choice.relative, None
        if rows is not None and is_logistic_tried(tally.targets, choice, tally.statistic.packed):
            search = LogisticSearch(is_forced=tally.targets.loss == "logistic")
            logistic, choice = search.run(tally, rows, relative, choice, few if folds is None else None)
        tell(Phase.SOLUTION)
        model = FittedModel.solved(tally, relative, self.fit_intercept, choice, few, logistic)
        return Solved(model, None if choice is None else choice.results)
