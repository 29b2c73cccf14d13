"""Kernel machines on a few thousand rows: what a map of boundless width would learn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.extmath import safe_sparse_dot

from craftmaps._system.threads import cut, for_each
from craftmaps.kernels import DotProductKernel
from craftmaps.least_squares.single_square import BLOCK, SingleSquare


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
        if issparse(single):
            system = safe_sparse_dot(single, single.T, dense_output=True)
        else:
            system = np.empty((len(single), len(single)), np.float32)

        def apply_kernel(part: slice) -> None:  # a power needs room for a copy
            dots = system[part, : part.stop].copy() if issparse(single) else single[part] @ single[: part.stop].T
            system[part, : part.stop] = kernel.of_dot_products(dots)

        parts = cut(rows.shape[0], BLOCK)
        with np.errstate(over="ignore"):
            for_each(apply_kernel, parts)
        diagonal = system.diagonal()
        self._is_finite = bool(np.isfinite(diagonal).all())  # the diagonal bounds the rest
        # Kernels of rows of unlike lengths differ by powers of ten: with a diagonal of ones they keep their digits.
        self._scales = (1 / np.sqrt(np.where(diagonal > 0, diagonal, 1)))[:, None].astype(np.float32)
        if self._is_finite:
            for part in parts:
                system[part, : part.stop] *= self._scales[part]
                system[part, : part.stop] *= self._scales[: part.stop].T
        self._square = SingleSquare(system)

    def weights(self, targets: NDArray[np.floating], penalty: float) -> NDArray[np.float32]:
        """Return the weight of each row for each target.

        The penalty is relative to the diagonal of the kernel matrix. It grows where rounding errors are larger. Returns
        zeros if the kernel overflows in single precision.
        """
        while self._is_finite:
            solved = self._square.solve(penalty, self._scales * targets.astype(np.float32))
            if solved is not None:
                return self._scales * solved
            penalty *= 10
        return np.zeros(targets.shape, np.float32)

    def outputs(self, weights: NDArray[np.float32], rows: Any) -> NDArray[np.float64]:
        """Return what a machine with these weights says of other rows.

        Their kernels are taken in double precision: those of much longer rows would overflow.
        """
        outputs = np.empty((rows.shape[0], weights.shape[1]))

        def say(part: slice) -> None:
            dots = safe_sparse_dot(rows[part], self._rows.T, dense_output=True).astype(np.float64, copy=False)
            outputs[part] = self._kernel.of_dot_products(dots) @ weights

        for_each(say, cut(rows.shape[0], BLOCK))
        return outputs
