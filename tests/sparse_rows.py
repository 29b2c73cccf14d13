"""CSR matrices that hold the same rows in unusual ways."""

import numpy as np
from scipy.sparse import csr_matrix


def with_reversed_entries(X):
    """Return a CSR matrix whose column indices fall along each row."""
    X = csr_matrix(X, copy=True)
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        for array in (X.data, X.indices):
            array[start:stop] = array[start:stop][::-1].copy()
    X.has_sorted_indices = X.has_canonical_format = False
    return X


def with_split_entries(X):
    """Return a CSR matrix that holds every number as two halves."""
    X = csr_matrix(X)
    return csr_matrix((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


def with_explicit_zeros(X):
    """Return a CSR matrix that stores every entry of a dense one."""
    n_rows, width = X.shape
    return csr_matrix((X.ravel(), np.tile(np.arange(width), n_rows), width * np.arange(n_rows + 1)), shape=X.shape)


def with_wide_indices(X):
    """Return a CSR matrix with 64-bit indices."""
    X = csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X
