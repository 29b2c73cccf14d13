"""Compact random feature maps for polynomial and other dot-product kernels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from craftmaps.craft import CraftMap
    from craftmaps.kernels import Exponential, MaclaurinSeries, Polynomial
    from craftmaps.landmarks import LandmarkMap
    from craftmaps.learner import CraftClassifier, CraftRegressor, load_model
    from craftmaps.maclaurin import RandomMaclaurin
    from craftmaps.metric import CovarianceMetric
    from craftmaps.normal_equations import NormalEquations
    from craftmaps.parallel import threads
    from craftmaps.projection import SubsampledHadamard
    from craftmaps.tensor_sketch import TensorSketch

__version__ = "0.1.0"

__all__ = [
    "CovarianceMetric",
    "CraftClassifier",
    "CraftMap",
    "CraftRegressor",
    "Exponential",
    "LandmarkMap",
    "MaclaurinSeries",
    "NormalEquations",
    "Polynomial",
    "RandomMaclaurin",
    "SubsampledHadamard",
    "TensorSketch",
    "load_model",
    "threads",
]

# A name is imported when it is first used: scikit-learn alone takes over a second to import,
# which a command such as `craftmaps --version` should not wait for.
_HOMES = {
    "load_model": "learner",
    "NormalEquations": "normal_equations",
    "CraftRegressor": "learner",
    "CraftClassifier": "learner",
    "CovarianceMetric": "metric",
    "CraftMap": "craft",
    "Exponential": "kernels",
    "LandmarkMap": "landmarks",
    "MaclaurinSeries": "kernels",
    "Polynomial": "kernels",
    "RandomMaclaurin": "maclaurin",
    "SubsampledHadamard": "projection",
    "TensorSketch": "tensor_sketch",
    "threads": "parallel",
}
_MODULES = ("datasets", "diagnostics", "plan", "report", "streams")


def __getattr__(name: str) -> Any:
    """Import a public name from the module it lives in, or a public module."""
    if name in _MODULES:
        return import_module(f"craftmaps.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'craftmaps' has no attribute {name!r}")
    value = getattr(import_module(f"craftmaps.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
