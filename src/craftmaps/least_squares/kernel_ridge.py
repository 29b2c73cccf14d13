"""Kernel machines on a few thousand rows: what a map of boundless width would learn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import issparse
from sklearn.utils.extmath import safe_sparse_dot

from craftmaps._system.threads import cut, for_each, multiply, serial_blas
from craftmaps.kernels import DotProductKernel
from craftmaps.least_squares.cholesky import factor_in_place

_BLOCK_ROWS = 256


class KernelMachine:
    """Ridge regressions in the space of a kernel, on some rows, for one penalty after another.

    Parameters
    ----------
    kernel : DotProductKernel
    rows : ndarray or CSR matrix
    """

    def __init__(self, kernel: DotProductKernel, rows: Any):
        self._kernel, self._rows = kernel, rows
        single = rows.astype(np.float32, copy=False)
        # One square in memory: of the two triangles one is decomposed and the other one keeps the matrix.
        self._system = system = (
            safe_sparse_dot(single, single.T, dense_output=True) if issparse(single) else (multiply(single, single.T))
        )

        def apply_kernel(part: slice) -> None:  # a power needs room for a copy
            system[part] = kernel.of_dot_products(system[part].copy())

        with np.errstate(over="ignore"):
            for_each(apply_kernel, cut(rows.shape[0], _BLOCK_ROWS))
        diagonal = system.diagonal()
        self._is_finite = bool(np.isfinite(diagonal).all())  # the diagonal bounds the rest
        # Kernels of rows of unlike lengths differ by powers of ten: with a diagonal of ones they keep their digits.
        self._scales = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1))[:, None]
        if self._is_finite:
            system *= self._scales
            system *= self._scales.T
            self._diagonal = system.diagonal().copy()
            _mirror(system.T)

    def weights(self, targets: NDArray[np.floating], penalty: float) -> NDArray[np.float32]:
        """Return the weight of each row for each target.

        The penalty is relative to the diagonal of the kernel matrix. It grows where rounding errors are larger. Returns
        zeros if the kernel overflows in single precision.
        """
        while self._is_finite:
            self._system[np.diag_indices_from(self._system)] = self._diagonal + np.float32(penalty)
            try:  # transposed it is the same, and in the order of LAPACK
                if factor_in_place(self._system.T):
                    right = self._scales * targets.astype(np.float32)
                    with serial_blas:
                        solved = linalg.cho_solve((self._system.T, True), right, check_finite=False)
                    return self._scales * solved
                penalty *= 10
            finally:
                _mirror(self._system)
        return np.zeros(targets.shape, np.float32)

    def outputs(self, weights: NDArray[np.float32], rows: Any) -> NDArray[np.float64]:
        """Return what a machine with these weights says of other rows.

        Their kernels are taken in double precision: those of much longer rows would overflow.
        """
        outputs = np.empty((rows.shape[0], weights.shape[1]))

        def say(part: slice) -> None:
            dots = safe_sparse_dot(rows[part], self._rows.T, dense_output=True).astype(np.float64, copy=False)
            outputs[part] = self._kernel.of_dot_products(dots) @ weights

        for_each(say, cut(rows.shape[0], _BLOCK_ROWS))
        return outputs


def _mirror(system: NDArray) -> None:
    """Copy what is below the diagonal to above it."""

    def copy(part: slice) -> None:
        corner = system[part, part]
        above = np.triu_indices(len(corner), 1)
        corner[above] = corner.T[above]
        system[part, part.stop :] = system[part.stop :, part].T

    for_each(copy, cut(len(system), _BLOCK_ROWS))
