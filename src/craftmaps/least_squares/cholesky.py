"""Cholesky factors on threads of this library: those of BLAS wait for each other by spinning.

On a busy machine a threaded factor of BLAS took ten times the processor time of a serial one.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from craftmaps._system.threads import cut, for_each, serial_blas

_BLOCK = 384


def factor_in_place(matrix: NDArray[np.floating]) -> bool:
    """Replace the lower triangle of a matrix by its Cholesky factor; False if it is not positive definite.

    What is above the diagonal stays. Fortran order is quickest.

    Blocks follow from the width alone, so the factor does not depend on the number of threads.
    """
    potrf = get_lapack_funcs("potrf", (matrix,))
    blocks = cut(matrix.shape[0], _BLOCK)
    for k, own in enumerate(blocks):
        with serial_blas:
            corner, info = potrf(np.asfortranarray(matrix[own, own]), lower=1, overwrite_a=1, clean=0)
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
    """Take the products of the blocks below a corner away from what is to their right, up to the diagonal."""
    across = matrix.T  # in C order, as products come

    def panel(columns: slice) -> None:
        right, width = across[own, columns.start :], columns.stop - columns.start
        products = right[:, :width].T @ right
        with np.errstate(invalid="ignore"):  # on the other side of the diagonal may be anything
            across[columns, columns] -= np.triu(products[:, :width])
        across[columns, columns.stop :] -= products[:, width:]

    for_each(panel, below)
