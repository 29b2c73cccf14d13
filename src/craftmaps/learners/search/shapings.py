"""Shapings: what is done to columns, which axes are taken and whether rows get unit length."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.extmath import row_norms

from craftmaps._rows.canonical import unit_rows
from craftmaps.shaping.covariance_metric import CovarianceMetric
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.quantile_columns import QuantileColumns

# Widest rows whose axes are looked for: eigenvectors cost the cube of the width.
WIDEST = 2048
_CARRIED = 0.985
_GRADIENT_ROWS = 3072
_FEWEST_GRADIENT_ROWS = 64


@dataclass(frozen=True)
class Shaping:
    """How rows are shaped before they are mapped.

    `columns` is None, "standard", "normal" or "uniform" (quantile scores), or a transformer that was given.
    `axes` is None, "covariance" or "gradient"; axes are scaled by a power of their eigenvalues. `n_axes` None
    keeps as many as carry most of the rows. `unit_gradient` says whether gradients are those of rows of unit length.
    """

    columns: Any
    axes: str | None = None
    power: float = 1.0
    normalize: bool = False
    n_axes: int | None = None
    unit_gradient: bool = False

    def column_transformer(self, is_sparse: bool = False) -> Any:
        """Return the transformer of columns, not yet fitted, or None."""
        if self.columns == "standard":
            return StandardScaler(with_mean=not is_sparse)
        if isinstance(self.columns, str):
            return QuantileColumns(self.columns, center=not is_sparse)
        return None if self.columns is None else clone(self.columns)

    def metric(self, n_axes: int | None = None) -> Any:
        """Return the metric that follows the columns, not yet fitted, or None."""
        if self.axes == "covariance":
            return CovarianceMetric(self.power, n_axes, normalize=False)
        if self.axes == "gradient":
            return GradientMetric(self.power, n_axes, normalize=self.unit_gradient)
        return None

    def with_axes(self, axes: str, power: float, normalize: bool) -> "Shaping":
        """Return the same columns with axes, those of gradients for the length that columns had before."""
        return replace(self, axes=axes, power=power, normalize=normalize, unit_gradient=self.normalize)

    def __str__(self) -> str:
        names = {None: "columns as they are", "standard": "standardised columns"}
        columns = names.get(self.columns) if not isinstance(self.columns, str) or self.columns in names else None
        columns = columns or (f"{self.columns} scores" if isinstance(self.columns, str) else str(self.columns))
        axes = "" if self.axes is None else f", {self.axes} {self.power:g}"
        axes += "" if self.n_axes is None else f" of {self.n_axes} axes"
        return f"{columns}{axes}, {'unit length' if self.normalize else 'common scale'}"


class _Axes(NamedTuple):
    """Rows in the axes of a metric of power 1, and how much longer each axis is than the first."""

    rows: NDArray[np.floating]
    scales: NDArray[np.floating]


class ShapedRows:
    """The rows of the search as shapings make them; columns and axes are fitted once.

    Parameters
    ----------
    X : ndarray or CSR matrix
        Rows in random order.
    targets : ndarray of shape (n_rows, n_targets)
    n_train : int
        How many rows, the first ones, a metric that looks at labels may see.
    """

    def __init__(self, X: Any, targets: NDArray[np.float64], n_train: int):
        self.X, self.targets, self.n_train = X, targets, n_train
        self.is_sparse = issparse(X)
        self._columns: dict[Any, Any] = {}
        self._axes: dict[Any, _Axes] = {}

    @property
    def has_axes(self) -> bool:
        """Whether axes of the rows can be found in reasonable time."""
        return not self.is_sparse and self.X.shape[1] <= WIDEST and self.n_train >= _FEWEST_GRADIENT_ROWS

    def prepare(self, shaping: Shaping) -> None:
        """Fit whatever a shaping needs."""
        if shaping.columns not in self._columns:
            transformer = shaping.column_transformer(self.is_sparse)
            rows = self.X if transformer is None else transformer.fit_transform(self.X)
            self._columns[shaping.columns] = rows.astype(self.X.dtype, copy=False)
        key = self._key(shaping)
        if shaping.axes is not None and key not in self._axes:
            self._axes[key] = self._fit_axes(shaping)

    def __call__(self, shaping: Shaping) -> Any:
        """Return the rows, of unit length or of a mean squared length of 1."""
        self.prepare(shaping)
        rows = self._columns[shaping.columns]
        if shaping.axes is not None:
            axes = self._axes[self._key(shaping)]
            n_axes = shaping.n_axes or self.usual_axes(shaping)
            scales = axes.scales[:n_axes] ** (shaping.power - 1)
            rows = axes.rows[:, :n_axes] * scales.astype(axes.rows.dtype)
        if shaping.normalize:
            return unit_rows(rows)
        with np.errstate(over="ignore"):
            mean = float(np.mean(row_norms(rows, squared=True), dtype=np.float64))
        return rows * rows.dtype.type(1 / np.sqrt(mean) if mean > 0 else 1.0)

    def usual_axes(self, shaping: Shaping) -> int:
        """Return how many axes carry most of the shaped rows, rounded up to a power of two.

        Few are enough: features are better spent on products of the axes that matter.
        """
        axes = self._axes[self._key(shaping)]
        energies = np.square(axes.rows, dtype=np.float64).sum(axis=0) * axes.scales ** (2 * shaping.power - 2)
        energies = energies.cumsum()
        needed = int(np.searchsorted(energies, _CARRIED * energies[-1])) + 1
        return min(1 << (needed - 1).bit_length(), energies.size)

    @staticmethod
    def _key(shaping: Shaping) -> tuple:
        """Return what axes depend on: on the length only where a machine was fitted to rows of that length."""
        return (shaping.columns, shaping.axes, shaping.unit_gradient and shaping.axes == "gradient")

    def _fit_axes(self, shaping: Shaping) -> _Axes:
        """Fit the metric of power 1."""
        rows, metric = self._columns[shaping.columns], replace(shaping, power=1.0).metric()
        if shaping.axes == "covariance":
            metric.fit(rows[: self.n_train])
        else:
            n_rows = min(self.n_train, _GRADIENT_ROWS)
            metric.fit(rows[:n_rows], self.targets[:n_rows])
            metric.normalize = False
        lengths = np.sqrt(np.square(metric.components_).sum(axis=1))
        live = lengths > 0
        metric.components_ = metric.components_[live]
        return _Axes(metric.transform(rows), lengths[live] / lengths.max(initial=1e-300))
