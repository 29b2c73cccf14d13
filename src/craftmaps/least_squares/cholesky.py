"""Cholesky factors on threads of this library: those of BLAS wait for each other by spinning.

On a busy machine a threaded factor of BLAS took ten times the processor time of a serial one.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from craftmaps._system.threads import cut, for_each, serial_blas

_BLOCK = 512


def factor_in_place(matrix: NDArray[np.floating]) -> bool:
    """Replace the lower triangle of a matrix, in Fortran order, by its Cholesky factor; False if it is not positive.

    Blocks follow from the width alone, so the factor does not depend on the number of threads.
    """
    potrf = get_lapack_funcs("potrf", (matrix,))
    blocks = cut(matrix.shape[0], _BLOCK)
    for k, own in enumerate(blocks):
        with serial_blas:
            corner, info = potrf(np.asfortranarray(matrix[own, own]), lower=1, overwrite_a=1, clean=1)
        if info:
            return False
        matrix[own, own] = corner
        below = blocks[k + 1 :]
        _divide(matrix, corner, below, own)
        _update(matrix, below, own)
    return True


def _divide(matrix: NDArray, corner: NDArray, below: list[slice], own: slice) -> None:
    """Solve the blocks below a factored corner."""
    trsm = get_blas_funcs("trsm", (matrix,))

    def panel(rows: slice) -> None:
        matrix[rows, own] = trsm(1.0, corner, np.asfortranarray(matrix[rows, own]), side=1, lower=1, trans_a=1)

    for_each(panel, below)


def _update(matrix: NDArray, below: list[slice], own: slice) -> None:
    """Take the products of the blocks below a corner away from what is to their right."""

    def tile(corner: tuple[int, int]) -> None:
        rows, columns = below[corner[0]], below[corner[1]]
        matrix[rows, columns] -= matrix[rows, own] @ matrix[columns, own].T

    for_each(tile, [(i, j) for i in range(len(below)) for j in range(i + 1)])
