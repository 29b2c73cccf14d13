"""Dot-product kernels k(x, y) = f(x.y) with a non-negative Maclaurin series.

Non-negative coefficients are what makes such a kernel positive definite on every R^d, and what
the random maps need: each term a_n (x.y)^n is estimated on its own.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.extmath import safe_sparse_dot

Rows: TypeAlias = Any
"""Rows as users give them: an array, a list of lists, a data frame or a sparse matrix."""


class DotProductKernel(BaseEstimator, ABC):
    """A kernel f(x.y); calling it gives the exact matrix."""

    def __call__(self, X: Rows, Y: Rows | None = None) -> NDArray[np.floating]:
        """Return the matrix of k(x, y) for the rows x of X and y of Y, by default of X itself."""
        self.check()
        X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), input_name="X")
        other = X if Y is None else check_array(Y, accept_sparse="csr", dtype=X.dtype, input_name="Y")
        if X.shape[1] != other.shape[1]:
            raise ValueError(f"Y has {other.shape[1]} features, expected {X.shape[1]} as X has.")
        return self.of_dot_products(safe_sparse_dot(X, other.T, dense_output=True))

    @abstractmethod
    def of_dot_products(self, t: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return f(t), elementwise; t may be overwritten."""

    @abstractmethod
    def coefficients(self, radius: float = 1.0, scale: float = 1.0) -> NDArray[np.float64]:
        """Return the Maclaurin coefficients of f(scale * t), those that matter for abs(t) <= radius.

        An infinite series ends where the rest is below the rounding error of f(scale * radius).
        """

    @abstractmethod
    def check(self) -> None:
        """Raise a ValueError or TypeError if a parameter makes this no kernel."""


