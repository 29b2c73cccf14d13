"""Rows as arrays of a file and back: dense or CSR, checked before any loop sees them."""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from craftmaps._system.fields import DamagedError, Fields

_WHOLE = (np.int32, np.int64)


def rows_to_plain(X: Any) -> Any:
    """Return rows as arrays."""
    if not issparse(X):
        return X
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "width": int(X.shape[1])}


def rows_from_plain(fields: Fields, name: str, width: int) -> Any:
    """Return rows of a width from arrays: float32 or float64, finite, and in CSR with valid indices."""
    if not isinstance(fields.value(name), dict):
        return fields.array(name, (None, width))
    csr = fields.object(name)
    csr.whole("width", width, width)
    indptr = csr.array("indptr", (None,), _WHOLE)
    data = csr.array("data", (None,))
    indices = csr.array("indices", (data.size,), _WHOLE)
    if not indptr.size or indptr[0] != 0 or indptr[-1] != data.size or (indptr[1:] < indptr[:-1]).any():
        raise DamagedError(f"{csr.path('indptr')} must rise from 0 to the {data.size} entries of the rows")
    if data.size and not (0 <= indices.min() and indices.max() < width):
        raise DamagedError(f"{csr.path('indices')} must be from 0 to {width - 1}")
    return csr_matrix((data, indices, indptr), shape=(indptr.size - 1, width))
