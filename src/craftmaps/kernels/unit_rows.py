"""Kernels that are functions of the dot product on rows of unit length, where |x - y|^2 = 2 - 2 x.y.

All have Maclaurin series without negative coefficients, and equal 1 at x = y. The kernel computed is f(x.y) for rows
of any length; it is the named one for rows of unit length. Called for the exact matrix, and by `LandmarkMap`, it is
evaluated in closed form. Random maps estimate its series, cut at a degree; `remainder` bounds what is cut off.
"""

import math
from abc import abstractmethod
from functools import lru_cache
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.kernels.dot_products import HIGHEST_DEGREE, DotProductKernel, Exponential, check_number

HIGHEST_DEPTH = 50
# Rounding errors of dot products of float32 rows of unit length are far smaller.
_TOLERANCE = 1e-3
# Coefficients are read off values on a circle: so many points, and a radius at which aliased coefficients vanish.
_CIRCLE_POINTS = 2**15
_CIRCLE_RADIUS = math.exp(-34 / _CIRCLE_POINTS)


class Gaussian(DotProductKernel):
    r"""The Gaussian kernel exp(-gamma |x - y|^2) on rows of unit length.

    Computes :math:`f(t) = e^{2 \gamma (t - 1)}` at t = x.y, with the coefficients :math:`a_n = e^{-2 \gamma}
    (2 \gamma)^n / n!`; the series is cut where the rest is rounding error. For rows of other lengths f(x.y) is not the
    Gaussian kernel, but positive definite.

    Parameters
    ----------
    gamma : float, default=1.0
        More than 0.

    Examples
    --------
    >>> from craftmaps import Gaussian
    >>> Gaussian(gamma=0.5)([[1.0, 0.0], [0.0, 1.0]]).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    is_for_unit_rows = True

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma
        self.check()

    def check(self) -> None:
        """Refuse a gamma that is not positive."""
        check_number("gamma", self.gamma, zero_allowed=False)

    def of_dot_products(self, t: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return exp(2 gamma (t - 1))."""
        t -= 1
        t *= 2 * float(self.gamma)
        return np.exp(t, out=t)

    def maclaurin_coefficients(self, radius: float = 1.0, scale: float = 1.0) -> NDArray[np.float64]:
        """Return exp(-2 gamma) (2 scale gamma)^n / n!, cut where the rest is rounding error."""
        self.check()
        gamma = float(self.gamma)
        if gamma > 150:  # beyond it exp(-2 gamma) comes close to the smallest numbers
            raise ValueError(f"gamma must be at most 150 for random maps of a Gaussian kernel, got {gamma:g}.")
        return math.exp(-2 * gamma) * Exponential(2 * gamma).maclaurin_coefficients(radius, scale)


