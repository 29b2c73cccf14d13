"""Parameters of estimators in files: what a model was made with, so that a clone of it learns the same again."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from craftmaps._system.fields import DamagedError, Fields, is_text
from craftmaps.learners.persistence.fitted_parts import kernel_to_plain
from craftmaps.learners.persistence.rebuilt_kernels import SAVED_KERNELS, kernel_from_plain
from craftmaps.maps.catalogue import SAVED_MAPS
from craftmaps.shaping.category_columns import CategoryColumns
from craftmaps.shaping.chosen_metric import ChosenMetric
from craftmaps.shaping.covariance_metric import CovarianceMetric
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.quantile_columns import QuantileColumns
from craftmaps.shaping.row_shaping import steps_of

# Transformers that may be parameters. Their constructors only store what they are given.
_PARTS: dict[str, type[BaseEstimator]] = SAVED_MAPS | {
    part.__name__: part
    for part in (ChosenMetric, CategoryColumns, CovarianceMetric, GradientMetric, QuantileColumns, StandardScaler)
}


class _Unstorable(Exception):  # noqa: N818
    """A parameter that a file cannot hold."""


def parameters_to_plain(estimator: BaseEstimator) -> dict[str, Any]:
    """Describe the parameters that a file can hold; splits and transformers from elsewhere are left out."""
    plain = {}
    for name, value in estimator.get_params(deep=False).items():
        try:
            plain[name] = _to_plain(value)
        except _Unstorable:
            continue
    return plain


def set_parameters(estimator: BaseEstimator, fields: Fields) -> None:
    """Set the parameters of a new estimator as a file has them."""
    known = estimator.get_params(deep=False)
    for name in fields:
        if name not in known:
            raise fields.refuse(name, "a parameter of the model")
        setattr(estimator, name, _from_plain(fields, name))


def _to_plain(value: Any) -> Any:
    """Return a parameter as JSON takes it."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if type(value) in SAVED_KERNELS.values():
        return kernel_to_plain(value)
    if isinstance(value, dict):
        return {"labels": [_to_label(key) for key in value], "weights": [float(weight) for weight in value.values()]}
    if isinstance(value, Pipeline):
        return {"class": "Pipeline", "steps": {str(i): _to_plain(step) for i, step in enumerate(steps_of(value))}}
    if type(value) in _PARTS.values():
        parameters = {name: _to_plain(inner) for name, inner in value.get_params(deep=False).items()}
        return {"class": type(value).__name__, "parameters": parameters}
    if isinstance(value, list | tuple) and any(isinstance(item, str) for item in value):
        return {"columns": [_to_column(item) for item in value]}
    try:
        numbers = np.asarray(value)
    except ValueError:  # lists of unlike lengths, such as splits
        raise _Unstorable from None
    if not 1 <= numbers.ndim <= 2 or numbers.dtype.kind not in "fiu" or not np.isfinite(numbers).all():
        raise _Unstorable
    return {"numbers": numbers.tolist()}


def _from_plain(fields: Fields, name: str) -> Any:
    """Return a parameter, whose value the estimator checks itself when it is used."""
    value = fields.value(name)
    if value is None or isinstance(value, bool | int | float) or is_text(value):
        return value
    if not isinstance(value, dict):
        raise fields.refuse(name, "a parameter")
    plain = fields.object(name)
    if "numbers" in plain:
        plain.only(["numbers"])
        return _numbers(plain)
    if "columns" in plain:
        return _columns(plain)
    if "labels" in plain:
        return _weights(plain)
    if plain.value("class") == "Pipeline":
        steps = plain.object("steps")
        return make_pipeline(*(_from_plain(steps, name) for name in steps))
    if plain.value("class") not in _PARTS:
        return kernel_from_plain(fields, name)
    part = _PARTS[plain.value("class")]()
    set_parameters(part, plain.object("parameters"))
    return part


def _to_column(column: Any) -> str | int:
    """Return the name or the position of a column as JSON takes it."""
    if not isinstance(column, str | Integral):
        raise _Unstorable
    return column if isinstance(column, str) else int(column)


def _columns(fields: Fields) -> list[str | int]:
    """Return names and positions of columns."""
    fields.only(["columns"])
    columns = fields.value("columns")
    if not isinstance(columns, list) or not all(type(column) is int or is_text(column) for column in columns):
        raise fields.refuse("columns", "a list of names and positions")
    return columns


def _to_label(label: Any) -> Any:
    """Return the label of a class as JSON takes it."""
    label = label.item() if isinstance(label, np.generic) else label
    if not isinstance(label, bool | int | float | str):
        raise _Unstorable
    return label


def _weights(fields: Fields) -> dict[Any, float]:
    """Return weights of classes by their labels."""
    fields.only(["labels", "weights"])
    labels, weights = fields.value("labels"), fields.value("weights")
    if not (isinstance(labels, list) and isinstance(weights, list) and len(labels) == len(weights)):
        raise fields.refuse("labels", "a list with a weight for each label")
    if not all(isinstance(label, bool | int | float) or is_text(label) for label in labels):
        raise fields.refuse("labels", "a list of labels")
    if not all(type(weight) is float and 0 < weight < np.inf for weight in weights):
        raise fields.refuse("weights", "a list of finite numbers above 0")
    return dict(zip(labels, weights, strict=True))


def _numbers(fields: Fields) -> Any:
    """Return a list or a matrix of numbers."""
    value = fields.value("numbers")
    if isinstance(value, list) and all(type(number) is int for number in value):
        return value
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise fields.refuse("numbers", "a list or a matrix of numbers") from None
    if numbers.ndim > 2 or not np.isfinite(numbers).all():
        raise DamagedError(f"{fields.path('numbers')} must be a list or a matrix of finite numbers")
    return numbers.tolist() if numbers.ndim < 2 else numbers
