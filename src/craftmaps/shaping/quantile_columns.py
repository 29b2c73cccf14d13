"""Scores of columns by bounded tables: quantiles of a normal or uniform distribution, or standardised values."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from scipy.special import ndtri
from sklearn.utils import check_scalar

from craftmaps._system.threads import for_row_blocks
from craftmaps.kernels import Rows
from craftmaps.maps.feature_map import FeatureMap, check_choice

DISTRIBUTIONS = ("normal", "uniform", "same")
_MOST_ROWS = 16384
_BLOCK_ROWS = 1024
_LARGEST = 1e300
_ROUNDING = 1e-12


class QuantileColumns(FeatureMap):
    r"""Replace every column by scores of mean 0 and variance 1, none far beyond those of the training rows.

    A value with the share :math:`p` of the training rows below it, equal ones counted half, becomes
    :math:`\Phi^{-1}(p)`, the normal quantile, or :math:`p` itself. The scores of a column are then shifted and
    scaled to mean 0 and variance 1, so a column of two levels becomes what standardisation makes of it.
    Between the knots of a table of bounded size scores are linear, and beyond its ends they are constant: a single
    cell of 1e6 changes the scores of others by one rank, and no score exceeds those of the training rows.
    A row costs :math:`O(d \log n\_knots)`.

    The distribution "same" keeps that of the column: scores are standardised values, cut off where they are further
    from the training rows than these are from each other. A cell of 1e6 in a new row then cannot dominate a model.

    Parameters
    ----------
    distribution : {"normal", "uniform", "same"}, default="normal"
        What the scores of a column without ties follow.
    n_knots : int, default=256
        Size of the table of each column, at least 2. A column with at most as many levels has a knot at every level.
        Standardised values are a line between two knots.
    center : bool, default=True
        Whether scores have mean 0. Without it zeros are kept, and CSR rows stay CSR.

    Attributes
    ----------
    knots_ : ndarray of shape (n_features_in_, n_knots), dtype float64
        Values, ascending; the largest is repeated where a column needs fewer.
    scores_ : ndarray of shape (n_features_in_, n_knots), dtype float64
        Their scores; zeros for a constant column.

    Examples
    --------
    >>> import numpy as np
    >>> from craftmaps.shaping.quantile_columns import QuantileColumns
    >>> X = np.array([[0.0, 1.0], [1.0, 10.0], [0.0, 100.0], [1.0, 1e6]])
    >>> QuantileColumns().fit_transform(X).round(2)
    array([[-1.  , -1.36],
           [ 1.  , -0.38],
           [-1.  ,  0.38],
           [ 1.  ,  1.36]])
    """

    def __init__(self, distribution: str = "normal", n_knots: int = 256, *, center: bool = True):
        self.distribution = distribution
        self.n_knots = n_knots
        self.center = center

    def fit(self, X: Rows, y: None = None) -> Self:
        """Learn the table of each column; of more than 16,384 rows, from evenly spaced ones."""
        X = self._validated(X)
        check_choice("distribution", self.distribution, DISTRIBUTIONS)
        check_scalar(self.n_knots, "n_knots", Integral, min_val=2)
        check_choice("center", self.center, (True, False))
        X = evenly_spaced(X)
        columns = X.tocsc() if issparse(X) else X
        tables = [self._table(_column(columns, j)) for j in range(X.shape[1])]
        self.knots_ = np.array([knots for knots, _ in tables])
        self.scores_ = np.array([scores for _, scores in tables])
        return self

    def _table(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the knots and scores of a column."""
        if self.distribution == "same":
            return self._padded(*self._line(values))
        levels, counts = np.unique(values, return_counts=True)
        below = np.cumsum(counts) - counts
        shares = (below + 0.5 * counts) / values.size
        scores = ndtri(shares) if self.distribution == "normal" else shares - 0.5
        mean = np.average(scores, weights=counts)
        spread = np.sqrt(np.average((scores - mean) ** 2, weights=counts))
        scores = (scores - mean) / (spread if levels.size > 1 else 1.0)
        if levels.size > self.n_knots:  # levels whose scores are evenly spaced, and both ends
            wanted = np.linspace(scores[0], scores[-1], int(self.n_knots))
            kept = np.unique(np.searchsorted(scores, wanted * (1 - 1e-12)).clip(0, levels.size - 1))
            levels, scores = levels[kept], scores[kept]
        if not self.center:
            scores = scores - np.interp(0.0, levels, scores)
        return self._padded(levels, scores)

    def _padded(self, knots: NDArray, scores: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a table of full size, the last entry repeated."""
        pad = (0, int(self.n_knots) - knots.size)
        return np.pad(knots, pad, mode="edge"), np.pad(scores, pad, mode="edge")

    def _line(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return two knots, a range beyond the values on either side, and their standardised values."""
        low, high = float(values.min()), float(values.max())
        if not self.center:  # zeros are kept, so they must lie between the knots
            low, high = min(low, 0.0), max(high, 0.0)
        with np.errstate(over="ignore"):  # infinite spread: zeros
            center, spread = values.mean() if self.center else 0.0, values.std()
            knots = np.array([low, high]) + (high - low) * np.array([-1.0, 1.0])
        knots = knots.clip(-_LARGEST, _LARGEST)
        # Rounding makes a constant column spread by its last digit.
        is_constant = not _ROUNDING * max(abs(low), abs(high)) < spread < np.inf
        return knots, np.zeros(2) if is_constant else (knots - center) / spread

    def _transform_rows(self, X: Any) -> Any:
        """Map validated rows."""
        if issparse(X):
            return self._transform_sparse(X) if not self.center else self._transform_rows(X.toarray())
        out = np.empty(X.shape, X.dtype)

        def block(start: int, stop: int) -> None:
            rows = np.array(X[start:stop].T, dtype=np.float64, order="C")  # a copy: scores are computed in place
            if self.distribution == "same":
                out[start:stop] = self._on_lines(rows).T
                return
            for j, values in enumerate(rows):
                out[start:stop, j] = np.interp(values, self.knots_[j], self.scores_[j])

        for_row_blocks(block, X.shape[0], _BLOCK_ROWS)
        return out

    def _on_lines(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of cells on a line between two knots, in place: searching a table takes longer."""
        low, high = self.knots_[:, [0]], self.knots_[:, [-1]]
        first, last = self.scores_[:, [0]], self.scores_[:, [-1]]
        slope = np.divide(last - first, high - low, out=np.zeros_like(low), where=high > low)
        np.clip(columns, low, high, out=columns)
        columns -= low
        columns *= slope
        columns += first
        return columns

    def _transform_sparse(self, X: Any) -> csr_matrix:
        """Map the stored cells of CSR rows: all others are zero and stay so."""
        columns = X.tocsc(copy=True)
        for j in range(X.shape[1]):
            cells = slice(columns.indptr[j], columns.indptr[j + 1])
            columns.data[cells] = np.interp(columns.data[cells], self.knots_[j], self.scores_[j])
        return columns.tocsr()

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_


def evenly_spaced(X: Any) -> Any:
    """Return at most 16,384 rows for tables to be learned from."""
    return X[:: -(-X.shape[0] // _MOST_ROWS)]


def _column(X: Any, j: int) -> NDArray[np.float64]:
    """Return a column of dense or CSC rows."""
    if not issparse(X):
        return X[:, j].astype(np.float64)
    cells = X.data[X.indptr[j] : X.indptr[j + 1]].astype(np.float64)
    return np.concatenate([cells, np.zeros(X.shape[0] - cells.size)])