class UnitRowKernel(DotProductKernel):
    """A kernel f(x.y), defined for abs(x.y) <= 1 only, whose series converges slowly and so is cut at a degree."""

    is_for_unit_rows = True
    max_degree: int

    @property
    def n_degrees(self) -> int:
        """Number of Maclaurin coefficients that are kept."""
        return self.maclaurin_coefficients().size

    def check(self) -> None:
        """Refuse a degree that the series cannot be cut at."""
        _check_whole("max_degree", self.max_degree, HIGHEST_DEGREE)

    def of_dot_products(self, t: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return f(t); refuse dot products above 1."""
        with np.errstate(invalid="ignore"):
            largest = float(max(t.max(initial=0), -t.min(initial=0)))
        self._refuse_beyond_one(largest)
        return self._within_one(np.clip(t, -1, 1, out=t))

    @abstractmethod
    def _within_one(self, t: Any) -> Any:
        """Return f(t) for abs(t) <= 1; t may be overwritten."""

    @abstractmethod
    def _coefficients(self, n: int) -> NDArray[np.float64]:
        """Return the first n Maclaurin coefficients of f."""

    def maclaurin_coefficients(self, radius: float = 1.0, scale: float = 1.0) -> NDArray[np.float64]:
        """Return the coefficients up to `max_degree`, times powers of the scale, without trailing zeros."""
        self.check()
        self._refuse_beyond_one(radius * scale)
        a = self._coefficients(int(self.max_degree) + 1)
        a = a[: np.flatnonzero(a)[-1] + 1]
        return np.asarray(a * scale ** np.arange(a.size), dtype=np.float64)

    def _refuse_beyond_one(self, largest: float) -> None:
        """Refuse rows whose dot products reach a number above 1."""
        if largest > 1 + _TOLERANCE:
            raise ValueError(
                f"{type(self).__name__} is a kernel for rows of unit length, but dot products of rows reach "
                f"{largest:.3g}: normalise the rows first, in a learner with normalize=True."
            )


class Laplace(UnitRowKernel):
    r"""The Laplace kernel exp(-gamma |x - y|) on rows of unit length, with the Euclidean distance.

    Computes :math:`f(t) = e^{-\gamma \sqrt{2 - 2t}}` at t = x.y. Because :math:`e^{-\gamma \sqrt u}` is completely
    monotone in u, no coefficient is negative. They follow from :math:`2 (1 - t) f'' = f' + \gamma^2 f`:

    .. math:: a_{n+2} = \frac{(n + 1)(2n + 1) a_{n+1} + \gamma^2 a_n}{2 (n + 1)(n + 2)},
              \quad a_0 = e^{-\sqrt 2 \gamma}, \quad a_1 = \gamma a_0 / \sqrt 2.

    They fall like :math:`n^{-3/2}`, so a series cut at the degree N misses about
    :math:`\gamma \sqrt{2 / (\pi N)}` at t = 1, but at most :math:`t^{N+1}` of that at smaller t.

    Parameters
    ----------
    gamma : float, default=1.0
        More than 0.
    max_degree : int, default=16
        Degree at which random maps cut the series: `remainder()` is what is missing. The exact kernel and
        `LandmarkMap` do not depend on it.

    Examples
    --------
    >>> from craftmaps import Laplace
    >>> Laplace()([[1.0, 0.0], [0.0, 1.0]]).round(3)
    array([[1.   , 0.243],
           [0.243, 1.   ]])
    >>> round(Laplace().remainder(), 2), round(Laplace().remainder(0.8), 4)
    (0.2, 0.0005)
    """

    def __init__(self, gamma: float = 1.0, max_degree: int = 16):
        self.gamma = gamma
        self.max_degree = max_degree
        self.check()

    def check(self) -> None:
        """Refuse parameters that do not give a kernel."""
        check_number("gamma", self.gamma, zero_allowed=False)
        super().check()

    def _within_one(self, t: Any) -> Any:
        """Return exp(-gamma sqrt(2 - 2t))."""
        return np.exp(-float(self.gamma) * np.sqrt(2 - 2 * t))

    def _coefficients(self, n: int) -> NDArray[np.float64]:
        gamma = float(self.gamma)
        if gamma > 400:
            raise ValueError(f"gamma must be at most 400 for random maps of a Laplace kernel, got {gamma:g}.")
        a = [math.exp(-math.sqrt(2) * gamma)]
        a.append(gamma * a[0] / math.sqrt(2))
        for k in range(n - 2):
            a.append(((k + 1) * (2 * k + 1) * a[k + 1] + gamma**2 * a[k]) / (2 * (k + 1) * (k + 2)))
        return np.array(a[:n])


class ArcCosine(UnitRowKernel):
    r"""The arc-cosine kernel of degree 1 on rows of unit length: one infinitely wide layer of rectified units.

    Computes :math:`f(t) = \left(t (\pi - \arccos t) + \sqrt{1 - t^2}\right) / \pi` at t = x.y. The coefficients,
    those of an integral of :math:`1/2 + \arcsin(t) / \pi`, are not negative and fall like :math:`n^{-5/2}`.

    Parameters
    ----------
    max_degree : int, default=16
        Degree at which random maps cut the series: `remainder()` is what is missing. The exact kernel and
        `LandmarkMap` do not depend on it.

    References
    ----------
    Y. Cho and L. Saul, "Kernel methods for deep learning", 2009.

    Examples
    --------
    >>> from craftmaps import ArcCosine
    >>> ArcCosine().maclaurin_coefficients()[:5].round(4)
    array([0.3183, 0.5   , 0.1592, 0.    , 0.0133])
    >>> round(ArcCosine().remainder(), 4)
    0.0013
    """

    def __init__(self, max_degree: int = 16):
        self.max_degree = max_degree
        self.check()

    def _within_one(self, t: Any) -> Any:
        return _arc_cosine_1(t)

    def _coefficients(self, n: int) -> NDArray[np.float64]:
        a = np.zeros(max(n, 3))
        a[:3] = 1 / math.pi, 0.5, 0.5 / math.pi
        for k in range(4, n, 2):
            a[k] = a[k - 2] * (k - 3) ** 2 / (k * (k - 1))
        return a[:n]


class NeuralTangent(UnitRowKernel):
    r"""The neural tangent kernel of a wide network of rectified units, on rows of unit length, scaled to f(1) = 1.

    With the arc-cosine functions :math:`\kappa_0(t) = 1/2 + \arcsin(t) / \pi` and :math:`\kappa_1` (`ArcCosine`),
    for `depth` hidden layers L without biases:

    .. math:: \Sigma_0 = \Theta_0 = t, \quad \Sigma_l = \kappa_1(\Sigma_{l-1}), \quad
              \Theta_l = \Sigma_l + \Theta_{l-1} \kappa_0(\Sigma_{l-1}), \quad f = \Theta_L / (L + 1).

    No coefficient is negative, because those of :math:`\kappa_0` and :math:`\kappa_1` are not. They fall like
    :math:`n^{-3/2}`, and are computed by a Fourier transform of f on a circle, to about 1e-15.

    Parameters
    ----------
    depth : int, default=1
        Number of hidden layers, 1 to 50.
    max_degree : int, default=16
        Degree at which random maps cut the series: `remainder()` is what is missing. The exact kernel and
        `LandmarkMap` do not depend on it.

    References
    ----------
    A. Jacot, F. Gabriel, C. Hongler, "Neural tangent kernel", 2018.
    A. Bietti and J. Mairal, "On the inductive bias of neural tangent kernels", 2019.

    Examples
    --------
    >>> from craftmaps import NeuralTangent
    >>> NeuralTangent(depth=2)([[1.0, 0.0], [0.0, 1.0]]).round(3)
    array([[1.   , 0.229],
           [0.229, 1.   ]])
    >>> round(NeuralTangent(depth=2).remainder(), 3)
    0.066
    """

    def __init__(self, depth: int = 1, max_degree: int = 16):
        self.depth = depth
        self.max_degree = max_degree
        self.check()

    def check(self) -> None:
        """Refuse parameters that do not give a kernel."""
        _check_whole("depth", self.depth, HIGHEST_DEPTH)
        super().check()

    def _within_one(self, t: Any) -> Any:
        return _neural_tangent(t, int(self.depth))

    def _coefficients(self, n: int) -> NDArray[np.float64]:
        return _neural_tangent_coefficients(int(self.depth))[:n].copy()


def _arc_cosine_1(t: Any) -> Any:
    """Return kappa_1(t), elementwise; inside the unit circle t may be complex."""
    return (t * (math.pi / 2 + np.arcsin(t)) + np.sqrt(1 - t * t)) / math.pi


def _neural_tangent(t: Any, depth: int) -> Any:
    """Return the neural tangent kernel at t, elementwise; inside the unit circle t may be complex."""
    sigma = theta = t
    for _ in range(depth):
        kappa_0 = 0.5 + np.arcsin(sigma) / math.pi
        sigma = _arc_cosine_1(sigma)
        if not np.iscomplexobj(sigma):
            sigma = np.clip(sigma, -1, 1)  # rounding
        theta = sigma + theta * kappa_0
    return theta / (depth + 1)


@lru_cache(maxsize=8)
def _neural_tangent_coefficients(depth: int) -> NDArray[np.float64]:
    """Return the coefficients of all degrees that a series may be cut at."""
    circle = _CIRCLE_RADIUS * np.exp(2j * np.pi / _CIRCLE_POINTS * np.arange(_CIRCLE_POINTS))
    a = np.fft.fft(_neural_tangent(circle, depth)).real[: HIGHEST_DEGREE + 1] / _CIRCLE_POINTS
    a /= _CIRCLE_RADIUS ** np.arange(a.size)
    a[a < 1e-14] = 0  # rounding errors
    return a


def _check_whole(name: str, value: Any, highest: int) -> None:
    """Refuse anything but an integer from 1 to the highest."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= int(value) <= highest:
        raise ValueError(f"{name} must be an integer from 1 to {highest}, got {value!r}.")
