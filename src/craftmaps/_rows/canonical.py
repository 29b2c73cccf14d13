"""Rows as they come, dense or CSR, brought into a form that the rest of the library can rely on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms


def without_duplicates(X: Any) -> Any:
    """Return CSR rows in which every entry stands once; others as they are."""
    if issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def unit_rows(X: Any) -> Any:
    """Return rows of unit length; only rows of zeros stay as they are.

    scikit-learn would leave short dense rows as they are, and make zeros of rows whose squares overflow: such
    rows are divided by their largest entry first.
    """
    with np.errstate(over="ignore"):
        lengths = row_norms(X)
    odd = np.flatnonzero(~np.isfinite(lengths) | (lengths < 16 * np.finfo(X.dtype).eps))
    if odd.size:
        X = _with_largest_entries_of_one(X, odd)
        lengths[odd] = row_norms(X[odd])
    if issparse(X):
        return normalize(X)
    return X / np.where(lengths > 0, lengths, 1).astype(X.dtype)[:, None]


def _with_largest_entries_of_one(X: Any, rows: NDArray[np.int64]) -> Any:
    """Divide some rows by the absolute value of their largest entry, if that is not zero."""
    largest = abs(X[rows]).max(axis=1)
    largest = largest.toarray().ravel() if issparse(X) else largest
    X = X.copy()
    for row, entry in zip(rows[largest > 0], largest[largest > 0], strict=True):
        entries = X.data[X.indptr[row] : X.indptr[row + 1]] if issparse(X) else X[row]
        entries /= entry
    return X
