"""What predicts: the features of rows, and one matrix that everything linear behind them is folded into."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.threads import multiply
from craftmaps.maps.feature_map import FeatureMap
from craftmaps.shaping.row_features import Lift


class FittedModel:
    """Outputs of rows: features times weights, plus an intercept.

    The last step of many maps is linear: a Hadamard transform, or a product with the inverse factor of a kernel matrix.
    It is folded into the weights once, in float64, and rows are spared it.

    Parameters
    ----------
    features : Lift
    coef : ndarray of shape (n_outputs, n_features)
    intercept : ndarray of shape (n_outputs,)
    """

    def __init__(self, features: Lift, coef: NDArray[np.float64], intercept: NDArray[np.float64]):
        self.features, self.coef, self.intercept = features, coef, intercept
        feature_map = features.feature_map
        self._weights = feature_map._folded(coef.T) if isinstance(feature_map, FeatureMap) else coef.T

    def outputs(self, X: Any, dtype: Any, block_rows: int) -> NDArray[np.floating]:
        """Return the outputs of rows that are known to be good, in a precision, some rows at a time."""
        outputs = np.empty((X.shape[0], self.intercept.size), dtype)
        weights, intercept = self._weights.astype(X.dtype), self.intercept.astype(dtype)
        scratch = None
        for start in range(0, X.shape[0], block_rows):
            scratch = Z = self.features.unfinished(X[start : start + block_rows], self._weights.shape[0], scratch)
            outputs[start : start + block_rows] = multiply(Z, weights) + intercept
        return outputs
