"""Fitted maps and metrics as plain data, and back: what a model file says of them.

Random maps are drawn again from their seed, so a seed, a few counts and the parameters are all there is.
Only classes of this library and scikit-learn's `StandardScaler` are known: nothing that a file
names is ever imported or called.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.preprocessing import StandardScaler

from craftmaps.craft import CraftMap
from craftmaps.gradient_metric import GradientMetric
from craftmaps.kernels import DotProductKernel, Exponential, MaclaurinSeries, Polynomial
from craftmaps.landmarks import LandmarkMap
from craftmaps.lift import Lift
from craftmaps.maclaurin import RandomMaclaurin
from craftmaps.metric import CovarianceMetric
from craftmaps.projection import SubsampledHadamard
from craftmaps.sampling import first_rows
from craftmaps.shares import DegreeShares
from craftmaps.tensor_sketch import TensorSketch

_KERNELS = {kernel.__name__: kernel for kernel in (Polynomial, Exponential, MaclaurinSeries)}
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
_PARTS = {part.__name__: part for part in (*_LEARNED, CraftMap)}
# A hostile file must not make a map of absurd size be drawn.
_LARGEST = 2**27


def lift_to_plain(lift: Lift) -> dict[str, Any]:
    """Describe a lift; arrays stay arrays."""
    return {
        "scale": lift.scale,
        "metric": _to_plain(lift.metric),
        "feature_map": _to_plain(lift.feature_map),
    }


def lift_from_plain(plain: dict[str, Any]) -> Lift:
    """Make a lift again from its description."""
    scale = None if plain["scale"] is None else float(plain["scale"])
    return Lift(_from_plain(plain["metric"]), scale, _from_plain(plain["feature_map"]))


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
    if type(part) in _KERNELS.values():
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


def _from_plain(plain: Any) -> Any:
    """Make a part again from its description."""
    if plain is None:
        return None
    if plain["class"] in _KERNELS:
        return _KERNELS[plain["class"]](**plain["parameters"])
    part_class = _PARTS[plain["class"]]
    parameters = dict(plain["parameters"])
    if "kernel" in parameters:
        parameters["kernel"] = _from_plain(parameters["kernel"])
    if isinstance(parameters.get("down"), dict):
        parameters["down"] = SubsampledHadamard(random_state=int(parameters["down"]["random_state"]))
    for name in ("n_components", "up_components"):
        if parameters.get(name) is not None and not 0 < int(parameters[name]) <= _LARGEST:
            raise ValueError(f"{name} must be at most {_LARGEST}, got {parameters[name]}.")
    part = part_class(**parameters)
    part.n_features_in_ = int(plain["n_features_in_"])
    for name, value in plain["learned"].items():
        setattr(part, name, rows_from_plain(value))
    if "random_state" in parameters:
        part.seed_ = int(parameters["random_state"])
    _draw_again(part, plain)
    return part


def _draw_again(part: Any, plain: dict[str, Any]) -> None:
    """Draw what a part draws from its seed."""
    width = part.n_features_in_
    if not 0 < width <= _LARGEST:
        raise ValueError(f"n_features_in_ must be at most {_LARGEST}, got {width}.")
    if isinstance(part, RandomMaclaurin):
        shares: dict[str, Any] = plain["shares"]
        for name in ("coefficients", "counts", "weights"):
            shares[name] = np.asarray(shares[name])
        part.shares_ = DegreeShares(**shares)
        part._draw()
    elif isinstance(part, CraftMap):
        part.up_, part.n_kept_ = _from_plain(plain["up"]), int(plain["n_kept_"])
        part.up = part.up_ if part.up is None else part.up
        part._draw_down()
    elif isinstance(part, LandmarkMap):
        part._settle(part.landmarks_, first_rows)  # all of them, in their order
    elif isinstance(part, (TensorSketch, SubsampledHadamard)):
        part.fit(np.zeros((1, width)))  # these look at the width alone
    elif isinstance(part, StandardScaler):
        part.n_samples_seen_ = 1


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


def rows_to_plain(X: Any) -> Any:
    """Return rows as arrays."""
    if not issparse(X):
        return X
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "width": int(X.shape[1])}


def rows_from_plain(plain: Any) -> Any:
    """Return rows from arrays."""
    if not isinstance(plain, dict):
        return plain
    shape = (plain["indptr"].size - 1, plain["width"])
    return csr_matrix((plain["data"], plain["indices"], plain["indptr"]), shape=shape)


def names_to_plain(learner: Any) -> list[str] | None:
    """Return the names of the columns that a learner has seen, if they had any."""
    names = getattr(learner, "feature_names_in_", None)
    return None if names is None else names.tolist()


def names_from_plain(learner: Any, names: list[str] | None) -> None:
    """Let a learner know the names of its columns."""
    if names is not None:
        learner.feature_names_in_ = np.array([str(name) for name in names], dtype=object)
