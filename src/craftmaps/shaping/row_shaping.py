"""How rows are shaped before they are mapped: a metric and a length."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.extmath import row_norms

from craftmaps._system.threads import serial_blas
from craftmaps.shaping.category_columns import CategoryColumns
from craftmaps.shaping.covariance_metric import CovarianceMetric, LinearMetric
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.quantile_columns import QuantileColumns
from craftmaps.shaping.row_features import LinearColumns, RowFeatures

_CARRIED = 0.985


@dataclass(frozen=True, eq=False)
class RowShaping:
    """A metric and a length, asked for but not yet fitted.

    Parameters
    ----------
    metric : transformer or None
        Cloned and fitted; a `GradientMetric` sees the targets too.
    length : True, False, "common" or float
        True scales rows to unit length, False leaves them, a number is a factor for all rows, and "common" is the
        factor that brings their mean squared length to 1.
    n_axes : int, "auto" or None
        Axes of a linear metric; "auto" keeps the axes that carry most of the rows, None all of them.
    """

    metric: Any
    length: Any = True
    n_axes: int | str | None = None

    def fitted_metric(self, X: Any, targets: NDArray[np.float64]) -> Any:
        """Return the metric with all its axes, fitted on rows."""
        if self.metric is None:
            return None
        if looks_at_targets(self.metric):
            return clone(self.metric).fit(X, targets)
        with serial_blas:  # as when choices are made: the axes do not depend on the number of threads
            return clone(self.metric).fit(X)

    def fitted(self, X: Any, metric: Any) -> RowFeatures:
        """Return the shaping of rows by a fitted metric, cut to its axes, without a feature map."""
        *before, last = steps_of(metric) or [None]
        if self.n_axes is not None and isinstance(last, LinearMetric):
            n_axes = _usual_axes(metric, X) if self.n_axes == "auto" else int(self.n_axes)
            last = last.truncated(min(n_axes, last._n_features_out))
            metric = make_pipeline(*before, last) if before else last
        if self.length is True:
            return RowFeatures(metric, None)
        if isinstance(self.length, str):
            return RowFeatures(metric, _common_scale(RowFeatures(metric, 1.0).shape_rows(X)))
        return RowFeatures(metric, float(self.length) if self.length is not False else 1.0)

    def with_categories(self, categories: tuple[int, ...]) -> "RowShaping":
        """Return the same shaping of rows in which some columns have become indicators."""
        if not categories:
            return self
        steps = [CategoryColumns(categories, center=False), *steps_of(self.metric)]
        return replace(self, metric=make_pipeline(*steps) if len(steps) > 1 else steps[0])

    def with_axes(self, n_axes: int | str | None) -> "RowShaping":
        """Return the same shaping with another number of axes."""
        return replace(self, n_axes=n_axes)

    def __str__(self) -> str:
        axes = f", {self.n_axes} axes" if isinstance(self.n_axes, int) else ""
        lengths = {True: "unit length", False: "lengths as they are", "common": "common scale"}
        return f"{described(self.metric)}{axes}, {lengths.get(self.length, f'scale {self.length}')}"


METRICS = ("covariance", "gradient")


def steps_of(metric: Any) -> list[Any]:
    """Return the transformers of a metric, one after the other."""
    if isinstance(metric, Pipeline):
        return [step for _, step in metric.steps]
    return [] if metric is None else [metric]


def looks_at_targets(metric: Any) -> bool:
    """Tell whether a metric is fitted to targets."""
    return any(isinstance(step, GradientMetric) for step in steps_of(metric))


def named_shaping(metric: str | Any, length: Any) -> RowShaping:
    """Return the shaping by a metric: None, a transformer, or one of METRICS with as many axes as carry the rows."""
    if not isinstance(metric, str):
        return RowShaping(metric, length)
    is_gradient = metric == "gradient"
    return RowShaping(
        GradientMetric(normalize=length is True) if is_gradient else CovarianceMetric(normalize=False), length, "auto"
    )


def described(metric: Any) -> str:
    """Name a metric for people.

    Examples
    --------
    >>> described(None), described(CovarianceMetric(0.5)), described(GradientMetric(standardize=True))
    ('rows as they are', 'covariance 0.5', 'gradient 1 standard')
    """
    if metric is None:
        return "rows as they are"
    if isinstance(metric, Pipeline):
        return ", ".join(map(described, steps_of(metric)))
    if isinstance(metric, CovarianceMetric):
        return f"covariance {metric.power:g}"
    if isinstance(metric, GradientMetric):
        return f"gradient {metric.power:g}{' standard' if metric.standardize else ''}"
    if isinstance(metric, CategoryColumns):
        columns = None if metric.distribution is None else QuantileColumns(metric.distribution)
        return f"{'columns as they are' if columns is None else described(columns)} and categories"
    if isinstance(metric, StandardScaler) or (isinstance(metric, QuantileColumns) and metric.distribution == "same"):
        return "standardised columns"
    return f"{metric.distribution} scores" if isinstance(metric, QuantileColumns) else repr(metric)


def first_columns(metric: Any) -> Any:
    """Return the fitted step of a metric that treats columns one by one, or None if there is none."""
    steps = steps_of(metric)
    return steps[0] if steps and isinstance(steps[0], CategoryColumns | QuantileColumns | StandardScaler) else None


def categories_of(metric: Any) -> tuple[int, ...] | None:
    """Return the columns that the first step of a metric makes indicators of, or None if it makes none."""
    first = steps_of(metric)[:1]
    if not first or not isinstance(first[0], CategoryColumns):
        return None
    return tuple(sorted({int(category) for category in first[0].categories}))


def linear_columns(columns: Any, X: Any) -> LinearColumns:
    """Return the columns of rows at a mean squared length of 1."""
    return LinearColumns(columns, _common_scale(LinearColumns(columns)(X)))


def _usual_axes(metric: Any, X: Any) -> int:
    """Return how many axes carry most of the shaped rows, rounded up to a power of two.

    Few are enough: features are better spent on products of the axes that matter.
    """
    energies = np.square(metric.transform(X), dtype=np.float64).sum(axis=0).cumsum()
    needed = int(np.searchsorted(energies, _CARRIED * energies[-1])) + 1
    return min(1 << (needed - 1).bit_length(), energies.size)


def _common_scale(rows: Any) -> float:
    """Return the factor that brings the mean squared length of rows to 1."""
    mean = float(np.mean(row_norms(rows, squared=True), dtype=np.float64))
    return float(1 / np.sqrt(mean)) if mean > 0 else 1.0
