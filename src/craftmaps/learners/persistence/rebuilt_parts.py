"""Metrics, and the whole way from rows to features, rebuilt from model files; maps are in `rebuilt_maps`.

A file is not trusted: every value is checked for its type and against all others before anything is computed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import StandardScaler

from craftmaps._system.fields import DamagedError, Fields
from craftmaps.learners.persistence.rebuilt_maps import checked_map
from craftmaps.maps.catalogue import SAVED_MAPS
from craftmaps.maps.drawing_costs import WIDEST_ROWS
from craftmaps.maps.feature_map import SeededMap
from craftmaps.shaping.covariance_metric import CovarianceMetric
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.row_features import RowFeatures

_METRICS: dict[str, Any] = {part.__name__: part for part in (CovarianceMetric, GradientMetric, StandardScaler)}


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
    if n_out is not None and width != n_out:
        raise DamagedError(f"{fields.path('feature_map')} gives {width} features, but there are weights for {n_out}")
    return lambda: RowFeatures(makers[0](), scale, makers[1]())


def names_from_plain(learner: Any, fields: Fields) -> None:
    """Set the column names of a learner, if the file has them."""
    if "feature_names" in fields and fields.value("feature_names") is not None:
        names = fields.texts("feature_names", learner.n_features_in_)
        learner.feature_names_in_ = np.array(names, dtype=object)


def _checked(fields: Fields) -> Checked:
    """Check a metric or a map."""
    name = fields.one_of("class", (*SAVED_MAPS, *_METRICS))
    if name not in _METRICS:
        feature_map = checked_map(fields)
        return Checked(feature_map.n_features_in_, feature_map._n_features_out, lambda: _drawn(feature_map))
    width, parameters = fields.whole("n_features_in_", 1, WIDEST_ROWS), fields.object("parameters")
    parameters.only(_METRICS[name]().get_params())
    check = _checked_scaler if name == "StandardScaler" else _checked_linear_metric
    metric, n_out = check(_METRICS[name], parameters, fields.object("learned"), width)
    metric.n_features_in_ = width
    return Checked(width, n_out, lambda: metric)


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


def _fitted(metric_class: type, parameters: Fields, learned: dict[str, Any]) -> Any:
    """Return a metric with checked parameters and fitted attributes."""
    metric = metric_class(**{name: parameters.value(name) for name in parameters})
    for name, value in learned.items():
        setattr(metric, name, value)
    return metric
