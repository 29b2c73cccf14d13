"""From raw rows to features: what every row goes through before it is counted."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from craftmaps._rows.canonical import unit_rows
from craftmaps.maps.feature_map import FeatureMap


@dataclass(frozen=True, eq=False)
class LinearColumns:
    """Columns of the rows that stand beside the features of a map, so that what is linear need not be estimated.

    Parameters
    ----------
    columns : fitted transformer or None
        Scales the columns.
    scale : float
        A factor for all of them.
    """

    columns: Any = None
    scale: float = 1.0

    def __call__(self, X: Any) -> NDArray[np.floating]:
        """Return the columns of validated rows."""
        rows = X if self.columns is None else apply(self.columns, X)
        return ((rows.toarray() if issparse(rows) else rows) * self.scale).astype(X.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class RowFeatures:
    """The way of a row: metric, length, feature map.

    Parameters
    ----------
    metric : fitted transformer or None
        Turns raw rows into rows worth comparing. A pipeline applies several, one after the other.
    scale : float or None
        Factor for all rows; None scales every row to unit length, and leaves rows of zeros.
    feature_map : fitted transformer or None
        None leaves the shaped rows as they are.
    linear : LinearColumns or None
        Columns that follow the features of the map.
    """

    metric: Any = None
    scale: float | None = None
    feature_map: Any = None
    linear: LinearColumns | None = None

    def shape_rows(self, X: Any) -> Any:
        """Return the rows as the feature map sees them."""
        dtype = X.dtype
        if self.metric is not None:
            X = apply(self.metric, X)
        if self.scale is None:
            X = unit_rows(X)
        elif self.scale != 1:
            X = X * dtype.type(self.scale)
        return X.astype(dtype, copy=False)

    def difference(self, other: "RowFeatures") -> str | None:
        """Name a part in which two ways differ, if there is one."""
        if self is other:
            return None
        for name in ("scale", "metric", "feature_map", "linear"):
            if not same(getattr(self, name), getattr(other, name)):
                return name
        return None

    def width(self, X: Any) -> int:
        """Return the number of features; of a foreign map a row shows it."""
        if isinstance(self.feature_map, FeatureMap) and self.linear is None:
            return self.feature_map._n_features_out
        return self(X[:1]).shape[1]

    @property
    def penalty(self) -> NDArray[np.float64] | None:
        """The matrix that a ridge penalty on the coefficients uses; None is the identity."""
        penalty = self.feature_map._penalty() if isinstance(self.feature_map, FeatureMap) else None
        if penalty is not None and self.linear is not None:
            raise ValueError("linear_columns must be False beside a map that is not whitened.")
        return penalty

    def __call__(self, X: Any, out: NDArray | None = None) -> NDArray[np.floating]:
        """Return the features of validated rows.

        `out`, an array of their dtype with at least as many rows, may be reused for them: fresh memory is slow.
        """
        if self.linear is not None:
            return np.hstack([replace(self, linear=None)(X), self.linear(X)])
        if not isinstance(self.feature_map, FeatureMap):
            return self._by_a_foreign_map(X)
        out = _room(out, X, self.feature_map._n_features_out)
        self.feature_map._transform_into(self.shape_rows(X), out)
        return out

    def unfinished(self, X: Any, width: int, out: NDArray | None = None) -> NDArray[np.floating]:
        """Return the features of the map before its last linear step, which is folded into weights."""
        if not isinstance(self.feature_map, FeatureMap):
            return self._by_a_foreign_map(X)
        out = _room(out, X, width)
        self.feature_map._unfinished_into(self.shape_rows(X), out)
        return out

    def _by_a_foreign_map(self, X: Any) -> NDArray[np.floating]:
        """Return the features of rows by a transformer from elsewhere, or the shaped rows if there is none."""
        dtype, X = X.dtype, self.shape_rows(X)
        Z = X if self.feature_map is None else self.feature_map.transform(X)
        return (Z.toarray() if issparse(Z) else np.asarray(Z)).astype(dtype, copy=False)


def _room(out: NDArray | None, X: Any, width: int) -> NDArray[np.floating]:
    """Return an array for the features of rows, in given memory if they fit there."""
    if out is None or out.shape[0] < X.shape[0] or out.shape[1] != width or out.dtype != X.dtype:
        return np.empty((X.shape[0], width), X.dtype)
    return out[: X.shape[0]]


def same(one: Any, two: Any) -> bool:
    """Tell whether two fitted transformers, or their attributes, are equal."""
    if type(one) is not type(two):
        return False
    if isinstance(one, np.ndarray):
        return one.shape == two.shape and bool(np.array_equal(one, two))
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(same(a, b) for a, b in zip(one, two, strict=True))
    if issparse(one):
        return one.shape == two.shape and (one != two).nnz == 0
    if isinstance(one, BaseEstimator) or type(one).__module__.startswith("craftmaps."):
        return same(vars(one), vars(two))
    return one is two or bool(one == two)


def apply(transformer: Any, X: Any) -> Any:
    """Transform validated rows and leave the given ones unchanged."""
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            X = apply(step, X)
        return X
    if isinstance(transformer, FeatureMap):
        return transformer._transform_rows(X)
    if isinstance(transformer, StandardScaler) and transformer.with_mean and issparse(X):
        X = X.toarray()
    elif getattr(transformer, "copy", True) is False:
        X = X.copy()
    return transformer.transform(X)