class Polynomial(DotProductKernel):
    """The polynomial kernel (gamma x.y + coef0)^degree.

    The parameters are scikit-learn's; the paper writes r for `degree` and q for `coef0`.

    Parameters
    ----------
    degree : int, default=3
        A whole number from 0. With any other exponent some Maclaurin coefficients are
        negative, so the kernel is not positive definite.
    coef0 : float, default=1.0
        Zero or more, for the same reason.
    gamma : float, default=1.0
        More than zero.

    Examples
    --------
    >>> from craftmaps import Polynomial
    >>> Polynomial(degree=2)([[1.0, 0.0], [1.0, 1.0]])
    array([[4., 4.],
           [4., 9.]])
    >>> Polynomial(degree=2).coefficients()
    array([1., 2., 1.])
    """

    def __init__(self, degree: int = 3, coef0: float = 1.0, gamma: float = 1.0):
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma
        self.check()

    def check(self) -> None:
        """Refuse parameters that give a negative Maclaurin coefficient."""
        if not isinstance(self.degree, Integral) or isinstance(self.degree, bool) or self.degree < 0:
            raise ValueError(
                f"degree must be an integer of at least 0, got {self.degree!r}: "
                "with another exponent the kernel is not positive definite."
            )
        _check_number("coef0", self.coef0, zero_allowed=True)
        _check_number("gamma", self.gamma, zero_allowed=False)

    def of_dot_products(self, t: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return (gamma t + coef0)^degree by repeated multiplication."""
        # float() keeps float32 arrays float32; a NumPy float64 scalar would promote them.
        t *= float(self.gamma)
        t += float(self.coef0)
        return whole_power(t, int(self.degree))

    def coefficients(self, radius: float = 1.0, scale: float = 1.0) -> NDArray[np.float64]:
        """Return C(degree, n) (scale gamma)^n coef0^(degree - n) for n = 0..degree."""
        self.check()
        r, q, g = int(self.degree), float(self.coef0), float(self.gamma) * scale
        try:
            return np.array([math.comb(r, n) * g**n * q ** (r - n) for n in range(r + 1)])
        except OverflowError:
            raise ValueError(f"The coefficients of {self!r} overflow: scale the rows first.") from None


class Exponential(DotProductKernel):
    """The exponential kernel exp(gamma x.y); on rows of unit length a scaled Gaussian kernel.

    Parameters
    ----------
    gamma : float, default=1.0
        More than zero.

    Examples
    --------
    >>> from craftmaps import Exponential
    >>> Exponential(gamma=2.0).coefficients()[:4].round(3)
    array([1.   , 2.   , 2.   , 1.333])
    """

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma
        self.check()

    def check(self) -> None:
        """Refuse a scale that is not positive."""
        _check_number("gamma", self.gamma, zero_allowed=False)

    def of_dot_products(self, t: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return exp(gamma t)."""
        t *= float(self.gamma)
        return np.exp(t, out=t)

    def coefficients(self, radius: float = 1.0, scale: float = 1.0) -> NDArray[np.float64]:
        """Return (scale gamma)^n / n! up to where the rest does not matter any more."""
        self.check()
        gamma = float(self.gamma) * scale
        t = gamma * float(radius)
        if t > 300:
            raise ValueError(
                f"gamma * |x|^2 must be at most 300 for the exponential kernel, got {t:.3g}: scale the rows first."
            )
        terms = [1.0]
        # Beyond n = t terms fall; twice the last one bounds the rest once n > 2t.
        while len(terms) <= 2 * t + 1 or terms[-1] > np.finfo(float).eps * math.exp(t) / 2:
            terms.append(terms[-1] * t / len(terms))
        return np.cumprod([1.0, *(gamma / n for n in range(1, len(terms)))], dtype=np.float64)


class MaclaurinSeries(DotProductKernel):
    """The kernel sum_n a_n (x.y)^n of given coefficients.

    Parameters
    ----------
    coefficients : sequence of float
        a_0, a_1, ...: finite, none negative, at least one positive.

    Examples
    --------
    >>> from craftmaps import MaclaurinSeries
    >>> MaclaurinSeries([0.0, 1.0, 0.5])([[1.0, 2.0]])
    array([[17.5]])
    """

    def __init__(self, coefficients: Sequence[float]):
        self._series = coefficients
        self.check()

    # `coefficients` is a parameter and, as for every kernel, a method: so the parameter is
    # kept under another name and these two say how to reach it.
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as scikit-learn's estimators do."""
        return {"coefficients": self._series}

    def set_params(self, **params: Any) -> Self:
        """Set the parameters, as scikit-learn's estimators do."""
        for name, value in params.items():
            if name != "coefficients":
                raise ValueError(f"Invalid parameter {name!r} for MaclaurinSeries, expected 'coefficients'.")
            self._series = value
        self.check()
        return self

    def check(self) -> None:
        """Refuse coefficients that are negative, not finite or all zero."""
        try:
            a = np.asarray(self._series, dtype=float)
        except (TypeError, ValueError):
            a = np.empty(0)
        if a.ndim != 1 or a.size == 0:
            raise ValueError(f"coefficients must be a sequence of numbers, got {self._series!r}.")
        if not np.isfinite(a).all() or a.min() < 0 or a.max() == 0:
            raise ValueError(
                f"coefficients must be finite, none negative and one positive, got {self._series!r}: "
                "otherwise the kernel is not positive definite."
            )

    def of_dot_products(self, t: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the polynomial at t, by Horner's rule."""
        result = np.zeros_like(t)
        for a in self.coefficients()[::-1]:
            result *= t
            result += float(a)
        return result

    def coefficients(self, radius: float = 1.0, scale: float = 1.0) -> NDArray[np.float64]:
        """Return the given coefficients times powers of the scale, without zeros at the end."""
        self.check()
        a = np.array(self._series, dtype=float)
        a = a[: np.flatnonzero(a)[-1] + 1]
        return np.asarray(a * scale ** np.arange(a.size), dtype=np.float64)


def whole_power(t: NDArray[np.floating], exponent: int) -> NDArray[np.floating]:
    """Return t^exponent by repeated squaring, many times faster than np.power; t is overwritten."""
    if exponent == 0:
        return np.ones_like(t)
    result = None
    while True:
        if exponent & 1:
            if result is None:
                result = t if exponent == 1 else t.copy()
            else:
                result *= t
        exponent >>= 1
        if not exponent:
            return result  # type: ignore[return-value]
        t *= t


def _check_number(name: str, value: Any, zero_allowed: bool) -> None:
    """Refuse what is not a finite number of the wanted sign."""
    good = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not good or value < 0 or (value == 0 and not zero_allowed):
        bound = "at least 0" if zero_allowed else "more than 0"
        raise ValueError(
            f"{name} must be a finite number of {bound}, got {value!r}: otherwise the kernel is not positive definite."
        )
