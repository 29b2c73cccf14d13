"""Fitted maps and metrics as plain data: what a model file says of them; `rebuilt` makes them again.

Random maps are drawn again from their seed, so a seed, a few counts and the parameters are all there is.
Only classes of this library and scikit-learn's `StandardScaler` are known.
"""

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from craftmaps.kernels import DotProductKernel, Exponential, MaclaurinSeries, Polynomial
from craftmaps.learners.persistence.stored_rows import rows_to_plain
from craftmaps.maps.craft import CraftMap
from craftmaps.maps.landmarks import LandmarkMap
from craftmaps.maps.maclaurin import RandomMaclaurin
from craftmaps.maps.projections import SubsampledHadamard
from craftmaps.maps.tensor_sketch import TensorSketch
from craftmaps.shaping.covariance_metric import CovarianceMetric
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.row_features import RowFeatures

_KERNELS = (Polynomial, Exponential, MaclaurinSeries)
# What a part has learned or drawn, beside its parameters.
_LEARNED = {
    CovarianceMetric: ("mean_", "components_", "eigenvalues_"),
    GradientMetric: ("mean_", "components_"),
    StandardScaler: ("mean_", "scale_", "var_"),
    LandmarkMap: ("landmarks_",),
    RandomMaclaurin: ("scale_",),
    TensorSketch: (),
    SubsampledHadamard: (),
}


def lift_to_plain(lift: RowFeatures) -> dict[str, Any]:
    """Describe a lift; arrays stay arrays."""
    return {
        "scale": None if lift.scale is None else float(lift.scale),
        "metric": _to_plain(lift.metric),
        "feature_map": _to_plain(lift.feature_map),
    }


def refuse_foreign(part: Any) -> None:
    """Refuse a map or a metric, fitted or not, that a file cannot describe."""
    if part is None or isinstance(part, str):
        return
    if type(part) not in (*_LEARNED, CraftMap):
        raise TypeError(
            f"A model with a {type(part).__name__} cannot be saved: only maps and metrics of this library can be."
        )
    if isinstance(part, CraftMap):
        is_known = isinstance(part.up, str) or type(part.up) in (RandomMaclaurin, TensorSketch)
        if not is_known or not (part.down == "hadamard" or type(part.down) is SubsampledHadamard):
            raise TypeError(
                "A model with a CraftMap can be saved if its up is a name or a map of this library "
                "and its down is 'hadamard' or a SubsampledHadamard."
            )


def _to_plain(part: Any) -> Any:
    """Describe a fitted part or a kernel."""
    if part is None or isinstance(part, (str, bool, int, float)):
        return part
    if type(part) in _KERNELS:
        return {"class": type(part).__name__, "parameters": _plain_parameters(part)}
    refuse_foreign(part)
    plain = {
        "class": type(part).__name__,
        "parameters": _plain_parameters(part),
        "n_features_in_": int(part.n_features_in_),
        "learned": {name: rows_to_plain(getattr(part, name)) for name in _LEARNED.get(type(part), ())},
    }
    if hasattr(part, "seed_"):
        plain["parameters"]["random_state"] = int(part.seed_)
    if isinstance(part, RandomMaclaurin):
        plain["shares"] = {name: _plain(value) for name, value in vars(part.shares_).items()}
    if isinstance(part, CraftMap):
        if not isinstance(part.up, str):
            plain["parameters"]["up"] = None
        if part.down != "hadamard":
            plain["parameters"]["down"] = {"random_state": int(part.down_.seed_)}
        plain |= {"up": _to_plain(part.up_), "n_kept_": int(part.n_kept_)}
    return plain


def _plain_parameters(part: Any) -> dict[str, Any]:
    """Return parameters as JSON takes them."""
    return {name: _plain(value) for name, value in part.get_params(deep=False).items() if name != "random_state"}


def _plain(value: Any) -> Any:
    """Return a number, a sequence of numbers, a string or a kernel as JSON takes it."""
    if isinstance(value, DotProductKernel):
        return _to_plain(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, tuple) else value


def names_to_plain(learner: Any) -> list[str] | None:
    """Return the names of the columns that a learner has seen, if they had any."""
    names = getattr(learner, "feature_names_in_", None)
    return None if names is None else names.tolist()
