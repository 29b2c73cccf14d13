"""The gradient metric: spend random features on the directions along which the targets change."""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import issparse
from sklearn.utils import check_array, check_consistent_length, check_scalar
from sklearn.utils.multiclass import type_of_target

from craftmaps._rows.canonical import unit_rows
from craftmaps._rows.randomness import child_seed, permutations, uniforms
from craftmaps._system.memory_budget import GRADIENT_ROWS
from craftmaps._system.threads import multiply, serial_blas
from craftmaps.kernels import Polynomial, Rows, whole_power
from craftmaps.least_squares.kernel_ridge import KernelMachine
from craftmaps.maps.feature_map import check_choice
from craftmaps.shaping.covariance_metric import LinearMetric, with_signs

_KERNEL = Polynomial(5)
_PENALTIES = (1e-3, 1e-2, 1e-1)
_FEW_ROWS = 1536
_SCORED_ROWS = 1024
_MOST_TARGETS = 4


class GradientMetric(LinearMetric):
    r"""Rotate rows into the axes of the average gradient outer product and shrink axes that matter little.

    A kernel machine :math:`f` is fitted to a few thousand rows; :math:`M = E[\nabla f \nabla f^T]`
    then says how fast the targets change in every direction. With its eigenvalues
    :math:`w_1 \ge w_2 \ge \dots` axis i is scaled by :math:`(w_i / w_1)^{power / 2}`.
    Unlike principal axes these know the targets, so directions of large variance that say
    nothing about them do not use up features.

    Parameters
    ----------
    power : float, default=1.0
        How strongly axes that matter little shrink.
    n_components : int or None, default=None
        How many of the most important axes to keep; None keeps all.
    standardize : bool, default=False
        Whether columns are scaled to unit variance first.
    normalize : bool, default=True
        Whether the machine compares rows of unit length. The result is not scaled: a learner does that itself.
    random_state : int, default=0
        Seed of the rows that the machine sees, and of the random sums that stand for more than 4 targets.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features_in_,), dtype float64
    components_ : ndarray of shape (n_components, n_features_in_), dtype float64
        The axes, each scaled as above.

    References
    ----------
    A. Radhakrishnan et al., "Mechanism for feature learning in neural networks and
    backpropagation-free machine learning models", Science, 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from craftmaps import GradientMetric
    >>> X, y = load_digits(return_X_y=True)
    >>> GradientMetric(n_components=16).fit(X, y).transform(X).shape
    (1797, 16)
    """

    def __init__(
        self,
        power: float = 1.0,
        n_components: int | None = None,
        *,
        standardize: bool = False,
        normalize: bool = True,
        random_state: int = 0,
    ):
        self.power = power
        self.n_components = n_components
        self.standardize = standardize
        self.normalize = normalize
        self.random_state = random_state

    def fit(self, X: Rows, y: Any) -> Self:
        """Learn the axes from rows and their targets: class labels, numbers, or columns of numbers."""
        X = self._validated(X)
        self._check_parameters(X.shape[1])
        targets = _columns(y, X.shape[0])
        if issparse(X):
            X = X.toarray()
        # The machine is fitted to some rows and differentiated at others: both must be random.
        order = permutations(int(self.random_state), "rows", 1, X.shape[0])[0]
        targets = self._standardised(targets[order])
        self.mean_ = X.mean(axis=0, dtype=np.float64)
        spread = X.std(axis=0, dtype=np.float64) if self.standardize else np.ones(X.shape[1])
        spread = np.where(spread > 0, spread, 1.0)
        n_fit = max(1, min(GRADIENT_ROWS, X.shape[0] * 3 // 4))
        rows = ((X[order[: n_fit + _SCORED_ROWS]] - self.mean_) / spread).astype(np.float32)
        # A factor made by several threads has other rounding errors, and a close decision could change.
        with serial_blas:
            vectors, values = self._axes(self._comparable(rows), targets, n_fit)
        scales = np.sqrt(values / values[0]) ** float(self.power)
        self.components_ = (vectors * scales[:, None] / spread)[: self.n_components]
        return self

    def _check_parameters(self, width: int) -> None:
        """Refuse parameters that cannot work."""
        check_scalar(self.power, "power", Real, min_val=0, max_val=np.finfo(float).max)
        if self.n_components is not None:
            check_scalar(self.n_components, "n_components", Integral, min_val=1, max_val=width)
        for name in ("standardize", "normalize"):
            check_choice(name, getattr(self, name), (True, False))
        check_scalar(self.random_state, "random_state", Integral, min_val=0)

    def truncated(self, n_components: int) -> "GradientMetric":
        """Return the same metric with its most important axes alone."""
        metric = GradientMetric(**self.get_params() | {"n_components": int(n_components)})
        metric.n_features_in_, metric.mean_ = self.n_features_in_, self.mean_
        metric.components_ = self.components_[:n_components].copy()
        return metric

    def _sums_of_targets(self, weights: NDArray[np.float32], n_scored: int) -> Iterator[NDArray[np.float32]]:
        """Yield the weights of each target or, if there are many, random sums of them for every row that is scored.

        On average M is the same, at the cost of a few targets.
        """
        if weights.shape[1] <= _MOST_TARGETS:
            yield from weights.T
            return
        for i in range(_MOST_TARGETS):
            seed = child_seed(int(self.random_state), f"sums {i}")
            signs = np.sign(uniforms(seed, "signs", n_scored * weights.shape[1]) - 0.5)
            yield signs.reshape(n_scored, -1).astype(np.float32) @ weights.T

    def _standardised(self, targets: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return targets of mean zero and of one common spread."""
        targets = targets - targets.mean(axis=0)
        spread = targets.std()
        return (targets / (spread if spread > 0 else 1.0)).astype(np.float32)

    def _comparable(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return rows of unit length, or of a mean squared length of one."""
        if self.normalize:
            return unit_rows(rows)
        mean = float(np.square(rows, dtype=np.float64).sum(axis=1).mean())
        return rows / np.float32(np.sqrt(mean) if mean > 0 else 1.0)

    def _axes(self, rows: NDArray[np.float32], targets: NDArray[np.float32], n_fit: int) -> tuple[NDArray, NDArray]:
        """Return the eigenvectors, one a row, and eigenvalues of the average gradient outer product."""
        n_scored = min(_SCORED_ROWS, len(rows) - n_fit)
        known, scored = rows[:n_fit], rows[n_fit:][:n_scored] if n_scored else rows
        dots = multiply(scored, known.T) + 1
        # A few rows are enough to tell a good penalty.
        few, few_targets = KernelMachine(_KERNEL, known[:_FEW_ROWS]), targets[: min(n_fit, _FEW_ROWS)]
        few_values = whole_power(dots[:, :_FEW_ROWS].copy(), _KERNEL.degree)
        scored_targets = targets[n_fit:][:n_scored] if n_scored else targets
        errors = [np.mean((few_values @ few.weights(few_targets, p) - scored_targets) ** 2) for p in _PENALTIES]
        weights = KernelMachine(_KERNEL, known).weights(targets[:n_fit], _PENALTIES[int(np.argmin(errors))])
        slopes = _KERNEL.degree * whole_power(dots, _KERNEL.degree - 1)
        outer = np.zeros((rows.shape[1], rows.shape[1]))
        for columns in self._sums_of_targets(weights, len(scored)):
            gradients = multiply(slopes * columns, known)
            if self.normalize:  # on the sphere only what is tangent to it counts
                gradients -= np.einsum("ij,ij->i", gradients, scored)[:, None] * scored
            outer += gradients.T @ gradients
        values, vectors = linalg.eigh(outer)
        values = np.maximum(values[::-1], np.finfo(np.float32).eps * max(values[-1], np.finfo(float).tiny))
        return with_signs(vectors[:, ::-1].T), values

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _columns(y: Any, n_rows: int) -> NDArray[np.float64]:
    """Return targets as columns of numbers, an indicator for each class of labels."""
    if y is None:
        raise ValueError("GradientMetric requires y to be passed, but the target y is None.")
    y = np.asarray(y)
    check_consistent_length(y, np.empty(n_rows))
    if y.ndim == 1 and y.dtype.kind != "f" and type_of_target(y) in ("binary", "multiclass"):
        return (y[:, None] == np.unique(y)[None, :]).astype(np.float64)
    y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
    return y.reshape(n_rows, -1)
