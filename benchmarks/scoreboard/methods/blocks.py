"""Rows in blocks, for methods that learn from a stream."""

from collections.abc import Iterator
from typing import Any

import numpy as np

BLOCK_ROWS = 20_000


def blocks(X, y, n_rows: int = BLOCK_ROWS) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield rows and targets a block at a time."""
    for start in range(0, len(y), n_rows):
        yield X[start : start + n_rows], y[start : start + n_rows]


def row_blocks(X, n_rows: int = BLOCK_ROWS) -> Iterator[Any]:
    """Yield rows a block at a time."""
    for start in range(0, X.shape[0], n_rows):
        yield X[start : start + n_rows]
