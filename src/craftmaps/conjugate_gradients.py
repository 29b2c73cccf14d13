"""Quick solutions of wide systems: conjugate gradients, with the largest eigenvalues out of the way.

A Cholesky decomposition of width E costs E^3 / 3; a step for k right-hand sides costs 2 k E^2, and random features
of many rows want some fifty steps once the few large eigenvalues are deflated. The deflation is found once and serves
all penalties, and all matrices that are much alike, such as those of folds.

References
----------
Z. Frangella, J. A. Tropp, M. Udell, "Randomized Nystrom Preconditioning", SIAM J. Matrix Anal. Appl. 44, 2023.

Z. Strakos, P. Tichy, "On error estimation in the conjugate gradient method and why it works in finite precision
computations", ETNA 13, 2002.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from craftmaps.parallel import serial_blas
from craftmaps.randomness import signs

Product = Callable[[NDArray], NDArray]

_TOLERANCE = 1e-3
_WINDOW = 8  # steps over which the error must hardly fall any more
_FEWEST_STEPS = 100  # where a decomposition costs no more than these, it is the better way
_STEPS_OF_FACTOR = 1 / 12  # in units of E / k: measured, products of few columns run at half the rate
_FEWEST_COLUMNS = 4  # fewer take as long, as the matrix must be read
_WIDTH_OF_RANK, _MOST_RANK = 32, 2048


class QuickSolver:
    """Solves systems of matrices that are much alike, each with something added to its diagonal, to a thousandth."""

    def __init__(self) -> None:
        self._deflation: Deflation | None = None
        self._too_small = -1.0  # a diagonal with which it took too many steps

    def solve(self, times: Product, right: NDArray[np.float64], diagonal: float) -> NDArray[np.float64] | None:
        """Return the solution, or None where a decomposition is the better way.

        Parameters
        ----------
        times : function of float32 columns
            The product of the matrix with them.
        right : ndarray of shape (width, n_columns)
        diagonal : float
        """
        width, n_columns = right.shape
        most = int(_STEPS_OF_FACTOR * width / max(n_columns, _FEWEST_COLUMNS))
        if most < _FEWEST_STEPS or diagonal <= self._too_small:
            return None
        with serial_blas:  # the same on any number of threads: those are in the product
            if self._deflation is None:
                self._deflation = Deflation.of(times, width)
            X = _conjugate_gradients(times, right.astype(np.float32), diagonal, self._deflation, most)
        if X is None:
            self._too_small = max(self._too_small, diagonal)
            return None
        return X.astype(np.float64)


class Deflation(NamedTuple):
    """The largest eigenvalues of a positive matrix and their vectors, nearly: what slows conjugate gradients down."""

    values: NDArray[np.float64]
    vectors: NDArray[np.float32]

    @classmethod
    def of(cls, times: Product, width: int) -> "Deflation":
        """Approximate a matrix by the randomised Nystrom method after one power iteration."""
        rank = min(max(width // _WIDTH_OF_RANK, 1), _MOST_RANK)
        products = times(signs(0, "deflation", (width, rank)).astype(np.float32))
        if not np.isfinite(products).all():
            return cls(np.zeros(0), products[:, :0])
        basis = np.linalg.qr(products)[0]
        products = times(basis)
        inner = (basis.T @ products).astype(np.float64)
        values, vectors = linalg.eigh(inner + inner.T)
        # Smaller ones are rounding errors of float32.
        kept = values > width * np.finfo(np.float32).eps * max(values[-1], 0.0)
        root = products @ (vectors[:, kept] / np.sqrt(values[kept] / 2)).astype(np.float32)
        values, vectors = linalg.eigh((root.T @ root).astype(np.float64))
        return cls(values, root @ (vectors / np.sqrt(values)).astype(np.float32))

    def precondition(self, R: NDArray, diagonal: float) -> NDArray:
        """Return R with the directions of large eigenvalues scaled down to the smallest of these."""
        if not self.values.size:
            return R
        excess = (self.values[0] + diagonal) / (self.values + diagonal) - 1
        return R + self.vectors @ (excess[:, None].astype(np.float32) * (self.vectors.T @ R))


def _conjugate_gradients(
    times: Product, right: NDArray[np.float32], diagonal: float, deflation: Deflation, most: int
) -> NDArray[np.float32] | None:
    """Return the solution to `_TOLERANCE` in the norm of the matrix, or None if that takes more steps or is not to be.

    Each step takes its gain off the squared error, so the gains of the last steps tell what is left of it.
    """
    X, R = np.zeros_like(right), right.copy()
    preconditioned = deflation.precondition(R, diagonal)
    direction, size = preconditioned, _dots(R, preconditioned)
    gains: list[NDArray[np.float64]] = []
    for _ in range(most):
        product = times(direction) + diagonal * direction
        curvature = _dots(direction, product)
        if not (np.isfinite(curvature) & ((curvature > 0) | (size == 0))).all():
            return None  # not positive
        step = np.divide(size, curvature, out=np.zeros_like(size), where=size > 0)
        X += step.astype(np.float32) * direction
        R -= step.astype(np.float32) * product
        gains.append(step * size)
        if len(gains) > _WINDOW and np.all(sum(gains[-_WINDOW:]) <= _TOLERANCE**2 * sum(gains)):
            return X
        preconditioned = deflation.precondition(R, diagonal)
        before, size = size, _dots(R, preconditioned)
        ratio = np.divide(size, before, out=np.zeros_like(size), where=before > 0)
        direction = preconditioned + ratio.astype(np.float32) * direction
    return None


def _dots(A: NDArray, B: NDArray) -> NDArray[np.float64]:
    """Return the product of each column with its like."""
    return np.einsum("ij,ij->j", A, B, dtype=np.float64)
