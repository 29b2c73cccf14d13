"""The gradient metric: spend random features on the directions along which the targets change."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import issparse

from craftmaps._rows.canonical import unit_rows
from craftmaps._rows.randomness import child_seed, uniforms
from craftmaps._system.threads import serial_blas
from craftmaps.kernels import Polynomial, whole_power
from craftmaps.least_squares.kernel_ridge import KernelMachine
from craftmaps.shaping.covariance_metric import LinearMetric, with_signs

_KERNEL = Polynomial(5)
_PENALTIES = (1e-3, 1e-2, 1e-1)
_FIT_ROWS = 6144
_FEW_ROWS = 1536
_SCORED_ROWS = 1024
_MOST_TARGETS = 16


class GradientMetric(LinearMetric):
    r"""Rotate rows into the axes of the average gradient outer product and shrink those that matter little.

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
        How many axes to keep, those that matter most; None keeps all.
    standardize : bool, default=False
        Whether columns are scaled to unit variance first.
    normalize : bool, default=True
        Whether rows are brought to unit length, for the machine and at the end.
    random_state : int, default=0

    References
    ----------
    A. Radhakrishnan et al., "Mechanism for feature learning in neural networks and
    backpropagation-free machine learning models", Science, 2024.
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

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the axes from rows in random order and their targets, numbers or several columns of them."""
        X = self._validated(X)
        if issparse(X):
            X = X.toarray()
        targets = self._few_targets(np.asarray(y, dtype=np.float64).reshape(X.shape[0], -1))
        self.mean_ = X.mean(axis=0, dtype=np.float64)
        spread = X.std(axis=0, dtype=np.float64) if self.standardize else np.ones(X.shape[1])
        spread = np.where(spread > 0, spread, 1.0)
        rows = ((X - self.mean_) / spread).astype(np.float32)
        n_fit = min(_FIT_ROWS, X.shape[0] * 3 // 4)
        # A factor made by several threads has other rounding errors, and what stands on the edge could tip.
        with serial_blas:
            vectors, values = self._axes(self._comparable(rows), targets, n_fit)
        scales = np.sqrt(values / values[0]) ** float(self.power)
        self.components_ = (vectors * scales[:, None] / spread)[: self.n_components]
        return self

    def truncated(self, n_components: int) -> "GradientMetric":
        """Return the same metric with fewer axes, those that matter most."""
        metric = GradientMetric(**self.get_params() | {"n_components": int(n_components)})
        metric.n_features_in_, metric.mean_ = self.n_features_in_, self.mean_
        metric.components_ = self.components_[:n_components].copy()
        return metric

    def _few_targets(self, targets: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return standardised targets, or if there are many random sums of them: on average M is the same."""
        targets = targets - targets.mean(axis=0)
        if targets.shape[1] > _MOST_TARGETS:
            seed = child_seed(int(self.random_state), "targets")
            signs = np.sign(uniforms(seed, "signs", targets.shape[1] * _MOST_TARGETS) - 0.5)
            targets = targets @ signs.reshape(targets.shape[1], _MOST_TARGETS)
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
        known, scored = rows[:n_fit], rows[n_fit:][:_SCORED_ROWS]
        dots = scored @ known.T + 1
        # A few rows are enough to tell a good penalty.
        few, few_targets = KernelMachine(_KERNEL, known[:_FEW_ROWS]), targets[: min(n_fit, _FEW_ROWS)]
        few_values = whole_power(dots[:, :_FEW_ROWS].copy(), _KERNEL.degree)
        scored_targets = targets[n_fit:][:_SCORED_ROWS]
        errors = [np.mean((few_values @ few.weights(few_targets, p) - scored_targets) ** 2) for p in _PENALTIES]
        weights = KernelMachine(_KERNEL, known).weights(targets[:n_fit], _PENALTIES[int(np.argmin(errors))])
        slopes = _KERNEL.degree * whole_power(dots, _KERNEL.degree - 1)
        outer = np.zeros((rows.shape[1], rows.shape[1]))
        for column in weights.T:
            gradients = (slopes * column) @ known
            if self.normalize:  # on the sphere only what is tangent to it counts
                gradients -= np.einsum("ij,ij->i", gradients, scored)[:, None] * scored
            outer += gradients.T @ gradients
        values, vectors = linalg.eigh(outer)
        values = np.maximum(values[::-1], np.finfo(np.float32).eps * max(values[-1], np.finfo(float).tiny))
        return with_signs(vectors[:, ::-1].T), values
