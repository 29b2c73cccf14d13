"""What one look at all rows finds out before any is counted: a value that adds up."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from craftmaps.learners.held_out import ALL_ROWS
from craftmaps.learners.survey import Survey


@dataclass(frozen=True, eq=False)
class LowestHashes:
    """The smallest different hashes of rows with their targets, sorted, as many as the sample of all rows can need.

    Parameters
    ----------
    size : int
        Rows of the held-out sample, and the most rows that choices spend: these are kept besides and do not count.
    hashes : ndarray of uint64
    """

    size: int
    hashes: NDArray[np.uint64]

    @classmethod
    def of(cls, hashes: NDArray[np.uint64], size: int) -> "LowestHashes":
        """Keep the smallest of some hashes."""
        if hashes.size > size:
            hashes = hashes[hashes <= np.partition(hashes, size - 1)[size - 1]]
        return cls(size, np.unique(hashes)[:size])

    def __add__(self, other: "LowestHashes") -> "LowestHashes":
        return LowestHashes.of(np.concatenate([self.hashes, other.hashes]), self.size)

    @property
    def theta(self) -> int:
        """A hash that no row of the held-out sample of all rows is above."""
        return ALL_ROWS if self.hashes.size < self.size else int(self.hashes[-1])


@dataclass(frozen=True, eq=False)
class Prepass:
    """The survey that features are settled on, a bound on the held-out sample, and perhaps sums over classes.

    Parameters
    ----------
    survey : Survey
    lowest : LowestHashes or None
        None if nothing is held out, or if not all rows are looked at.
    class_sums : ndarray of shape (n_classes,), optional
        Weights of the rows of each class, if weights of classes depend on them.
    """

    survey: Survey
    lowest: LowestHashes | None
    class_sums: NDArray[np.float64] | None = None

    def __add__(self, other: "Prepass") -> "Prepass":
        lowest = None if self.lowest is None or other.lowest is None else self.lowest + other.lowest
        survey, sums = self.survey + other.survey, None
        if self.class_sums is not None and other.class_sums is not None:
            sums = np.zeros(survey.targets.n_columns)
            sums[self.survey.targets.places(survey.targets)] += self.class_sums
            sums[other.survey.targets.places(survey.targets)] += other.class_sums
        return Prepass(survey, lowest, sums)

    @property
    def known_survey(self) -> Survey:
        """The survey with the weights of classes that the rows give, if any depend on them."""
        if self.class_sums is None:
            return self.survey
        return replace(self.survey, targets=self.survey.targets.knowing(self.class_sums))

    @property
    def n_rows(self) -> int:
        """The number of rows looked at."""
        return self.survey.n_rows

    @property
    def theta(self) -> int:
        """The largest hash that workers need to keep rows of: all of them together keep little more than the sample."""
        return ALL_ROWS if self.lowest is None else self.lowest.theta
