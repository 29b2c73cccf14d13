"""Fitted maps and metrics as plain data for model files; `rebuilt_maps` and `rebuilt_parts` read them.

Maps are drawn again from their seed, so a file holds their parameters, width, seed and state, but no draws.
Only classes of this library and scikit-learn's `StandardScaler` can be saved.
"""

from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from craftmaps.kernels import DotProductKernel
from craftmaps.learners.persistence.rebuilt_kernels import SAVED_KERNELS
from craftmaps.learners.persistence.rebuilt_maps import BESIDE_LEARNED
from craftmaps.learners.persistence.stored_rows import rows_to_plain
from craftmaps.maps.catalogue import SAVED_MAPS
from craftmaps.maps.feature_map import SeededMap
from craftmaps.shaping.category_columns import CategoryColumns
from craftmaps.shaping.covariance_metric import CovarianceMetric
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.quantile_columns import QuantileColumns
from craftmaps.shaping.row_features import RowFeatures
from craftmaps.shaping.row_shaping import steps_of

# Fitted attributes of metrics.
_LEARNED = {
    CategoryColumns: ("columns_", "levels_", "values_", "knots_", "scores_"),
    CovarianceMetric: ("mean_", "components_", "eigenvalues_"),
    GradientMetric: ("mean_", "components_"),
    QuantileColumns: ("knots_", "scores_"),
    StandardScaler: ("mean_", "scale_", "var_"),
}


def features_to_plain(features: RowFeatures) -> dict[str, Any]:
    """Describe metric, scale and map; arrays stay arrays."""
    plain = {
        "scale": None if features.scale is None else float(features.scale),
        "metric": _part_to_plain(features.metric),
        "feature_map": _part_to_plain(features.feature_map),
    }
    if features.linear is not None:
        plain["linear"] = {
            "columns": _part_to_plain(features.linear.columns),
            "scale": float(features.linear.scale),
        }
    return plain


def refuse_foreign(part: Any) -> None:
    """Refuse a map or a metric, fitted or not, or a kernel that a file cannot describe."""
    if part is None or isinstance(part, str):
        return
    if isinstance(part, Pipeline):
        for step in steps_of(part):
            refuse_foreign(step)
        return
    if type(part) not in (*_LEARNED, *SAVED_MAPS.values(), *SAVED_KERNELS.values()):
        raise TypeError(
            f"A model with a {type(part).__name__} cannot be saved: "
            "only maps, metrics and kernels of this library can be."
        )
    if isinstance(part, SeededMap):
        part._refuse_unsavable()


def names_to_plain(learner: Any) -> list[str] | None:
    """Return the column names of a learner, if it has any."""
    names = getattr(learner, "feature_names_in_", None)
    return None if names is None else names.tolist()


def _part_to_plain(part: Any) -> dict[str, Any] | None:
    """Describe a fitted map or metric."""
    if part is None:
        return None
    refuse_foreign(part)
    if isinstance(part, Pipeline):
        return {"class": "Pipeline", "steps": {str(i): _part_to_plain(step) for i, step in enumerate(steps_of(part))}}
    if isinstance(part, SeededMap):
        parameters, state = part._saved_parameters(), part._state()._asdict()
    else:
        parameters = {name: value for name, value in part.get_params(deep=False).items() if name != "random_state"}
        state = {name: getattr(part, name) for name in _LEARNED[type(part)]}
    return {
        "class": type(part).__name__,
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "n_features_in_": int(part.n_features_in_),
        "learned": {name: rows_to_plain(value) for name, value in state.items() if name not in BESIDE_LEARNED},
        **{stored: _plain(state[name]) for name, stored in BESIDE_LEARNED.items() if name in state},
    }


def kernel_to_plain(kernel: DotProductKernel) -> dict[str, Any]:
    """Describe a kernel."""
    refuse_foreign(kernel)
    parameters = {name: _plain(inner) for name, inner in kernel.get_params(deep=False).items()}
    return {"class": type(kernel).__name__, "parameters": parameters}


def _plain(value: Any) -> Any:
    """Return a parameter or a value of a state as JSON takes it."""
    if isinstance(value, DotProductKernel):
        return kernel_to_plain(value)
    if isinstance(value, SeededMap):
        return _part_to_plain(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(inner) for name, inner in asdict(value).items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value
