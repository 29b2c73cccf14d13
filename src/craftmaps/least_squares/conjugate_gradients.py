"""Quick solutions of wide systems: conjugate gradients, with the largest eigenvalues out of the way.

A Cholesky decomposition of width E costs E^3 / 3; a step for k right-hand sides costs 2 k E^2, and random features
of many rows want some dozens of steps once the few large eigenvalues are deflated. The deflation is found once and
serves all penalties and all similar matrices, such as those of folds. All penalties take their steps
together, because products of few columns wait for the matrix to be read.

References
----------
Z. Frangella, J. A. Tropp, M. Udell, "Randomized Nystrom Preconditioning", SIAM J. Matrix Anal. Appl. 44, 2023.

Z. Strakos, P. Tichy, "On error estimation in the conjugate gradient method and why it works in finite precision
computations", ETNA 13, 2002.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from craftmaps._rows.randomness import signs
from craftmaps._system.threads import serial_blas

Product = Callable[[NDArray], NDArray]

_TOLERANCE = 1e-3
_WINDOW = 8  # steps over which the error must hardly fall any more
_FEWEST_COLUMNS = 4  # fewer take as long, as the matrix must be read
_ALIKE = 1.1  # diagonals that differ by a smaller factor belong to one alpha and similar matrices
_ROUNDING = 2e-6  # of the largest eigenvalue: smaller ones are rounding errors of float32


@dataclass(frozen=True)
class SolverLimits:
    """When conjugate gradients are the better way, and how much they deflate.

    Parameters
    ----------
    fewest_steps : int
        Where a decomposition costs no more than these, it is made at once.
    steps_of_factor : float
        The steps that cost as much as a decomposition, in units of E / k: products of tens of columns run at 0.6 of
        its rate.
    width_of_rank, most_rank : int
        The deflation has a rank of E / width_of_rank, but at most most_rank.
    """

    fewest_steps: int = 100
    steps_of_factor: float = 1 / 9
    width_of_rank: int = 16
    most_rank: int = 2048

    def most_steps(self, width: int, n_columns: int) -> int:
        """Return how many steps to take before a decomposition, or 0 if that should be made at once."""
        most = int(self.steps_of_factor * width / max(n_columns, _FEWEST_COLUMNS))
        return most if most >= self.fewest_steps else 0

    def rank(self, width: int) -> int:
        """Return the rank of the deflation of a matrix."""
        return min(max(width // self.width_of_rank, 1), self.most_rank)


class Preconditioner(Protocol):
    """A matrix close to the one to be solved, whose inverse is cheap."""

    def precondition(self, R: NDArray, shifts: NDArray) -> NDArray:
        """Return its inverse, up to a factor, times R, whose columns have shifts of the diagonal."""
        ...


class QuickSolver:
    """Solves systems of similar matrices, each with a shift of its diagonal, to a relative error of about 0.001.

    Parameters
    ----------
    limits : SolverLimits, optional

    Attributes
    ----------
    lost : float
        Diagonals up to this one are lost in rounding errors: with one of them a matrix was not positive definite.
    """

    def __init__(self, limits: SolverLimits = SolverLimits()) -> None:
        self.lost = -1.0
        self._limits = limits
        self._deflation: Deflation | None = None
        self._too_small = -1.0  # a diagonal with which it took too many steps

    def solve(
        self, times: Product, right: NDArray[np.float64], diagonals: Sequence[float]
    ) -> list[NDArray[np.float64] | None]:
        """Return a solution for each diagonal, None where a decomposition is the better way.

        Parameters
        ----------
        times : function of float32 columns
            The product of the matrix with them.
        right : ndarray of shape (width, n_columns)
        diagonals : sequence of float
        """
        width, n_columns = right.shape
        most = self._limits.most_steps(width, n_columns)
        least = max(_ALIKE * self._too_small, self.lost)
        tried = [i for i, diagonal in enumerate(diagonals) if diagonal > least]
        solutions: list[NDArray[np.float64] | None] = [None] * len(diagonals)
        if not most or not tried:
            return solutions
        with serial_blas:  # the same on any number of threads: those are in the product
            if self._deflation is None:
                self._deflation = Deflation.of(times, width, self._limits.rank(width))
            steps = Steps(times, right.astype(np.float32), [diagonals[i] for i in tried], self._deflation)
            while steps.owners.size and steps.n_taken < most:
                steps.take()
        for i, X in zip(tried, steps.solutions, strict=True):
            solutions[i] = None if X is None else X.astype(np.float64)
        for i in steps.lost:
            self.lose(diagonals[tried[i]])
        self._too_small = max([self._too_small, *(diagonals[tried[i]] for i in np.unique(steps.owners))])
        return solutions

    def lose(self, diagonal: float) -> None:
        """Record a diagonal with which a matrix is not positive definite."""
        self.lost = max(self.lost, _ALIKE * diagonal)


class Deflation(NamedTuple):
    """The largest eigenvalues of a positive matrix and their vectors, nearly: what slows conjugate gradients down."""

    values: NDArray[np.float64]
    vectors: NDArray[np.float32]

    @classmethod
    def of(cls, times: Product, width: int, rank: int) -> "Deflation":
        """Approximate a matrix by one of a rank: the randomised Nystrom method after one power iteration."""
        products = times(signs(0, "deflation", (width, rank)).astype(np.float32))
        nothing = cls(np.zeros(0), products[:, :0])
        if not np.isfinite(products).all():
            return nothing
        # NumPy would decompose a copy in double precision, twice as large.
        basis = linalg.qr(products, overwrite_a=True, mode="economic", check_finite=False)[0]
        products = times(basis)
        inner = (basis.T @ products).astype(np.float64)
        values, vectors = linalg.eigh(inner + inner.T)
        kept = values > _ROUNDING * max(values[-1], 0.0)
        if not kept.any():
            return nothing
        root = products @ (vectors[:, kept] / np.sqrt(values[kept] / 2)).astype(np.float32)
        values, vectors = linalg.eigh((root.T @ root).astype(np.float64))
        return cls(values, root @ (vectors / np.sqrt(values)).astype(np.float32))

    def precondition(self, R: NDArray, shifts: NDArray) -> NDArray:
        """Return R, whose columns have shifts, with the directions of large eigenvalues scaled down to the least."""
        if not self.values.size:
            return R
        excess = (self.values[0] + shifts) / (self.values[:, None] + shifts) - 1
        return R + self.vectors @ (excess.astype(np.float32) * (self.vectors.T @ R))


class Steps:
    """Conjugate gradients for several diagonals, each of which ends when it is solved or fails.

    Each step takes its gain off the squared error in the norm of the matrix, so the gains of the last steps tell what
    is left of it.

    Parameters
    ----------
    times : function of float32 columns
        The product of the matrix with them.
    right : ndarray of shape (width, n_columns), or a sequence of as many as there are diagonals
        The same for all diagonals, or one for each.
    diagonals : sequence of float
    preconditioner : Preconditioner
    tolerance : float
        Relative error at which a solution ends.
    window : int
        Steps over which the error must hardly fall any more.
    start : ndarray of shape (width, n_columns), optional
        Where to begin, of all columns of all diagonals.
    """

    def __init__(
        self,
        times: Product,
        right: NDArray[np.float32] | Sequence[NDArray[np.float32]],
        diagonals: Sequence[float],
        preconditioner: Preconditioner,
        tolerance: float = _TOLERANCE,
        window: int = _WINDOW,
        start: NDArray[np.float32] | None = None,
    ) -> None:
        self._times, self._preconditioner, self._tolerance = times, preconditioner, tolerance
        self.n_taken = 0
        self.lost: dict[int, NDArray[np.float32]] = {}  # where the matrix is not positive, and how far it went
        self.solutions: list[NDArray[np.float32] | None] = [None] * len(diagonals)
        rights = [right] * len(diagonals) if isinstance(right, np.ndarray) else right
        self.owners = np.repeat(np.arange(len(diagonals)), [r.shape[1] for r in rights])  # the diagonal of each column
        self._shifts = np.asarray(diagonals, dtype=np.float32)[self.owners]
        self._R = np.hstack(rights)
        self._X = np.zeros_like(self._R)
        self._total = np.zeros(self.owners.size)
        if start is not None:
            self._X += start
            # The squared size of a solution in the norm of the matrix is its product with the right side.
            self._total = np.maximum(_dots(self._X, self._R), 0.0)
            self._R = self._R - times(self._X) - self._shifts * self._X
        self._direction = preconditioner.precondition(self._R, self._shifts)
        self._size = _dots(self._R, self._direction)
        self._gains = np.zeros((window, self.owners.size))

    def take(self) -> None:
        """Take a step for all columns that are left."""
        product = self._times(self._direction) + self._shifts * self._direction
        curvature = _dots(self._direction, product)
        is_positive = np.isfinite(curvature) & ((curvature > 0) | (self._size == 0))
        length = np.divide(self._size, curvature, out=np.zeros_like(curvature), where=is_positive & (self._size > 0))
        self._X += length.astype(np.float32) * self._direction
        self._R -= length.astype(np.float32) * product
        self._gains[self.n_taken % len(self._gains)] = length * self._size
        self._total += length * self._size
        self.n_taken += 1
        is_solved = self._gains.sum(axis=0) <= self._tolerance**2 * self._total
        self._end(is_positive, is_solved & (self.n_taken > len(self._gains)))
        preconditioned = self._preconditioner.precondition(self._R, self._shifts)
        before, self._size = self._size, _dots(self._R, preconditioned)
        ratio = np.divide(self._size, before, out=np.zeros_like(before), where=before > 0)
        self._direction = preconditioned + ratio.astype(np.float32) * self._direction

    def so_far(self) -> list[NDArray[np.float32]]:
        """Return the solution for each diagonal, or what there is of it."""
        left = {int(i): self._X[:, self.owners == i] for i in np.unique(self.owners)} | self.lost
        return [left[i] if solution is None else solution for i, solution in enumerate(self.solutions)]

    def _end(self, is_positive: NDArray[np.bool_], is_solved: NDArray[np.bool_]) -> None:
        """Let go of the diagonals that are solved, and of those with which the matrix is not positive."""
        kept = np.ones(self.owners.size, bool)
        for i in np.unique(self.owners):
            mine = self.owners == i
            if not is_positive[mine].all():
                self.lost[int(i)] = self._X[:, mine]
            elif is_solved[mine].all():
                self.solutions[i] = self._X[:, mine]
            else:
                continue
            kept &= ~mine
        if not kept.all():
            for name in ("owners", "_shifts", "_size", "_total"):
                setattr(self, name, getattr(self, name)[kept])
            for name in ("_X", "_R", "_direction", "_gains"):
                setattr(self, name, np.ascontiguousarray(getattr(self, name)[:, kept]))


def _dots(A: NDArray, B: NDArray) -> NDArray[np.float64]:
    """Return the product of each column with its like."""
    return np.einsum("ij,ij->j", A, B, dtype=np.float64)
