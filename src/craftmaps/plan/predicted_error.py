"""The kernel error of a map, predicted by closed forms instead of measured."""

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from craftmaps.kernels import Rows
from craftmaps.maps.feature_map import SeededMap


def predicted_error(feature_map: Any, X: Rows, Y: Rows | None = None) -> float:
    """Predict the relative kernel error |ZZ' - K| / |K| (Frobenius) of a fitted map on the rows of X.

    The prediction is the root mean squared error over the draws of the map. A `LandmarkMap` is
    not random once it is fitted, so its prediction is the error itself. Where single features have heavy tails
    (high degrees, few components), most draws do better than the root mean square.

    Parameters
    ----------
    feature_map : fitted map of this library
    X, Y : rows to compare; Y defaults to X

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from craftmaps import Polynomial, TensorSketch
    >>> from craftmaps.plan import predicted_error
    >>> X = normalize(load_digits().data[:200])
    >>> wide, narrow = (TensorSketch(Polynomial(degree=3), n).fit(X) for n in (1024, 256))
    >>> round(predicted_error(narrow, X) / predicted_error(wide, X), 1)
    2.0
    """
    if not isinstance(feature_map, SeededMap):
        raise TypeError(f"feature_map must be a map of this library, got {type(feature_map).__name__}.")
    check_is_fitted(feature_map)
    X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    if X.shape[1] != feature_map.n_features_in_:
        raise ValueError(f"X has {X.shape[1]} features, expected {feature_map.n_features_in_} as in fit.")
    if Y is not None:
        Y = check_array(Y, accept_sparse="csr", dtype=np.float64, input_name="Y")
    estimate = feature_map._estimate_moments(X, Y)
    K = estimated_kernel(feature_map)(X, Y)
    # Rounding can make a variance of zero negative.
    squared_error = max(float(np.mean((estimate.mean - K) ** 2 + estimate.variance)), 0.0)
    return float(np.sqrt(squared_error / np.mean(K**2)))


def estimated_kernel(feature_map: Any) -> Any:
    """Return the kernel that inner products of the features of a map estimate."""
    return feature_map._estimated_kernel
