"""Kernels made again from what a file says of them, and what they make of the landmarks of a file."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms

from craftmaps._system.fields import DamagedError, Fields, refuse_costly
from craftmaps.kernels import DotProductKernel, Exponential, MaclaurinSeries, Polynomial

# Binomial coefficients of higher degrees are no floats any more.
HIGHEST_DEGREE = 1000
_KERNELS = ("Polynomial", "Exponential", "MaclaurinSeries")


def kernel_from_plain(fields: Fields, name: str, classes: tuple[str, ...] = _KERNELS) -> Any:
    """Make a kernel again, of one of the classes, and with parameters that it takes."""
    plain = fields.object(name)
    kernel = plain.one_of("class", classes)
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


def n_degrees(kernel: DotProductKernel) -> int | None:
    """Return how many coefficients a kernel has, if that does not depend on the rows."""
    if isinstance(kernel, Polynomial):
        return kernel.degree + 1
    return kernel.coefficients().size if isinstance(kernel, MaclaurinSeries) else None


def refuse_bad_landmarks(kernel: DotProductKernel, landmarks: Any, name: str) -> None:
    """Refuse landmarks whose kernel matrix is too large, or not of finite numbers that can be factored."""
    n_landmarks = landmarks.shape[0]
    if not n_landmarks:
        raise DamagedError(f"{name} must have at least one row, got none")
    arrays = [landmarks.data, landmarks.indices, landmarks.indptr] if issparse(landmarks) else [landmarks]
    file_bytes = sum(array.nbytes for array in arrays)
    refuse_costly(f"The kernel matrix of {n_landmarks} landmarks", 8 * n_landmarks**2, file_bytes)
    # Every coefficient is a pass over the matrix, which may cost about what its factor does.
    n_passes = kernel.coefficients().size if isinstance(kernel, MaclaurinSeries) else 1
    if n_passes * n_landmarks**2 > 2**30 + n_landmarks**3 // 64:
        raise DamagedError(f"A kernel of {n_passes} coefficients takes too long for {n_landmarks} landmarks")
    with np.errstate(over="ignore", invalid="ignore"):
        # The diagonal bounds all other values: the coefficients of the kernel are not negative.
        trace = float(kernel.of_dot_products(row_norms(landmarks.astype(np.float64), squared=True)).sum())
    # Raised by rounding errors of this size the matrix is positive definite; they must be numbers themselves.
    if not np.isfinite(16 * n_landmarks * trace) or 0 < trace < 1e-290:
        raise DamagedError(f"{name} must have kernel values that are finite and not too small, got a sum of {trace:g}")
