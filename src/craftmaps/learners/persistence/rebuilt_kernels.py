"""Kernels rebuilt from model files."""

from typing import Any

import numpy as np

from craftmaps._system.fields import Fields
from craftmaps.kernels import (
    HIGHEST_DEGREE,
    HIGHEST_DEPTH,
    ArcCosine,
    Exponential,
    Gaussian,
    Laplace,
    MaclaurinSeries,
    NeuralTangent,
    Polynomial,
)

_WITH_GAMMA = {"Exponential": Exponential, "Gaussian": Gaussian}
_ON_UNIT_ROWS = {kernel.__name__: kernel for kernel in (Laplace, ArcCosine, NeuralTangent)}
SAVED_KERNELS = _WITH_GAMMA | _ON_UNIT_ROWS | {"MaclaurinSeries": MaclaurinSeries, "Polynomial": Polynomial}


def kernel_from_plain(fields: Fields, name: str) -> Any:
    """Rebuild a kernel, with every parameter checked."""
    plain = fields.object(name)
    kernel = plain.one_of("class", tuple(SAVED_KERNELS))
    parameters = plain.object("parameters")
    if kernel in _WITH_GAMMA:
        parameters.only(["gamma"])
        return _WITH_GAMMA[kernel](parameters.number("gamma", above=0.0))
    if kernel in _ON_UNIT_ROWS:
        return _on_unit_rows(kernel, parameters)
    if kernel == "MaclaurinSeries":
        parameters.only(["coefficients"])
        coefficients = parameters.numbers("coefficients", HIGHEST_DEGREE + 1, low=0.0)
        if not coefficients.any():
            raise parameters.refuse("coefficients", "a list with a number above zero")
        return MaclaurinSeries(parameters.value("coefficients"))
    parameters.only(["degree", "coef0", "gamma"])
    degree = parameters.whole("degree", 0, HIGHEST_DEGREE)
    coef0, _ = parameters.number("coef0", low=0.0), parameters.number("gamma", above=0.0)
    if degree * np.log2(max(coef0, 1.0)) > 1000:
        raise parameters.refuse("coef0", f"a number whose power {degree} does not overflow")
    return Polynomial(**{name: parameters.value(name) for name in parameters})


def _on_unit_rows(kernel: str, parameters: Fields) -> Any:
    """Rebuild a kernel whose series is cut at a degree."""
    values: dict[str, Any] = {"max_degree": parameters.whole("max_degree", 1, HIGHEST_DEGREE)}
    if kernel == "Laplace":
        values["gamma"] = parameters.number("gamma", above=0.0)
    elif kernel == "NeuralTangent":
        values["depth"] = parameters.whole("depth", 1, HIGHEST_DEPTH)
    parameters.only(list(values))
    return _ON_UNIT_ROWS[kernel](**values)
