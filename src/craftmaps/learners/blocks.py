"""Blocks of rows: how many rows to map at a time, and what a stream tells of its blocks before they are counted."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from craftmaps._system.threads import PRODUCT_ROWS, n_threads

_FEWEST_BYTES = 2**26
_GRAM_BYTES, _FEWEST_GRAM_ROWS = 2**26, 1024
_CACHED_BYTES = 2**22


def gram_rows(batch_rows: int | str, n_features: int, dtype: Any) -> int:
    """Return how many rows to add to a Gram matrix at a time: as given, or so many that their features fit."""
    if not isinstance(batch_rows, str):
        return int(batch_rows)
    return max(_FEWEST_GRAM_ROWS, _GRAM_BYTES // (np.dtype(dtype).itemsize * n_features))


def block_rows(batch_rows: int | str, n_features: int, dtype: Any) -> int:
    """Return how many rows to predict at a time: as given, or so many that their features stay in a cache.

    Those are whole blocks of `multiply`, so outputs do not depend on the number of threads. Several threads would
    wait for each other after every small block, so their blocks are those of a Gram matrix.
    """
    if not isinstance(batch_rows, str) or n_threads() > 1:
        return gram_rows(batch_rows, n_features, dtype)
    n_products = _CACHED_BYTES // (np.dtype(dtype).itemsize * n_features * PRODUCT_ROWS)
    return PRODUCT_ROWS * max(1, n_products)


def length(blocks: Any) -> int | None:
    """Return how many blocks there are, if that is known."""
    try:
        return len(blocks)
    except TypeError:
        return None


class Extent:
    """How much there is in blocks, as far as they tell: a stream knows its rows or bytes, a list its blocks."""

    def __init__(self, blocks: Any):
        n_rows = getattr(blocks, "n_rows", None)
        self.n_rows = int(n_rows) if isinstance(n_rows, int) and n_rows > 0 else None
        self._blocks, self._n_blocks = blocks, length(blocks)

    def share(self, n_blocks: int, n_rows: int) -> float | None:
        """Return which share of all is done after so many blocks and rows."""
        if self.n_rows is not None:
            return min(n_rows / self.n_rows, 1.0)
        if self._n_blocks is not None:
            return min(n_blocks / max(self._n_blocks, 1), 1.0)
        total = getattr(self._blocks, "total_bytes", None)
        # Bytes are read some megabytes ahead: of a small file all at once, and the last ones before the last rows.
        is_telling = isinstance(total, int) and total >= _FEWEST_BYTES
        return min(self._blocks.bytes_read / total, 0.99) if is_telling else None


def n_counted(X: Any, y: Any, sample_weight: Any = None) -> int:
    """Return how many rows of a block count."""
    if sample_weight is None or np.ndim(sample_weight) == 0:
        return X.shape[0] if hasattr(X, "shape") else len(X)
    return int(np.count_nonzero(sample_weight))


def where(block: Any) -> str:
    """Name the first row that is not finite, if there is one."""
    try:
        X = block[0]
        finite = np.isfinite(np.asarray(X.tocsr().data if issparse(X) else X, dtype=float))
    except (TypeError, ValueError, LookupError):
        return ""
    if finite.all():
        return ""
    if issparse(X):
        return f", row {int(np.searchsorted(X.tocsr().indptr, np.flatnonzero(~finite)[0], side='right')) - 1}"
    return f", row {int(np.flatnonzero(~finite.all(axis=1))[0])}" if finite.ndim == 2 else ""
