"""A positive float32 matrix that is solved with one diagonal after another, in its own memory."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from craftmaps._system.threads import cut, for_each, serial_blas
from craftmaps.least_squares.cholesky import factor_in_place

BLOCK = 256


class SingleSquare:
    """Positive definite systems of one matrix: of its two triangles one keeps it and the other one is decomposed.

    Parameters
    ----------
    matrix : ndarray of shape (width, width), dtype float32
        In C order. What is above the diagonal has no meaning. It is overwritten.
    """

    def __init__(self, matrix: NDArray[np.float32]):
        self._matrix = matrix
        self._diagonal = matrix.diagonal().copy()

    def solve(self, shift: ArrayLike, right: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """Return the solution with something added to the diagonal, or None if that is not positive definite."""
        self._mirror()
        self._matrix[np.diag_indices_from(self._matrix)] = self._diagonal + np.asarray(shift, dtype=np.float32)
        if not factor_in_place(self._matrix.T):  # transposed it is the same, and in the order of LAPACK
            return None
        with serial_blas:
            return linalg.cho_solve((self._matrix.T, True), right, check_finite=False)

    def _mirror(self) -> None:
        """Copy what is below the diagonal to above it."""
        matrix = self._matrix

        def copy(part: slice) -> None:
            corner = matrix[part, part]
            above = np.triu_indices(len(corner), 1)
            corner[above] = corner.T[above]
            matrix[part, part.stop :] = matrix[part.stop :, part].T

        for_each(copy, cut(len(matrix), BLOCK))
