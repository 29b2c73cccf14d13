"""Hadamard matrices and transforms in NumPy, for small sizes and for weights."""

import numpy as np
from numpy.typing import NDArray


def hadamard_matrix(order: int) -> NDArray[np.int8]:
    """Return the Hadamard matrix of an order that is a power of two."""
    k = np.arange(order)
    return (1 - 2 * (np.bitwise_count(k[:, None] & k[None, :]) & 1)).astype(np.int8)


def hadamard_transformed(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return H times columns whose number of rows is a power of two."""
    result = columns.copy()
    half = 1
    while half < result.shape[0]:
        pairs = result.reshape(-1, 2, half, result.shape[1])
        pairs[:] = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
        half *= 2
    return result
