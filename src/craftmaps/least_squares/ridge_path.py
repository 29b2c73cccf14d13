"""Ridge regressions of one Gram matrix for one alpha after another: factors, shifts and refinement."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.threads import cut, for_each, multiply, serial_blas
from craftmaps.least_squares.gram import TILE, Solver
from craftmaps.least_squares.gram_forms import Gram
from craftmaps.least_squares.packed_gram import ChangedGram
from craftmaps.least_squares.square_gram import ChangedSquare
from craftmaps.least_squares.stored_features import Features, StoredFeatures

_SHIFTS = (0.01, 0.1, 1.0, 10.0, 1000.0)  # in units of the rounding errors of the Gram matrix
_MOST_REFINEMENTS, _REFINED = 6, 1e-9


class Solution(NamedTuple):
    """Coefficients, one row for each target, and intercepts."""

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]

    def outputs(self, Z: Features) -> NDArray:
        """Return the outputs for the features of rows; products are formed in their precision."""
        coef = self.coef.T.astype(Z.dtype)
        return (Z @ coef if isinstance(Z, StoredFeatures) else multiply(Z, coef)) + self.intercept


class RidgePath:
    """Ridge solutions of centred normal equations for one alpha after another.

    Where features were float32, factors are float32, which is twice as fast, and solutions are
    refined against the float64 matrix until they are as good as those of a float64 factor; where
    that does not converge, the factor is float64. A quick solution, good to a thousandth, is refined
    once, and not at all for alphas larger than one for which that was enough. Those of a wide packed
    matrix need no factors where conjugate gradients are quicker: `prepare` finds them for all alphas at once.

    Parameters
    ----------
    gram : Gram matrix, centred
    right : ndarray of shape (n_features, n_outputs)
        Products of features and outputs, centred.
    mean, output_mean : ndarrays of shapes (n_features,) and (n_outputs,)
        What was taken away by centring.
    rounding : list of float
        Sizes of the rounding errors that the Gram matrix may have.
    is_single : bool
        Whether features were float32.
    penalty : ndarray of shape (n_features, n_features), optional
        Used instead of the identity.
    """

    def __init__(
        self,
        gram: Gram,
        right: NDArray[np.float64],
        mean: NDArray[np.float64],
        output_mean: NDArray[np.float64],
        *,
        rounding: list[float],
        is_single: bool,
        penalty: NDArray[np.float64] | None = None,
    ):
        if not (np.isfinite(right).all() and np.isfinite(mean).all()):
            raise ValueError("Features and targets must be finite to be solved for.")
        self._gram, self._right, self._mean, self._output_mean = gram, right, mean, output_mean
        self._shifts = [0.0, *(shift * unit for unit in rounding for shift in _SHIFTS)]
        self._is_single, self._penalty = is_single, penalty
        self._trusted_from = np.inf  # from this diagonal on quick solutions need no refinement
        self._quick = gram.quick if isinstance(gram, ChangedGram) and penalty is None else None
        self._prepared: dict[float, NDArray[np.float64] | None] = {}

    def prepare(self, alphas: Sequence[float]) -> None:
        """Find quick solutions for several alphas at once, where that is the better way."""
        if self._quick is None:
            return
        lost = -np.inf
        while self._quick.lost > lost:  # what is lost in rounding errors gets the next shift
            lost = self._quick.lost
            first = {diagonal for alpha in alphas for diagonal in islice(self._diagonals(alpha, True), 1)}
            diagonals = sorted(first - set(self._prepared))
            self._prepared |= zip(diagonals, self._quick.solve(self._gram.times, self._right, diagonals), strict=True)

    def solve(self, alpha: float, quick: bool = False) -> Solution:
        """Return the ridge solution for alpha."""
        if not alpha >= 0 or not np.isfinite(alpha):
            raise ValueError(f"alpha must be a finite number of at least 0, got {alpha}.")
        gram = self._gram
        if self._penalty is not None:
            gram = self._gram.branch()
            gram.add_matrix(alpha, self._penalty)
        for diagonal in self._diagonals(alpha if self._penalty is None else 0.0, quick):
            with serial_blas:  # work is shared out to threads of this library, which do not spin
                coefficients = self._solved(gram, diagonal, quick)
            if coefficients is not None and np.isfinite(coefficients).all():
                return self.solution(coefficients)
        raise ValueError("The features are not finite, or too ill-conditioned to be solved for.")

    def factored(self, alpha: float) -> tuple[Solver | None, float]:
        """Return a solver of systems with alpha on the diagonal, and what rounding made it add to alpha.

        The next decomposition invalidates the solver.
        """
        with serial_blas:
            for diagonal in self._diagonals(alpha, False):
                for dtype in (np.float32, np.float64) if self._is_single else (np.float64,):
                    solver = self._gram.factored(diagonal, dtype)
                    if solver is not None:
                        return solver, diagonal - alpha
        return None, 0.0

    def products(self, factor: float) -> Callable[[NDArray], NDArray]:
        """Return the function that multiplies a factor times the matrix with columns.

        Where features were float32 it holds both triangles in float32, whose products are the quickest.
        """
        if not self._is_single:
            return lambda X: factor * self._gram.times(X.astype(np.float64))
        square, whole = self._gram.square(), np.empty((len(self._right),) * 2, np.float32)

        def both(columns: slice) -> None:
            below = (factor * square[columns.start :, columns]).astype(np.float32)
            corner = np.tril(below[: below.shape[1]])
            below[: below.shape[1]] = corner + np.tril(corner, -1).T
            whole[columns.start :, columns], whole[columns, columns.start :] = below, below.T

        for_each(both, cut(len(whole), TILE))
        return lambda X: multiply(whole, X)

    @property
    def is_lent(self) -> bool:
        """Whether the matrix has changes that are made anew at every decomposition."""
        return isinstance(self._gram, ChangedSquare)

    def made(self) -> "RidgePath":
        """Return the same solutions from a matrix with its changes made."""
        path = copy(self)
        path._gram = self._gram.copy()
        return path

    @property
    def right(self) -> NDArray[np.float64]:
        """The right sides."""
        return self._right

    def solution(self, coefficients: NDArray[np.float64]) -> Solution:
        """Return the solution that has these coefficients, of shape (n_features, n_outputs)."""
        return Solution(coefficients.T, self._output_mean - self._mean @ coefficients)

    def _diagonals(self, alpha: float, quick: bool) -> Iterator[float]:
        """Yield what to add to the diagonal until the matrix is positive definite: alpha, and more.

        Rounding can leave a matrix that is not. What the data does not determine is then settled by a shift of the
        size of the rounding errors. In quick solutions of a packed matrix all alphas that are lost in these are one.
        """
        if not quick or self._quick is None:
            yield from (alpha + shift for shift in self._shifts)
            return
        for shift in self._shifts[1:]:
            if max(alpha, shift) > self._quick.lost:
                yield max(alpha, shift)

    def _solved(self, gram: Gram, diagonal: float, quick: bool) -> NDArray[np.float64] | None:
        """Return coefficients, or None if the matrix is not positive definite."""
        if quick and self._prepared.get(diagonal) is not None:
            return self._prepared[diagonal]
        if self._is_single:
            solver = gram.factored(diagonal, np.float32)
            if solver is not None:
                X = solver(self._right)
                if (quick and diagonal >= self._trusted_from) or self._refine(gram, diagonal, solver, X, quick):
                    return X
        if self._quick is not None:
            self._quick.lose(diagonal)
        if gram.packed:
            return None
        solver = gram.factored(diagonal)
        return None if solver is None else solver(self._right)

    def _refine(self, gram: Any, diagonal: float, solver: Any, X: NDArray[np.float64], quick: bool) -> bool:
        """Refine a solution in place against the float64 residual; tell whether that is good enough."""
        last = 0.2
        for _ in range(_MOST_REFINEMENTS):
            step = solver(self._right - gram.times(X) - diagonal * X)
            size = float(np.linalg.norm(step)) / (float(np.linalg.norm(X)) or 1.0)
            if not size < 0.5 * last:
                break
            X += step
            last = size
            if quick and size < 1e-3:
                self._trusted_from = min(self._trusted_from, diagonal)
                return True
            if size < _REFINED:
                return True
        return self._gram.packed and last < 0.1  # a packed matrix has no better factor
