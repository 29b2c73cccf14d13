"""Tallies of fewer rows than features: solved in the space of rows, with closed-form leave-one-out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from craftmaps.learners.held_out import Sample
from craftmaps.learners.tally import Tally
from craftmaps.least_squares.ridge_path import Solution
from craftmaps.least_squares.row_space import RowSpace
from craftmaps.least_squares.square_gram import FEW_ROWS


@dataclass(frozen=True, eq=False)
class FewRows:
    """The rows of a tally whose held-out sample has all of them, and their ridge regressions.

    Parameters
    ----------
    sample : Sample
    features : ndarray of shape (n_entries, n_features)
    space : RowSpace
    """

    sample: Sample
    features: NDArray
    space: RowSpace

    @classmethod
    def of(cls, tally: Tally, fit_intercept: bool = True) -> "FewRows | None":
        """Return the rows of a tally, or None if there are too many, or not all of them are at hand."""
        held_out, n_features = tally.held_out, tally.statistic.cross.shape[0]
        if held_out is None or not fit_intercept or tally.features.penalty is not None:
            return None
        sample = held_out.sample
        if sample is None or tally.n_rows > min(n_features, FEW_ROWS) or int(sample.count.sum()) != tally.n_rows:
            return None
        Z = tally.features(sample.X)
        return cls(sample, Z, RowSpace.of(Z, tally.targets.encoded(sample.y), sample.weight))

    def left_out(self, alpha: float) -> NDArray[np.float64]:
        """Return the outputs for every row from all others; of equal rows one is left out."""
        return self.space.left_out(self.above_rounding(alpha), self.sample.count)

    def solve(self, alpha: float) -> Solution:
        """Return the solution of all rows."""
        return self.space.solve(self.above_rounding(alpha), self.features)

    def above_rounding(self, alpha: float) -> float:
        """Return an alpha that is no less than the rounding errors of products of features.

        What these make of directions that no row has fits the rows, left out or not, and ruins all others.
        """
        return max(alpha, float(np.finfo(self.features.dtype).eps) * self.space.trace)
