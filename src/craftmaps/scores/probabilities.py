"""Probabilities as they are written to files."""

import numpy as np
from numpy.typing import NDArray


def rounded(probabilities: NDArray, decimals: int | None = None) -> NDArray:
    """Round the probabilities of each row so that they sum to one, to some decimals or else in their own precision.

    The largest probability takes the remainder.

    Examples
    --------
    >>> thirds = np.full((1, 3), 1 / 3, np.float32)
    >>> rounded(thirds, decimals=2).tolist()
    [[0.34, 0.33, 0.33]]
    >>> float(rounded(thirds).astype(np.float64).sum()) - 1
    0.0
    """
    exact = probabilities.astype(np.float64)
    exact /= exact.sum(axis=1, keepdims=True)
    near = exact.round(decimals) if decimals is not None else exact.astype(probabilities.dtype).astype(np.float64)
    rows, largest = np.arange(near.shape[0]), near.argmax(axis=1)
    near[rows, largest] = 0.0
    rest = 1 - near.sum(axis=1)
    near[rows, largest] = rest if decimals is None else rest.round(decimals)
    return near if decimals is not None else near.astype(probabilities.dtype)
