"""The diagnostics of section 3.2 of the paper: spectra, ranks and weights, as arrays to plot."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from craftmaps.kernels import Rows


def kernel_error(Z: Rows, K: Rows) -> float:
    """Return the relative error |ZZ' - K| / |K| (Frobenius) of features against the exact kernel.

    Examples
    --------
    >>> import numpy as np
    >>> kernel_error(np.eye(2), np.eye(2))
    0.0
    """
    Z = check_array(Z, dtype=np.float64, input_name="Z")
    K = check_array(K, dtype=np.float64, input_name="K")
    if K.shape != (Z.shape[0], Z.shape[0]):
        raise ValueError(f"K must have shape {(Z.shape[0],) * 2} for these features, got {K.shape}.")
    return float(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))


def log_scree(kernel_matrix: Rows) -> NDArray[np.float64]:
    """Return log10 of the eigenvalues of a kernel matrix, largest first (Figure 2a of the paper).

    Eigenvalues at or below rounding error are -inf.
    """
    K = check_array(kernel_matrix, dtype=np.float64, input_name="kernel_matrix")
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"kernel_matrix must be square, got shape {K.shape}.")
    return _log(linalg.eigvalsh(K)[::-1])


def feature_log_scree(Z: Rows) -> NDArray[np.float64]:
    """Return `log_scree` of ZZ', computed from Z so that rounding errors are not squared."""
    Z = check_array(Z, dtype=np.float64, input_name="Z")
    values = np.zeros(Z.shape[0])
    singular = linalg.svdvals(Z)
    values[: singular.size] = singular**2
    return _log(values)


def rank(log_eigenvalues: ArrayLike, drop: float = 10.0) -> int:
    """Count the eigenvalues that are within `drop` powers of ten of the largest."""
    log_eigenvalues = np.asarray(log_eigenvalues, dtype=float)
    return int(np.count_nonzero(log_eigenvalues >= log_eigenvalues.max() - drop))


class WeightHistogram(NamedTuple):
    """A histogram of the learned weights, and the weights themselves."""

    counts: NDArray[np.int64]
    edges: NDArray[np.float64]
    weights: NDArray[np.float64]


def weight_histogram(Z: Rows, y: Rows, alpha: float = 1e-3, bins: int = 101) -> WeightHistogram:
    """Learn a linear two-class model on features and histogram its weights (Figures 2b and 2c).

    The weights are from a ridge regression of +1 and -1 with penalty alpha * trace(Z'Z) / E, scaled
    so that the largest is 1. A spike at zero shows features that play no role.
    """
    Z = check_array(Z, dtype=np.float64, input_name="Z")
    y = column_or_1d(y)
    check_consistent_length(Z, y)
    classes = np.unique(y)
    if classes.size != 2:
        raise ValueError(f"y must have two classes, got {classes.size}.")
    target = np.where(y == classes[1], 1.0, -1.0)
    if not alpha > 0:
        raise ValueError(f"alpha must be more than 0, got {alpha}.")
    penalty = alpha * float(np.mean(Z**2)) * Z.shape[0]
    # Solved in the space of rows, which are usually fewer than features.
    gram = Z @ Z.T
    gram[np.diag_indices_from(gram)] += penalty
    weights = Z.T @ linalg.solve(gram, target, assume_a="pos")
    weights /= np.abs(weights).max()
    counts, edges = np.histogram(weights, bins=bins, range=(-1.0, 1.0))
    return WeightHistogram(counts, edges, weights)


def _log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log10 of eigenvalues; rounding errors become -inf."""
    floor = values.max() * values.size * np.finfo(float).eps
    result = np.full(values.shape, -np.inf)
    np.log10(values, out=result, where=values > floor)
    return result
