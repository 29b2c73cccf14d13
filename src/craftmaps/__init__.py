"""Compact random feature maps for polynomial and other dot-product kernels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from craftmaps._system.threads import threads
    from craftmaps.kernels import (
        ArcCosine,
        Exponential,
        Gaussian,
        Laplace,
        MaclaurinSeries,
        NeuralTangent,
        Polynomial,
    )
    from craftmaps.learners import CraftClassifier, CraftRegressor, load_model, load_tally
    from craftmaps.learners.partitions import tally_blocks
    from craftmaps.learners.tally import Tally
    from craftmaps.least_squares.normal_equations import NormalEquations
    from craftmaps.maps.craft import CraftMap
    from craftmaps.maps.landmarks import LandmarkMap
    from craftmaps.maps.maclaurin import RandomMaclaurin
    from craftmaps.maps.projections import SubsampledHadamard
    from craftmaps.maps.tensor_sketch import TensorSketch
    from craftmaps.shaping.covariance_metric import CovarianceMetric
    from craftmaps.shaping.gradient_metric import GradientMetric

__version__ = "0.1.0"

__all__ = [
    "ArcCosine",
    "CovarianceMetric",
    "CraftClassifier",
    "CraftMap",
    "CraftRegressor",
    "Exponential",
    "Gaussian",
    "GradientMetric",
    "LandmarkMap",
    "Laplace",
    "MaclaurinSeries",
    "NeuralTangent",
    "NormalEquations",
    "Polynomial",
    "RandomMaclaurin",
    "SubsampledHadamard",
    "Tally",
    "TensorSketch",
    "load_model",
    "load_tally",
    "tally_blocks",
    "threads",
]

# A name is imported when it is first used: scikit-learn alone takes over a second to import,
# which a command such as `craftmaps --version` should not wait for.
_HOMES = {
    "load_model": "learners",
    "load_tally": "learners",
    "NormalEquations": "least_squares.normal_equations",
    "CraftRegressor": "learners",
    "CraftClassifier": "learners",
    "ArcCosine": "kernels",
    "CovarianceMetric": "shaping.covariance_metric",
    "CraftMap": "maps.craft",
    "Exponential": "kernels",
    "Gaussian": "kernels",
    "GradientMetric": "shaping.gradient_metric",
    "LandmarkMap": "maps.landmarks",
    "Laplace": "kernels",
    "MaclaurinSeries": "kernels",
    "NeuralTangent": "kernels",
    "Polynomial": "kernels",
    "RandomMaclaurin": "maps.maclaurin",
    "SubsampledHadamard": "maps.projections",
    "Tally": "learners.tally",
    "TensorSketch": "maps.tensor_sketch",
    "tally_blocks": "learners.partitions",
    "threads": "_system.threads",
}
_MODULES = ("datasets", "diagnostics", "export", "plan", "plots", "report", "streams")


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
