"""How well the feature map of a model estimates its kernel, and the distribution of its weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from craftmaps.diagnostics import feature_log_scree, kernel_error, log_scree
from craftmaps.maps.feature_map import FeatureMap
from craftmaps.maps.landmarks import LandmarkMap
from craftmaps.plan import predicted_error
from craftmaps.plan.predicted_error import estimated_kernel
from craftmaps.report.run import Run

_MOST_ROWS = 500
_MOST_PAIRS = 600
_BINS = 61


def check_kernel(run: Run) -> dict[str, Any]:
    """Compare the kernel of some rows with inner products of their features.

    If nothing can be compared, the result has only the reason, under `skipped`.
    """
    feature_map = run.model.features_.feature_map
    if feature_map is None:
        return {"skipped": "The model is linear in the rows, without a feature map, so no kernel is estimated."}
    if not isinstance(feature_map, FeatureMap):
        name = type(feature_map).__name__
        return {"skipped": f"The feature map, {name}, is not of this library, so the kernel it estimates is not known."}
    rows = run.some_rows("rows_sample" if run.rows_sample is not None else "X_test", _MOST_ROWS)
    if rows is None:
        return {"skipped": "No rows were kept to compare the kernel on."}
    X = run.model.features_.shape_rows(rows)
    Z = _features(feature_map, X)
    K = np.asarray(estimated_kernel(feature_map)(X), dtype=np.float64)
    if not K.any():
        return {"skipped": "The kernel of the rows kept is zero throughout, so there is nothing to compare."}
    measured = kernel_error(Z, K)
    is_random = not isinstance(feature_map, LandmarkMap)
    return {
        "rows": K.shape[0],
        "measured": measured,
        # Landmarks that are drawn leave nothing to predict, and the prediction would cost E^3.
        "predicted": predicted_error(feature_map, X) if is_random else measured,
        "is_random": is_random,
        "pairs": _pairs(K, Z @ Z.T),
        "scree": {"exact": log_scree(K), "map": feature_log_scree(Z)},
    }


def weight_histogram(run: Run) -> dict[str, Any]:
    """Return a histogram of the weights of the model, scaled so that the largest is 1."""
    # Not `diagnostics.weight_histogram`, which fits another model to the rows given.
    weights = np.ravel(run.model.coef_)
    largest = float(np.abs(weights).max()) or 1.0
    counts, edges = np.histogram(weights / largest, bins=_BINS, range=(-1.0, 1.0))
    return {"counts": counts, "edges": edges, "n_weights": weights.size, "largest": largest}


def _features(feature_map: Any, X: Any) -> NDArray[np.float64]:
    """Return features whose inner products estimate the kernel."""
    Z = np.asarray(feature_map.transform(X), dtype=np.float64)
    if not isinstance(feature_map, LandmarkMap) or feature_map.whiten:
        return Z
    # Features k(x, L), not whitened: the estimate is k(x, L) P^-1 k(L, y). A small multiple of the identity keeps
    # P = k(L, L) positive definite, so that Cholesky, many times faster than the eigenvectors of whitening, suffices.
    P = feature_map.penalty_
    jitter = P.shape[0] * float(np.finfo(P.dtype).eps) * float(np.mean(np.diag(P)))
    factor = linalg.cholesky(P.astype(np.float64) + jitter * np.eye(P.shape[0]), lower=True)
    return linalg.solve_triangular(factor, Z.T, lower=True).T


def _pairs(K: NDArray[np.float64], estimate: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return kernel values and their estimates at evenly spaced pairs of different rows."""
    i, j = np.triu_indices(K.shape[0], k=1)
    chosen = np.unique(np.linspace(0, i.size - 1, _MOST_PAIRS).astype(int)) if i.size else np.empty(0, int)
    return np.column_stack([K[i[chosen], j[chosen]], estimate[i[chosen], j[chosen]]])
