"""What there is to know of the blocks of a stream without counting them."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import _num_samples


def length(blocks: Any) -> int | None:
    """Return how many blocks there are, if that is known."""
    try:
        return len(blocks)
    except TypeError:
        return None


def n_counted(X: Any, y: Any, sample_weight: Any = None) -> int:
    """Return how many rows of a block count."""
    if sample_weight is None or np.ndim(sample_weight) == 0:
        return _num_samples(X)
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
