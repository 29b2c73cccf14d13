"""Dot-product kernels k(x, y) = f(x.y) with a non-negative Maclaurin series.

Non-negative coefficients make the kernel positive definite on every R^d. The random maps need them too: they
estimate each term a_n (x.y)^n on its own.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.extmath import safe_sparse_dot

Rows: TypeAlias = Any
"""Rows as users give them: an array, a list of lists, a data frame or a sparse matrix."""

# The binomial coefficients of higher degrees overflow a float.
HIGHEST_DEGREE = 1000


class DotProductKernel(BaseEstimator, ABC):
    """A kernel f(x.y); call it for the exact kernel matrix."""

    # Whether the kernel is the one that its name says only on rows of unit length.
    is_for_unit_rows = False

    def __call__(self, X: Rows, Y: Rows | None = None) -> NDArray[np.floating]:
        """Return the matrix of k(x, y) for the rows x of X and y of Y; Y defaults to X."""
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
    def maclaurin_coefficients(self, radius: float = 1.0, scale: float = 1.0) -> NDArray[np.float64]:
        """Return the Maclaurin coefficients of f(scale * t) that matter for abs(t) <= radius.

        An infinite series is cut where the rest is below the rounding error of f(scale * radius).
        """

    @property
    def n_degrees(self) -> int | None:
        """Number of Maclaurin coefficients, or None for an infinite series."""
        return None

    def remainder(self, radius: float = 1.0) -> float:
        """Return the largest difference between f(t) and its Maclaurin coefficients' sum for abs(t) <= radius.

        Coefficients are not negative, so the difference is largest at t = radius.
        """
        f = float(self.of_dot_products(np.array([float(radius)]))[0])
        series = np.polynomial.polynomial.polyval(float(radius), self.maclaurin_coefficients(radius=radius))
        return max(f - float(series), 0.0)

    @abstractmethod
    def check(self) -> None:
        """Raise a ValueError or TypeError if the parameters do not give a positive definite kernel."""


class Polynomial(DotProductKernel):
    """The polynomial kernel (gamma x.y + coef0)^degree.

    The parameters are scikit-learn's; the paper writes r for `degree` and q for `coef0`.

    Parameters
    ----------
    degree : int, default=3
        At least 0. With a fractional exponent some Maclaurin coefficients are
        negative, so the kernel is not positive definite.
    coef0 : float, default=1.0
        At least 0, for the same reason.
    gamma : float, default=1.0
        More than 0.

    Examples
    --------
    >>> from craftmaps import Polynomial
    >>> Polynomial(degree=2)([[1.0, 0.0], [1.0, 1.0]])
    array([[4., 4.],
           [4., 9.]])
    >>> Polynomial(degree=2).maclaurin_coefficients()
    array([1., 2., 1.])
    """

    def __init__(self, degree: int = 3, coef0: float = 1.0, gamma: float = 1.0):
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma
        self.check()

    def check(self) -> None:
        """Refuse parameters that make a Maclaurin coefficient negative."""
        if not isinstance(self.degree, Integral) or isinstance(self.degree, bool) or self.degree < 0:
            raise ValueError(
                f"degree must be an integer of at least 0, got {self.degree!r}: "
                "with another exponent the kernel is not positive definite."
            )
        check_number("coef0", self.coef0, zero_allowed=True)
        check_number("gamma", self.gamma, zero_allowed=False)

    def of_dot_products(self, t: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return (gamma t + coef0)^degree by repeated multiplication."""
        # float() keeps float32 arrays float32; a NumPy float64 scalar would promote them.
        t *= float(self.gamma)
        t += float(self.coef0)
        return whole_power(t, int(self.degree))

    @property
    def n_degrees(self) -> int:
        """Number of Maclaurin coefficients."""
        return int(self.degree) + 1

    def maclaurin_coefficients(self, radius: float = 1.0, scale: float = 1.0) -> NDArray[np.float64]:
        """Return C(degree, n) (scale gamma)^n coef0^(degree - n) for n = 0..degree."""
        self.check()
        r, q, g = int(self.degree), float(self.coef0), float(self.gamma) * scale
        try:
            return np.array([math.comb(r, n) * g**n * q ** (r - n) for n in range(r + 1)])
        except OverflowError:
            raise ValueError(f"The coefficients of {self!r} overflow: scale the rows first.") from None


