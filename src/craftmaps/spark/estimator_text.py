"""An estimator before it is fitted as JSON text, as the parameters of Spark ML are stored."""

import json
from typing import Any

import numpy as np

from craftmaps._system.fields import DamagedError, Fields
from craftmaps.kernels import DotProductKernel
from craftmaps.learners import CraftClassifier, CraftRegressor
from craftmaps.learners.persistence.rebuilt_kernels import kernel_from_plain

_CLASSES = {"CraftClassifier": CraftClassifier, "CraftRegressor": CraftRegressor}


def to_text(estimator: Any) -> str:
    """Return class and parameters of an estimator."""
    name = type(estimator).__name__
    if _CLASSES.get(name) is not type(estimator):
        raise TypeError(f"estimator must be a CraftClassifier or a CraftRegressor, got {estimator!r}.")
    parameters = {key: _plain(key, value) for key, value in estimator.get_params(deep=False).items()}
    return json.dumps({"class": name, "parameters": parameters})


def from_text(text: str) -> Any:
    """Return the estimator that `to_text` described."""
    try:
        fields = Fields(json.loads(text), "estimator")
        name, parameters = fields.one_of("class", tuple(_CLASSES)), fields.object("parameters")
        values = {key: parameters.value(key) for key in parameters}
        if isinstance(values.get("kernel"), dict):
            values["kernel"] = kernel_from_plain(parameters, "kernel")
        return _CLASSES[name](**values)
    except (DamagedError, ValueError, TypeError) as error:
        raise ValueError(f"estimator must be an estimator, or one as text, got {text[:80]!r}: {error}.") from None


def _plain(name: str, value: Any) -> Any:
    """Return a parameter as JSON takes it."""
    if isinstance(value, DotProductKernel):
        kernel = {key: _plain(key, inner) for key, inner in value.get_params(deep=False).items()}
        return {"class": type(value).__name__, "parameters": kernel}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    value = list(value) if isinstance(value, tuple) else value
    try:
        json.dumps(value)
    except TypeError:
        raise TypeError(
            f"{name} must be a number, a name, a list of numbers or a kernel to be kept by Spark ML, got {value!r}."
        ) from None
    return value
