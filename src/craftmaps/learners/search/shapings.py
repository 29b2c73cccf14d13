"""Shapings: what is done to columns, which axes are taken and whether rows get unit length."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.extmath import row_norms

from craftmaps._rows.canonical import unit_rows
from craftmaps._system.threads import for_each
from craftmaps.shaping.category_columns import CategoryColumns
from craftmaps.shaping.covariance_metric import CovarianceMetric
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.quantile_columns import QuantileColumns

# Widest rows whose axes are looked for: eigenvectors cost the cube of the width.
WIDEST = 2048
_CARRIED = 0.985
_FEWEST_GRADIENT_ROWS = 64
_LARGEST = 1e12  # cells that float32 products can take


@dataclass(frozen=True)
class Shaping:
    """How rows are shaped before they are mapped.

    `columns` is None, "standard", "normal" or "uniform" (quantile scores), or a transformer that was given.
    `axes` is None, "covariance" or "gradient"; axes are scaled by a power of their eigenvalues. `n_axes` None
    keeps as many as carry most of the rows. `unit_gradient` says whether gradients are those of rows of unit length.
    `categories` are positions of columns that become indicators before anything else.
    """

    columns: Any
    axes: str | None = None
    power: float = 1.0
    normalize: bool = False
    n_axes: int | None = None
    unit_gradient: bool = False
    categories: tuple[int, ...] | None = None

    def column_transformer(self, is_sparse: bool = False) -> Any:
        """Return the transformer of columns, not yet fitted, or None."""
        if self.categories is not None:
            return self._categories_and_columns(self.categories, is_sparse)
        if self.columns == "standard":
            # Cells far beyond the rows of the search are cut off: one of 1e6 would dominate powers of dot products.
            return StandardScaler(with_mean=False) if is_sparse else QuantileColumns("same", 2)
        if isinstance(self.columns, str):
            return QuantileColumns(self.columns, center=not is_sparse)
        return None if self.columns is None else clone(self.columns)

    def _categories_and_columns(self, categories: tuple[int, ...], is_sparse: bool) -> Any:
        """Return the transformer that makes indicators of categories, and treats other columns as `columns` says."""
        if self.columns == "standard":
            return CategoryColumns(categories, "same", 2, center=not is_sparse)
        if self.columns is None or isinstance(self.columns, str):
            return CategoryColumns(categories, self.columns, center=not is_sparse)
        return make_pipeline(CategoryColumns(categories, center=False), clone(self.columns))

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
        columns += "" if self.categories is None else " and categories"
        axes = "" if self.axes is None else f", {self.axes} {self.power:g}"
        axes += "" if self.n_axes is None else f" of {self.n_axes} axes"
        return f"{columns}{axes}, {'unit length' if self.normalize else 'common scale'}"


class ShapedRows:
    """The rows of the search as shapings make them; columns and axes are fitted once, on the first rows.

    Parameters
    ----------
    X : ndarray or CSR matrix
        Rows in random order.
    targets : ndarray of shape (n_rows, n_targets)
    n_fit : int
        Transformers are fitted to this many first rows. Scored rows must not be among them if a
        metric looks at labels.
    """

    def __init__(self, X: Any, targets: NDArray[np.float64], n_fit: int):
        self.X, self.targets, self.n_fit = X, targets, n_fit
        self.is_sparse = issparse(X)
        # To compare candidates float32 is enough, and twice as quick, unless products could overflow.
        largest = float(np.abs(X.data if self.is_sparse else X).max(initial=0.0))
        self._dtype = np.float32 if largest < _LARGEST else X.dtype
        self._transformers: dict[Any, Any] = {}
        self._metrics: dict[Any, _Axes] = {}
        self._rows: dict[Any, Any] = {}

    @property
    def has_axes(self) -> bool:
        """Whether axes of the rows can be found in reasonable time."""
        return not self.is_sparse and self.X.shape[1] <= WIDEST and self.n_fit >= _FEWEST_GRADIENT_ROWS

    def prepare(self, shaping: Shaping, n_rows: int) -> None:
        """Fit what a shaping needs and apply it to the first rows, but for powers and lengths."""
        self._prepare_columns(shaping, n_rows)
        if shaping.axes is not None:
            self._prepare_axes(shaping, n_rows)

    def prepare_all(self, shapings: Sequence[Shaping], n_rows: int) -> None:
        """Prepare several shapings side by side: first their columns, then their axes."""
        columns = {_columns_key(shaping): shaping for shaping in shapings}
        for_each(lambda shaping: self._prepare_columns(shaping, n_rows), columns.values())
        with_axes = [shaping for shaping in shapings if shaping.axes is not None]
        for_each(lambda shaping: self._fit_axes(shaping, n_rows), {_key(s): s for s in with_axes}.values())
        widest = {_key(shaping): shaping for shaping in sorted(with_axes, key=self.n_axes_of)}
        for_each(lambda shaping: self._prepare_axes(shaping, n_rows), widest.values())

    def _prepare_columns(self, shaping: Shaping, n_rows: int) -> None:
        """Fit the transformer of columns and apply it."""
        kind = _columns_key(shaping)
        if kind not in self._transformers:
            transformer = shaping.column_transformer(self.is_sparse)
            self._transformers[kind] = transformer and transformer.fit(self.X[: self.n_fit])
        if (kind, n_rows) not in self._rows:
            transformer, rows = self._transformers[kind], self.X[:n_rows]
            shaped = rows if transformer is None else transformer.transform(rows)
            self._rows[kind, n_rows] = shaped.astype(self._dtype, copy=False)

    def _prepare_axes(self, shaping: Shaping, n_rows: int) -> None:
        """Fit axes and apply as many as the shaping takes: of many few are ever looked at."""
        self._fit_axes(shaping, n_rows)
        key, n_axes = _key(shaping), self.n_axes_of(shaping)
        if (key, n_rows) not in self._rows or self._rows[key, n_rows].shape[1] < n_axes:
            metric = self._metrics[key].metric.truncated(n_axes)
            shaped = metric.transform(self._rows[_columns_key(shaping), n_rows])
            self._rows[key, n_rows] = shaped.astype(self._dtype, copy=False)

    def __call__(self, shaping: Shaping, n_rows: int) -> Any:
        """Return the first rows, of unit length or of a mean squared length of 1."""
        self.prepare(shaping, n_rows)
        rows = self._rows[_columns_key(shaping), n_rows]
        if shaping.axes is not None:
            n_axes = self.n_axes_of(shaping)
            scales = self._metrics[_key(shaping)].scales[:n_axes] ** (shaping.power - 1)
            rows = self._rows[_key(shaping), n_rows][:, :n_axes] * scales.astype(rows.dtype)
        if shaping.normalize:
            return unit_rows(rows)
        with np.errstate(over="ignore"):
            mean = float(np.mean(row_norms(rows, squared=True), dtype=np.float64))
        return rows * rows.dtype.type(1 / np.sqrt(mean) if mean > 0 else 1.0)

    def forget(self, n_rows: int) -> None:
        """Free what was kept of so many first rows."""
        self._rows = {key: rows for key, rows in self._rows.items() if key[1] != n_rows}

    def usual_axes(self, shaping: Shaping) -> int:
        """Return how many axes carry most of the shaped rows, rounded up to a power of two.

        Few are enough: features are better spent on products of the axes that matter.
        """
        axes = self._metrics[_key(shaping)]
        energies = (axes.energies * axes.scales ** (2 * shaping.power - 2)).cumsum()
        needed = int(np.searchsorted(energies, _CARRIED * energies[-1])) + 1
        return min(1 << (needed - 1).bit_length(), energies.size)

    def n_axes_of(self, shaping: Shaping) -> int:
        """Return how many axes a shaping takes."""
        return shaping.n_axes or self.usual_axes(shaping)

    def most_axes(self, shaping: Shaping) -> int:
        """Return how many axes a shaping could take."""
        return self._metrics[_key(shaping)].scales.size

    def _fit_axes(self, shaping: Shaping, n_rows: int) -> None:
        """Fit the metric of power 1 to columns that are prepared."""
        if _key(shaping) in self._metrics:
            return
        rows, metric = self._rows[_columns_key(shaping), n_rows][: self.n_fit], replace(shaping, power=1.0).metric()
        if shaping.axes == "gradient":
            metric.fit(rows, self.targets[: len(rows)])
            metric.normalize = False
        else:
            metric.fit(rows)
        lengths = np.sqrt(np.square(metric.components_).sum(axis=1))
        live = lengths > 0
        if not live.any():
            live[0], lengths[0] = True, 1.0
        metric.components_ = metric.components_[live]
        energies = np.square(metric.transform(rows), dtype=np.float64).sum(axis=0)
        self._metrics[_key(shaping)] = _Axes(metric, lengths[live] / lengths.max(), energies)


class _Axes(NamedTuple):
    """A fitted metric of power 1, how long each axis is compared with the first, and the squares of rows along it."""

    metric: Any
    scales: NDArray[np.float64]
    energies: NDArray[np.float64]


def _key(shaping: Shaping) -> tuple:
    """Return what axes depend on: on a length only where a machine was fitted to rows of that length."""
    return (*_columns_key(shaping), shaping.axes, shaping.unit_gradient and shaping.axes == "gradient")


def _columns_key(shaping: Shaping) -> tuple:
    """Return what shaped columns depend on."""
    return (shaping.columns, shaping.categories)
