"""Looking at the rows of a part again, on a worker, after all parts were tallied."""

from copy import copy
from dataclasses import dataclass
from typing import Any

from craftmaps.learners.counting import n_rows_of
from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.parameters import checked_rows
from craftmaps.learners.rows_again import RowsAtHand
from craftmaps.learners.tally import Tally
from craftmaps.least_squares.row_looks import Look, WeightedRows


@dataclass(frozen=True, eq=False)
class Looking:
    """What a worker does with rows at a look; it pickles, and is the same on every worker.

    Parameters
    ----------
    settled : OnePassEstimator
        As `to_ship` returns it, with room for the labels of all rows.
    """

    settled: OnePassEstimator

    @classmethod
    def of(cls, settled: OnePassEstimator, tally: Tally) -> "Looking":
        """Return how to look at the rows of a tally by a settled estimator."""
        light = copy(settled)
        light._pass = copy(settled._going_on())
        light._pass.replace_tally(tally.emptied())
        return cls(light)

    def mapped(self, X: Any, y: Any, sample_weight: Any = None) -> WeightedRows | None:
        """Return rows with their features, to be kept; None if no row counts."""
        rows = self._rows(X, y, sample_weight)
        return None if rows is None else rows.mapped(self.settled.tally_)

    def look(self, look: Look, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Return what rows come to at a look, mapped a few at a time; None if no row counts."""
        rows = self._rows(X, y, sample_weight)
        return None if rows is None else rows.through(self.settled.tally_).added_up(look)

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> RowsAtHand | None:
        """Validate rows."""
        if not n_rows_of(X):
            return None
        rows = checked_rows(self.settled, X, y, sample_weight, reset=False)
        if not rows.kept.size:
            return None
        _, y = self.settled.tally_.targets.taking(rows.y)
        return RowsAtHand(rows.X, y, rows.weight, memory=0)
