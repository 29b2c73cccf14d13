"""Categories: indicator columns for the levels of columns of whole numbers, from bounded tables."""

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, issparse
from sklearn.utils import check_scalar
from sklearn.utils.sparsefuncs import mean_variance_axis

from craftmaps._system.threads import for_row_blocks
from craftmaps.kernels import Rows
from craftmaps.maps.feature_map import FeatureMap, check_choice
from craftmaps.shaping.quantile_columns import DISTRIBUTIONS, QuantileColumns, evenly_spaced

LARGEST_LEVEL = 2**24  # whole numbers up to here are exact in single precision, so levels are equal in both precisions
_BLOCK_ROWS = 1024
_FEW_LEVELS = 32
_FIRST_LOOK = 256
_LARGEST_SHARE = 0.95


class CategoryColumns(FeatureMap):
    r"""Replace columns of whole numbers by indicators of their levels, and score the other columns.

    A column of levels with shares :math:`p_l` of the training rows becomes columns that are
    :math:`(\sum_l p_l (1 - p_l))^{-1/2}` where a row has the level, and 0 elsewhere: their variances add up to 1, the
    variance of a score, so no column dominates dot products. Beside columns that stay as they are, they add up to the
    mean variance of these. A level that the training rows do not have becomes zeros. The other columns come first, in
    their order, then the indicators. A row costs one comparison for each level.

    Parameters
    ----------
    categories : sequence of int, default=()
        Positions of the columns whose numbers are names.
    distribution : {"normal", "uniform", "same"} or None, default=None
        How the other columns are scored, as in `QuantileColumns`; None leaves them as they are.
    n_knots : int, default=256
        Size of the tables of the other columns.
    n_levels : int, default=256
        At most how many levels of a column have indicators: the most frequent ones.
    center : bool, default=True
        Whether scores of the other columns have mean 0. Without it zeros are kept, and CSR rows stay CSR.

    Attributes
    ----------
    columns_ : ndarray of shape (n_indicators,), dtype int64
        The column that each indicator looks at.
    levels_ : ndarray of shape (n_indicators,), dtype float64
        The level that it is for.
    values_ : ndarray of shape (n_indicators,), dtype float64
        What it is for rows of that level.
    knots_, scores_ : ndarray of shape (n_scored, n_knots), dtype float64
        The tables of the other columns; without rows if these stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from craftmaps.shaping.category_columns import CategoryColumns
    >>> X = np.array([[0.5, 7.0], [1.5, 2.0], [2.5, 7.0], [3.5, 3.0]])
    >>> columns = CategoryColumns([1], "same").fit(X)
    >>> columns.transform([[2.0, 7.0], [2.0, 4.0]]).round(2)
    array([[0.  , 0.  , 0.  , 1.26],
           [0.  , 0.  , 0.  , 0.  ]])
    """

    def __init__(
        self,
        categories: Sequence[int] = (),
        distribution: str | None = None,
        n_knots: int = 256,
        n_levels: int = 256,
        *,
        center: bool = True,
    ):
        self.categories = categories
        self.distribution = distribution
        self.n_knots = n_knots
        self.n_levels = n_levels
        self.center = center

    def fit(self, X: Rows, y: None = None) -> Self:
        """Learn the levels of categories and the tables of the others; of more than 16,384 rows, from evenly spaced."""
        X = self._validated(X)
        check_choice("distribution", self.distribution, (*DISTRIBUTIONS, None))
        check_scalar(self.n_knots, "n_knots", Integral, min_val=2)
        check_scalar(self.n_levels, "n_levels", Integral, min_val=1)
        check_choice("center", self.center, (True, False))
        categories = checked_positions(self.categories, X.shape[1])
        X = evenly_spaced(X)
        tables = [self._indicators(j, column(X, j)) for j in categories]
        self.columns_ = np.repeat(np.array(categories, np.int64), [levels.size for levels, _ in tables])
        self.levels_ = np.concatenate([np.empty(0), *(levels for levels, _ in tables)])
        numbers = np.setdiff1d(np.arange(X.shape[1]), categories)
        unit = _usual_spread(X[:, numbers]) if self.distribution is None else 1.0
        self.values_ = unit * np.concatenate([np.empty(0), *(values for _, values in tables)])
        self.knots_ = self.scores_ = np.empty((0, int(self.n_knots)))
        if self.distribution is not None and numbers.size:
            scored = QuantileColumns(self.distribution, self.n_knots, center=self.center).fit(X[:, numbers])
            self.knots_, self.scores_ = scored.knots_, scored.scores_
        return self

    def _indicators(self, j: int, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the levels of a column, and the values of their indicators."""
        is_whole = (np.abs(values) <= LARGEST_LEVEL) & (values == np.round(values))
        if not is_whole.all():
            raise ValueError(
                f"categories must be columns of whole numbers from {-LARGEST_LEVEL} to {LARGEST_LEVEL}, got "
                f"{values[~is_whole][0]:g} in column {j}."
            )
        levels, counts = np.unique(values, return_counts=True)
        kept = np.sort(np.argsort(-counts, kind="stable")[: int(self.n_levels)])
        shares = counts[kept] / values.size
        variance = float(shares @ (1 - shares))
        return levels[kept], np.full(kept.size, 1 / np.sqrt(variance) if variance > 0 else 1.0)

    @property
    def numbers_(self) -> NDArray[np.int64]:
        """Positions of the columns that are no categories."""
        return np.setdiff1d(np.arange(self.n_features_in_), checked_positions(self.categories, self.n_features_in_))

    def _transform_rows(self, X: Any) -> Any:
        """Map validated rows."""
        if issparse(X):
            return self._transform_sparse(X) if not self.center else self._transform_rows(X.toarray())
        numbers = self.numbers_
        out = np.empty((X.shape[0], self._n_features_out), X.dtype)
        # float32 values, so that indicators of float32 rows are those of exports
        values = self.values_.astype(X.dtype)

        def block(start: int, stop: int) -> None:
            rows = X[start:stop]
            out[start:stop, : numbers.size] = self._scored(rows[:, numbers])
            np.multiply(rows[:, self.columns_] == self.levels_, values, out=out[start:stop, numbers.size :])

        for_row_blocks(block, X.shape[0], _BLOCK_ROWS)
        return out

    def _transform_sparse(self, X: Any) -> csr_matrix:
        """Map CSR rows; a cell that is not stored has the level 0."""
        numbers, categories = self.numbers_, np.unique(self.columns_)
        cells = X[:, categories].toarray()[:, np.searchsorted(categories, self.columns_)]
        indicators = csr_matrix((cells == self.levels_) * self.values_.astype(X.dtype))
        return csr_matrix(hstack([self._scored(X[:, numbers]), indicators], format="csr", dtype=X.dtype))

    def _scored(self, numbers: Any) -> Any:
        """Return the scores of the columns that are no categories."""
        if not len(self.knots_):
            return numbers
        scored = QuantileColumns(self.distribution, self.n_knots, center=self.center)  # type: ignore[arg-type]
        scored.knots_, scored.scores_, scored.n_features_in_ = self.knots_, self.scores_, len(self.knots_)
        return scored._transform_rows(numbers)

    @property
    def _n_features_out(self) -> int:
        return self.numbers_.size + self.levels_.size


def _usual_spread(X: Any) -> float:
    """Return the root of the mean variance of columns, 1 if there are none or all are constant."""
    if not X.shape[1]:
        return 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        variances = mean_variance_axis(X, axis=0)[1] if issparse(X) else np.var(X, axis=0, dtype=np.float64)
        variance = float(np.mean(variances, dtype=np.float64))
    return float(np.sqrt(variance)) if 0 < variance < np.inf else 1.0


def check_categories(categories: Any) -> None:
    """Refuse what is neither None, "auto" nor a list of positions and names."""
    if categories is None or (isinstance(categories, str) and categories == "auto"):
        return
    if isinstance(categories, str) or not (hasattr(categories, "__iter__") and hasattr(categories, "__len__")):
        raise TypeError(f"categories must be None, 'auto' or a list of columns, got {categories!r}.")
    for category in categories:
        is_whole = isinstance(category, Real) and not isinstance(category, bool) and float(category).is_integer()
        if not (isinstance(category, str) or (is_whole and float(category) >= 0)):
            raise ValueError(f"categories must be names of columns, or positions from 0, got {category!r}.")


def checked_positions(categories: Any, n_features: int, names: Iterable[str] | None = None) -> tuple[int, ...]:
    """Return positions of columns, ascending, from positions or names."""
    check_categories(categories)
    places = {} if names is None else {name: j for j, name in enumerate(names)}
    found = set()
    for category in categories:
        if isinstance(category, str) and category not in places:
            known = "rows have none" if names is None else "which X does not have"
            raise ValueError(f"categories must be columns of X, got the name {category!r}, {known}.")
        position = places[category] if isinstance(category, str) else int(category)
        if position >= n_features:
            raise ValueError(f"categories must be positions from 0 to {n_features - 1}, got {position}.")
        found.add(position)
    return tuple(sorted(found))


def likely_categories(X: Any, most_columns: int) -> tuple[int, ...]:
    """Return the columns whose numbers could be names: whole, of 3 to 32 levels, none of which nearly all rows have.

    Empty if their indicators and the other columns would be more than `most_columns`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.column_stack([np.arange(60) % 5, np.arange(60) % 2, np.arange(60) / 7])
    >>> likely_categories(X, 100), likely_categories(X, 6)
    ((0,), ())
    """
    n_levels = {j: _n_levels(column(X, j)) for j in range(X.shape[1])} if X.shape[1] <= most_columns else {}
    likely = {j: n for j, n in n_levels.items() if n}
    width = X.shape[1] - len(likely) + sum(likely.values())
    return tuple(likely) if width <= most_columns else ()


def _n_levels(values: NDArray[np.float64]) -> int:
    """Return the number of levels of a column whose numbers could be names, 0 of others."""
    if np.unique(values[:_FIRST_LOOK]).size > _FEW_LEVELS:
        return 0
    levels, counts = np.unique(values, return_counts=True)
    is_whole = bool((levels == np.round(levels)).all()) and float(np.abs(levels).max(initial=0.0)) <= LARGEST_LEVEL
    is_likely = 2 < levels.size <= _FEW_LEVELS and is_whole and counts.max() <= _LARGEST_SHARE * values.size
    return levels.size if is_likely else 0


def column(X: Any, j: int) -> NDArray[np.float64]:
    """Return a column of dense or CSR rows."""
    return np.asarray(X[:, [j]].toarray() if issparse(X) else X[:, [j]], dtype=np.float64).ravel()