class Exponential(DotProductKernel):
    """The exponential kernel exp(gamma x.y), a scaled Gaussian kernel on rows of unit length.

    Parameters
    ----------
    gamma : float, default=1.0
        More than 0.

    Examples
    --------
    >>> from craftmaps import Exponential
    >>> Exponential(gamma=2.0).maclaurin_coefficients()[:4].round(3)
    array([1.   , 2.   , 2.   , 1.333])
    """

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma
        self.check()

    def check(self) -> None:
        """Refuse a gamma that is not positive."""
        check_number("gamma", self.gamma, zero_allowed=False)

    def of_dot_products(self, t: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return exp(gamma t)."""
        t *= float(self.gamma)
        return np.exp(t, out=t)

    def maclaurin_coefficients(self, radius: float = 1.0, scale: float = 1.0) -> NDArray[np.float64]:
        """Return (scale gamma)^n / n!, cut where the rest is rounding error."""
        self.check()
        gamma = float(self.gamma) * scale
        t = gamma * float(radius)
        if t > 300:
            raise ValueError(
                f"gamma * |x|^2 must be at most 300 for the exponential kernel, got {t:.3g}: scale the rows first."
            )
        terms = [1.0]
        # Terms fall beyond n = t, and twice the last one bounds the rest once n > 2t.
        while len(terms) <= 2 * t + 1 or terms[-1] > np.finfo(float).eps * math.exp(t) / 2:
            terms.append(terms[-1] * t / len(terms))
        return np.cumprod([1.0, *(gamma / n for n in range(1, len(terms)))], dtype=np.float64)


class MaclaurinSeries(DotProductKernel):
    """The kernel sum_n a_n (x.y)^n with given coefficients.

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
        self.coefficients = coefficients
        self.check()

    def check(self) -> None:
        """Refuse coefficients that are negative, not finite or all zero."""
        try:
            a = np.asarray(self.coefficients, dtype=float)
        except (TypeError, ValueError):
            a = np.empty(0)
        if a.ndim != 1 or a.size == 0:
            raise ValueError(f"coefficients must be a sequence of numbers, got {self.coefficients!r}.")
        if not np.isfinite(a).all() or a.min() < 0 or a.max() == 0:
            raise ValueError(
                f"coefficients must be finite, none negative and one positive, got {self.coefficients!r}: "
                "otherwise the kernel is not positive definite."
            )

    def of_dot_products(self, t: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the polynomial at t, by Horner's rule."""
        result = np.zeros_like(t)
        for a in self.maclaurin_coefficients()[::-1]:
            result *= t
            result += float(a)
        return result

    @property
    def n_degrees(self) -> int:
        """Number of coefficients without trailing zeros."""
        return self.maclaurin_coefficients().size

    def maclaurin_coefficients(self, radius: float = 1.0, scale: float = 1.0) -> NDArray[np.float64]:
        """Return the given coefficients times powers of the scale, without trailing zeros."""
        self.check()
        a = np.array(self.coefficients, dtype=float)
        a = a[: np.flatnonzero(a)[-1] + 1]
        return np.asarray(a * scale ** np.arange(a.size), dtype=np.float64)


def spelled_out(kernel: DotProductKernel) -> str:
    """Return a kernel with all its parameters, as a reader does not know the defaults."""
    values = ", ".join(f"{name}={value}" for name, value in vars(kernel).items())
    return f"{type(kernel).__name__}({values})"


def check_kernel(kernel: Any) -> None:
    """Refuse anything but a valid kernel of this library."""
    if not isinstance(kernel, DotProductKernel):
        raise TypeError(
            "kernel must be a Polynomial, Exponential, MaclaurinSeries or another kernel of this library, "
            f"got {type(kernel).__name__} {kernel!r}."
        )
    kernel.check()


def whole_power(t: NDArray[np.floating], exponent: int) -> NDArray[np.floating]:
    """Return t^exponent by repeated squaring, much faster than np.power; t is overwritten."""
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


def check_number(name: str, value: Any, zero_allowed: bool) -> None:
    """Refuse anything but a finite number of the required sign."""
    good = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not good or value < 0 or (value == 0 and not zero_allowed):
        bound = "at least 0" if zero_allowed else "more than 0"
        raise ValueError(
            f"{name} must be a finite number of {bound}, got {value!r}: otherwise the kernel is not positive definite."
        )
