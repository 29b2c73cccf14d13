"""Looks at the rows of a DataFrame again, after the tally: one job each."""

from typing import Any, NamedTuple

from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.looking import Looking
from craftmaps.learners.tally import Tally
from craftmaps.least_squares.row_looks import Look
from craftmaps.spark.passes import Passes


class DataFrameAgain(NamedTuple):
    """All rows of a DataFrame, and the settled estimator as `to_ship` returns it."""

    passes: Passes
    settled: OnePassEstimator

    def through(self, tally: Tally) -> "DataFrameLooks":
        """Return the rows, to be read and mapped at every look."""
        return DataFrameLooks(self.passes, Looking.of(self.settled, tally))


class DataFrameLooks(NamedTuple):
    """Passes over rows, and what a task does with its rows at a look."""

    passes: Passes
    looking: Looking

    def added_up(self, look: Look) -> Any:
        """Return the sum of a look at all rows."""
        return self.passes.look(self.looking, look)
