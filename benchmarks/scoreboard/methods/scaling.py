"""Scale rows as kernel methods want them; scalers are fitted to the first rows of a stream."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

SCALERS = {
    "length": Normalizer,
    "standard": StandardScaler,
    "none": FunctionTransformer,
}


def fitted_scaler(scaling: str, X) -> Any:
    """Return a transformer to rows of unit length, to columns of unit variance, or to the same rows."""
    return SCALERS[scaling]().fit(X)


def dense(X) -> np.ndarray:
    """Return dense rows in single precision."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, np.float32)


def inverse_spread(X) -> float:
    """Return gamma as "scale" of `SVC` has it: 1 over the sum of the variances of columns, roughly."""
    return 1 / (X.shape[1] * float(X.var()))
