"""Kernel machines on a few thousand rows: what a map of boundless width would learn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.utils.extmath import safe_sparse_dot

from craftmaps.kernels import DotProductKernel
from craftmaps.parallel import cut, for_each

_BLOCK_ROWS = 256


def fitted_weights(
    kernel: DotProductKernel, rows: Any, targets: NDArray[np.floating], penalty: float
) -> NDArray[np.float32]:
    """Return the weights of a kernel machine on rows, one for each and target.

    The penalty is relative to the diagonal of the kernel matrix. It grows where rounding errors are larger, and a
    machine whose kernel is not finite in single precision knows nothing.
    """
    rows = rows.astype(np.float32, copy=False)
    while True:
        system = safe_sparse_dot(rows, rows.T, dense_output=True)

        def apply_kernel(part: slice, system: NDArray = system) -> None:
            system[part] = kernel.of_dot_products(system[part].copy())

        with np.errstate(over="ignore"):
            for_each(apply_kernel, cut(rows.shape[0], _BLOCK_ROWS))  # a power needs room for a copy
        diagonal = system.diagonal()
        if not np.isfinite(diagonal).all():
            return np.zeros(targets.shape, np.float32)
        # Kernels of rows of unlike lengths differ by powers of ten: with a diagonal of ones they keep their digits.
        scales = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1))[:, None]
        system *= scales
        system *= scales.T
        system[np.diag_indices_from(system)] += np.float32(penalty)
        try:  # transposed it is the same, and in the order of LAPACK, so that it is overwritten and not copied
            factor = linalg.cho_factor(system.T, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            penalty *= 10
            continue
        return scales * linalg.cho_solve(factor, scales * targets.astype(np.float32), check_finite=False)


def machine_outputs(
    kernel: DotProductKernel, known: Any, weights: NDArray[np.float32], rows: Any
) -> NDArray[np.float64]:
    """Return what a machine with weights on known rows says of other rows.

    Kernels are taken in double precision: rows much longer than those known would overflow.
    """
    outputs = np.empty((rows.shape[0], weights.shape[1]))

    def say(part: slice) -> None:
        dots = safe_sparse_dot(rows[part], known.T, dense_output=True).astype(np.float64, copy=False)
        outputs[part] = kernel.of_dot_products(dots) @ weights

    for_each(say, cut(rows.shape[0], _BLOCK_ROWS))
    return outputs
