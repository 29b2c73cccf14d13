"""The area under the ROC curve, for rows that come block by block."""

import numpy as np
from numpy.typing import NDArray

MOST_KEPT = 2**22
_BINS, _FEWEST_BINS = 2**20, 2**8  # of all classes together; of a class
_LARGEST_LOG_ODDS = 30.0


class RankedProbabilities:
    """Probabilities of classes, ranked: how often a row of a class comes before a row of another one.

    Of two classes only the probability of the second is used. Up to `most_kept` probabilities are kept and the areas
    are exact, ties counting half. Beyond, log-odds between -30 and 30 are counted in bins of equal width, up to 2^20
    for all classes together, and rows of one bin are ties.

    Parameters
    ----------
    n_classes : int
    most_kept : int, default=2**22
        Probabilities to keep, at four bytes each.
    """

    def __init__(self, n_classes: int, most_kept: int = MOST_KEPT):
        self._columns = [1] if n_classes == 2 else list(range(n_classes))
        self._most_kept = most_kept
        self._kept: list[tuple[NDArray, NDArray, NDArray]] = []
        self._n_kept = 0
        self._counts: NDArray[np.float64] | None = None  # (2, columns, bins): of other rows, of the class

    @property
    def is_exact(self) -> bool:
        """Whether all probabilities are kept."""
        return self._counts is None

    def add(self, probabilities: NDArray, labels: NDArray[np.int64], weight: NDArray[np.float64]) -> None:
        """Add rows; a label is the number of a class, or -1 if it is no class."""
        scores = probabilities[:, self._columns]
        if self._counts is not None:
            self._count(scores, labels, weight)
            return
        self._kept.append((scores.astype(np.float32), labels.astype(np.int32), weight))
        self._n_kept += scores.size
        if self._n_kept > self._most_kept:
            n_bins = max(_BINS // len(self._columns), _FEWEST_BINS)
            self._counts = np.zeros((2, len(self._columns), n_bins))
            for block in self._kept:
                self._count(*block)
            self._kept = []

    def areas(self) -> dict[int, float]:
        """Return the area of every class that some rows have and others do not; of two classes, of the second."""
        found = {}
        if self._counts is None and self._kept:
            scores, labels, weight = (np.concatenate(parts) for parts in zip(*self._kept, strict=True))
        for k, column in enumerate(self._columns):
            if self._counts is None:
                place = np.unique(scores[:, k], return_inverse=True)[1]
                of_class = np.bincount(place, weight * (labels == column))
                of_others = np.bincount(place, weight * (labels != column))
            else:
                of_others, of_class = self._counts[:, k]
            pairs = of_class.sum() * of_others.sum()
            if pairs > 0:
                below = np.cumsum(of_others) - of_others / 2
                found[column] = float(of_class @ below / pairs)
        return found

    def _count(self, scores: NDArray, labels: NDArray, weight: NDArray[np.float64]) -> None:
        """Count rows in bins of log-odds."""
        assert self._counts is not None
        n_bins = self._counts.shape[2]
        p = np.minimum(scores.astype(np.float64), 1.0)
        with np.errstate(divide="ignore"):
            odds = np.clip(np.log(p) - np.log1p(-p), -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)
        places = np.minimum(((odds / _LARGEST_LOG_ODDS + 1) / 2 * n_bins).astype(np.int64), n_bins - 1)
        for k, column in enumerate(self._columns):
            code = places[:, k] + n_bins * (labels == column)
            self._counts[:, k] += np.bincount(code, weight, 2 * n_bins).reshape(2, n_bins)
