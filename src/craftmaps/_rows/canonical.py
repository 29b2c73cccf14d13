"""Canonical forms of rows, dense or CSR."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms

from craftmaps._system.threads import for_row_blocks

_NUMBERS_AT_A_TIME = 2**18


def without_duplicates(X: Any) -> Any:
    """Return X, with duplicate entries summed if it is CSR; X itself is not changed."""
    if issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def unit_rows(X: Any) -> Any:
    """Return rows of unit length; rows of zeros stay zero.

    scikit-learn leaves very short dense rows unscaled and turns rows whose squares overflow into zeros. Both kinds
    are divided by their largest entry first.
    """
    with np.errstate(over="ignore"):
        lengths = row_norms(X)
    odd = np.flatnonzero(~np.isfinite(lengths) | (lengths < 16 * np.finfo(X.dtype).eps))
    if odd.size:
        X = _divided_by_largest_entry(X, odd)
        lengths[odd] = row_norms(X[odd])
    if issparse(X):
        return normalize(X)
    return X / np.where(lengths > 0, lengths, 1).astype(X.dtype)[:, None]


def _divided_by_largest_entry(X: Any, rows: NDArray[np.int64]) -> Any:
    """Divide some rows by their largest absolute entry, unless it is zero."""
    largest = abs(X[rows]).max(axis=1)
    largest = largest.toarray().ravel() if issparse(X) else largest
    X = X.copy()
    for row, entry in zip(rows[largest > 0], largest[largest > 0], strict=True):
        entries = X.data[X.indptr[row] : X.indptr[row + 1]] if issparse(X) else X[row]
        entries /= entry
    return X


def has_finite_sums(X: NDArray[np.floating]) -> bool:
    """Tell whether the sums of blocks of X are finite, which implies that X is; large arrays use all threads."""
    sums = []
    if X.ndim == 2 and abs(X.strides[0]) < abs(X.strides[1]):
        X = X.T  # in the order of memory

    def add_up(start: int, stop: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            sums.append(np.add.reduce(X[start:stop], axis=None))

    if X.size <= _NUMBERS_AT_A_TIME:
        add_up(0, X.shape[0])  # waking a thread would take longer
    else:
        for_row_blocks(add_up, X.shape[0], _NUMBERS_AT_A_TIME // X[0].size)
    return bool(np.isfinite(sums).all())
