"""Metrics, and the whole way from rows to features, rebuilt from model files; maps are in `rebuilt_maps`.

A file is not trusted: every value is checked for its type and against all others before anything is computed.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from craftmaps._system.fields import DamagedError, Fields
from craftmaps.learners.persistence.rebuilt_maps import checked_map
from craftmaps.maps.catalogue import SAVED_MAPS
from craftmaps.maps.drawing_costs import WIDEST_ROWS
from craftmaps.maps.feature_map import SeededMap
from craftmaps.shaping.category_columns import LARGEST_LEVEL, CategoryColumns
from craftmaps.shaping.covariance_metric import CovarianceMetric
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.quantile_columns import DISTRIBUTIONS, QuantileColumns
from craftmaps.shaping.row_features import LinearColumns, RowFeatures

_METRICS: dict[str, Any] = {
    part.__name__: part for part in (CategoryColumns, CovarianceMetric, GradientMetric, QuantileColumns, StandardScaler)
}


class Checked(NamedTuple):
    """A checked metric or map of rows of `width` numbers to rows of `n_out`; `make` returns it, drawn."""

    width: int
    n_out: int
    make: Callable[[], Any]


def checked_features(fields: Fields, n_features: int, n_out: int | None = None) -> Callable[[], RowFeatures]:
    """Check a metric, a scale and a map of rows of `n_features` to `n_out` features; return a function that draws it.

    Without `n_out` any number of features is accepted.
    """
    scale = None if fields.value("scale") is None else fields.number("scale", above=0.0)
    width, makers = n_features, []
    for name in ("metric", "feature_map"):
        if fields.value(name) is None:
            makers.append(lambda: None)
            continue
        part = _checked(fields.object(name))
        if part.width != width:
            raise DamagedError(f"{fields.path(name)} is for rows of {part.width} numbers, but gets rows of {width}")
        width = part.n_out
        makers.append(part.make)
    linear, n_linear = _checked_linear(fields, n_features)
    if n_out is not None and width + n_linear != n_out:
        given = width + n_linear
        raise DamagedError(f"{fields.path('feature_map')} gives {given} features, but there are weights for {n_out}")
    return lambda: RowFeatures(makers[0](), scale, makers[1](), linear)


def _checked_linear(fields: Fields, n_features: int) -> tuple[LinearColumns | None, int]:
    """Return the columns beside a map, and how many they are."""
    if "linear" not in fields:
        return None, 0
    if fields.value("feature_map") is None:
        raise DamagedError(f"{fields.path('linear')} must stand beside a map")
    linear = fields.object("linear")
    scale, columns, n_linear = linear.number("scale", above=0.0), None, n_features
    if linear.value("columns") is not None:
        part = _checked(linear.object("columns"))
        columns, n_linear = part.make(), part.n_out
        if part.width != n_features or (n_linear != n_features and not isinstance(columns, CategoryColumns)):
            raise DamagedError(f"{linear.path('columns')} must be for {n_features} columns")
    return LinearColumns(columns, scale), n_linear


def names_from_plain(learner: Any, fields: Fields) -> None:
    """Set the column names of a learner, if the file has them."""
    if "feature_names" in fields and fields.value("feature_names") is not None:
        names = fields.texts("feature_names", learner.n_features_in_)
        learner.feature_names_in_ = np.array(names, dtype=object)


def _checked(fields: Fields) -> Checked:
    """Check a metric or a map."""
    name = fields.one_of("class", (*SAVED_MAPS, *_METRICS, "Pipeline"))
    if name == "Pipeline":
        return _checked_pipeline(fields.object("steps"))
    if name not in _METRICS:
        feature_map = checked_map(fields)
        return Checked(feature_map.n_features_in_, feature_map._n_features_out, lambda: _drawn(feature_map))
    width, parameters = fields.whole("n_features_in_", 1, WIDEST_ROWS), fields.object("parameters")
    parameters.only(_METRICS[name]().get_params())
    metric, n_out = _CHECKS.get(name, _checked_linear_metric)(
        _METRICS[name], parameters, fields.object("learned"), width
    )
    metric.n_features_in_ = width
    return Checked(width, n_out, lambda: metric)


def _checked_pipeline(steps: Fields) -> Checked:
    """Check metrics that follow each other."""
    n_steps = len(list(steps))
    steps.only(map(str, range(n_steps)))
    parts = [_checked(steps.object(str(i))) for i in range(n_steps)]
    if not 1 <= n_steps <= _MOST_STEPS or any(a.n_out != b.width for a, b in pairwise(parts)):
        raise DamagedError(f"{steps.path('')} must be 1 to {_MOST_STEPS} metrics, each of the width that comes to it")
    return Checked(parts[0].width, parts[-1].n_out, lambda: make_pipeline(*(part.make() for part in parts)))


def _drawn(feature_map: SeededMap) -> SeededMap:
    """Draw a checked map."""
    feature_map._draw()
    return feature_map


def _checked_linear_metric(metric_class: type, parameters: Fields, learned: Fields, width: int) -> tuple[Any, int]:
    """Return a metric that is a matrix, and its number of axes."""
    defaults = metric_class().get_params()
    for name in parameters:
        if name == "n_components":
            _ = parameters.value(name) is None or parameters.whole(name, 1)
        elif isinstance(defaults[name], bool):
            parameters.flag(name)
        else:
            parameters.number(name)
    values = {"mean_": learned.array("mean_", (width,)), "components_": learned.array("components_", (None, width))}
    n_axes = len(values["components_"])
    if metric_class is CovarianceMetric:
        values["eigenvalues_"] = learned.array("eigenvalues_", (n_axes,))
    learned.only(values)
    n_components = parameters.value("n_components")
    if not 1 <= n_axes <= width or (n_components is not None and n_axes != min(n_components, width)):
        raise learned.refuse("components_", f"{n_components or f'1 to {width}'} axes of {width} numbers")
    return _fitted(metric_class, parameters, values), n_axes


def _checked_scaler(scaler_class: type, parameters: Fields, learned: Fields, width: int) -> tuple[Any, int]:
    """Return scikit-learn's scaler, with the means and scales that its parameters call for, and its width."""
    with_mean, with_std = parameters.flag("with_mean"), parameters.flag("with_std")
    parameters.flag("copy")
    learned.only(["mean_", "scale_", "var_"])
    values: dict[str, Any] = {"n_samples_seen_": 1}
    for name, is_needed in {"mean_": with_mean, "scale_": with_std, "var_": False}.items():
        is_absent = learned.value(name) is None and not is_needed
        values[name] = None if is_absent else learned.array(name, (width,))
    if values["scale_"] is not None and not (values["scale_"] > 0).all():
        raise learned.refuse("scale_", "above zero")
    return _fitted(scaler_class, parameters, values), width


