"""How well the map of a model estimates its kernel, and what the model makes of its features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from craftmaps.diagnostics import feature_log_scree, kernel_error, log_scree
from craftmaps.maps.landmarks import LandmarkMap
from craftmaps.plan import predicted_error
from craftmaps.plan.predicted_error import estimated_kernel
from craftmaps.report.run import Run

_MOST_ROWS = 500
_MOST_PAIRS = 600
_BINS = 61


def check_kernel(run: Run) -> dict[str, Any]:
    """Compare the kernel of some rows with inner products of their features.

    The result has the reason under `skipped` where there is nothing to compare.
    """
    feature_map = run.model.features_.feature_map  # type: ignore[union-attr]
    if feature_map is None:
        return {"skipped": "The model is linear in the rows, without a feature map, so no kernel is estimated."}
    if not hasattr(feature_map, "_estimate_moments"):
        name = type(feature_map).__name__
        return {"skipped": f"The feature map, {name}, is not of this library, so the kernel it estimates is not known."}
    rows = run.some_rows("rows_sample" if run.rows_sample is not None else "X_test", _MOST_ROWS)
    if rows is None:
        return {"skipped": "No rows were kept to compare the kernel on."}
    shaped = run.model.features_.shape_rows(rows)  # type: ignore[union-attr]
    Z = _features(feature_map, shaped)
    K = np.asarray(estimated_kernel(feature_map)(shaped), dtype=np.float64)
    if not K.any():
        return {"skipped": "The kernel of the rows kept is zero throughout, so there is nothing to compare."}
    measured = kernel_error(Z, K)
    is_random = not isinstance(feature_map, LandmarkMap)
    return {
        "rows": K.shape[0],
        "measured": measured,
        # Once landmarks are drawn nothing is left to predict, and asking would cost E^3.
        "predicted": predicted_error(feature_map, shaped) if is_random else measured,
        "is_random": is_random,
        "pairs": _pairs(K, Z @ Z.T),
        "scree": {"exact": log_scree(K), "map": feature_log_scree(Z)},
    }


def weight_histogram(run: Run) -> dict[str, Any]:
    """Return a histogram of the weights of the model, scaled so that the largest is 1."""
    # The weights that were learned from all rows, and not those of `diagnostics.weight_histogram`,
    # which learns a model of its own from the rows given.
    weights = np.ravel(run.model.coef_)
    largest = float(np.abs(weights).max()) or 1.0
    counts, edges = np.histogram(weights / largest, bins=_BINS, range=(-1.0, 1.0))
    return {"counts": counts, "edges": edges, "n_weights": weights.size, "largest": largest}


def _features(feature_map: Any, shaped: Any) -> NDArray[np.float64]:
    """Return features whose inner products estimate the kernel."""
    Z = np.asarray(feature_map.transform(shaped), dtype=np.float64)
    if not isinstance(feature_map, LandmarkMap) or feature_map.whiten:
        return Z
    # Features k(x, L) as they are: the estimate is k(x, L) P^-1 k(L, y). A trace of the identity keeps P = k(L, L)
    # definite; Cholesky is many times as quick as the eigenvectors that whitening takes.
    P = feature_map.penalty_
    trace = P.shape[0] * float(np.finfo(P.dtype).eps) * float(np.mean(np.diag(P)))
    factor = linalg.cholesky(P.astype(np.float64) + trace * np.eye(P.shape[0]), lower=True)
    return linalg.solve_triangular(factor, Z.T, lower=True).T


def _pairs(K: NDArray[np.float64], estimate: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return kernel values and their estimates at pairs of different rows, evenly chosen."""
    i, j = np.triu_indices(K.shape[0], k=1)
    chosen = np.unique(np.linspace(0, i.size - 1, _MOST_PAIRS).astype(int)) if i.size else np.empty(0, int)
    return np.column_stack([K[i[chosen], j[chosen]], estimate[i[chosen], j[chosen]]])
