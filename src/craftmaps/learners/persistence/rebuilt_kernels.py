"""Kernels rebuilt from model files."""

from typing import Any

import numpy as np

from craftmaps._system.fields import Fields
from craftmaps.kernels import HIGHEST_DEGREE, Exponential, MaclaurinSeries, Polynomial

SAVED_KERNELS = {kernel.__name__: kernel for kernel in (Polynomial, Exponential, MaclaurinSeries)}


def kernel_from_plain(fields: Fields, name: str) -> Any:
    """Rebuild a kernel, with every parameter checked."""
    plain = fields.object(name)
    kernel = plain.one_of("class", tuple(SAVED_KERNELS))
    parameters = plain.object("parameters")
    if kernel == "Exponential":
        parameters.only(["gamma"])
        return Exponential(parameters.number("gamma", above=0.0))
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