def _checked_quantiles(columns_class: type, parameters: Fields, learned: Fields, width: int) -> tuple[Any, int]:
    """Return quantile scores of columns, whose tables must rise."""
    parameters.one_of("distribution", DISTRIBUTIONS)
    parameters.flag("center")
    values = _checked_tables(learned, width, parameters.whole("n_knots", 2))
    learned.only(values)
    return _fitted(columns_class, parameters, values), width


def _checked_tables(learned: Fields, width: int, n_knots: int) -> dict[str, Any]:
    """Return the tables of columns."""
    values = {name: learned.array(name, (width, n_knots), (np.float64,)) for name in ("knots_", "scores_")}
    for name, table in values.items():
        if (np.diff(table, axis=1) < 0).any():
            raise learned.refuse(name, "ascending")
    return values


def _checked_categories(columns_class: type, parameters: Fields, learned: Fields, width: int) -> tuple[Any, int]:
    """Return indicators of categories beside scores of the other columns, and how many columns they are."""
    categories = parameters.value("categories")
    if not (isinstance(categories, list) and all(type(j) is int and 0 <= j < width for j in categories)):
        raise parameters.refuse("categories", f"a list of positions from 0 to {width - 1}")
    distribution = parameters.one_of("distribution", (*DISTRIBUTIONS, None))
    n_knots, n_levels = parameters.whole("n_knots", 2), parameters.whole("n_levels", 1)
    parameters.flag("center")
    columns = learned.array("columns_", (None,), (np.int64,))
    levels, values = (learned.array(name, (columns.size,), (np.float64,)) for name in ("levels_", "values_"))
    counts = np.unique(columns, return_counts=True)
    if (np.diff(columns) < 0).any() or set(counts[0]) != set(categories) or counts[1].max(initial=0) > n_levels:
        raise learned.refuse("columns_", f"the categories, ascending, each at most {n_levels} times")
    is_whole = (levels == np.round(levels)).all() and np.abs(levels).max(initial=0.0) <= LARGEST_LEVEL
    if not is_whole or not ((np.diff(levels) > 0) | (np.diff(columns) > 0)).all():
        raise learned.refuse("levels_", f"whole numbers up to {LARGEST_LEVEL}, ascending in each column")
    if not (values > 0).all():
        raise learned.refuse("values_", "above zero")
    n_numbers = width - len(counts[0])
    tables = _checked_tables(learned, 0 if distribution is None else n_numbers, n_knots)
    learned.only({"columns_", "levels_", "values_", *tables})
    found = {"categories": tuple(categories), "columns_": columns, "levels_": levels, "values_": values, **tables}
    return _fitted(columns_class, parameters, found), n_numbers + columns.size


def _fitted(metric_class: type, parameters: Fields, learned: dict[str, Any]) -> Any:
    """Return a metric with checked parameters and fitted attributes."""
    metric = metric_class(**{name: parameters.value(name) for name in parameters})
    for name, value in learned.items():
        setattr(metric, name, value)
    return metric


_CHECKS = {
    "CategoryColumns": _checked_categories,
    "QuantileColumns": _checked_quantiles,
    "StandardScaler": _checked_scaler,
}
_MOST_STEPS = 4
