"""Ridge regression in the space of rows, for fewer rows than features, with closed-form leave-one-out."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from craftmaps._system.threads import blas_threads, multiply
from craftmaps.least_squares.ridge_path import Solution

_SPANNED = 1e-12  # smaller eigenvalues, compared with the largest, are rounding errors


class RowSpace:
    r"""Ridge regressions of n rows for any number of penalties, from one decomposition of their n x n kernel matrix.

    With weights :math:`W = diag(w)`, targets Y and an unpenalised intercept b, the problem

    .. math:: \min \sum_i w_i |y_i - f(x_i) - b|^2 + \alpha |f|^2

    has the solution :math:`f(x) = \sum_i c_i k(x_i, x)` with :math:`c = P Y`,
    :math:`P = A - A 1 1^T A / (1^T A 1)` and :math:`A = (K + \alpha W^{-1})^{-1}`. If row i is left out, the
    residual of its output is :math:`c_i / P_{ii}`: all n refits are known at once. A kernel matrix centred with
    the weights gives the same c, and of :math:`W^{1/2} K W^{1/2} = U \Lambda U^T` every penalty follows
    at :math:`O(n^2)` a target.

    Parameters
    ----------
    kernel : ndarray of shape (n_rows, n_rows)
        Inner products of the features of the rows.
    targets : ndarray of shape (n_rows, n_targets)
    sample_weight : array of shape (n_rows,), optional
        None negative and one positive.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([[3.0], [5.0], [7.0], [9.0]])
    >>> coef, intercept = RowSpace.of(X, Y).solve(1e-9, X)
    >>> coef.round(4), intercept.round(4)
    (array([[2.]]), array([1.]))
    """

    def __init__(self, kernel: NDArray, targets: NDArray, sample_weight: ArrayLike | None = None):
        n_rows = kernel.shape[0]
        w = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if kernel.shape != (n_rows, n_rows) or targets.ndim != 2 or targets.shape[0] != n_rows:
            raise ValueError(
                f"kernel must be square with a row for each row of targets, got {kernel.shape} and {targets.shape}."
            )
        if w.shape != (n_rows,) or not np.isfinite(w).all() or (w < 0).any() or not w.any():
            raise ValueError(f"sample_weight must be {n_rows} finite numbers, none negative and one positive.")
        self.n_rows, self.weight = n_rows, float(w.sum())
        self._weights, self._roots = w, np.sqrt(w)
        self._target_mean = w @ targets / self.weight
        self._targets = targets - self._target_mean
        self._decompose(np.array(kernel, dtype=np.float64))

    @classmethod
    def of(cls, Z: NDArray, targets: NDArray, sample_weight: ArrayLike | None = None) -> Self:
        """Return the regressions of rows with features Z."""
        return cls(multiply(Z, Z.T), targets, sample_weight)

    def _decompose(self, kernel: NDArray[np.float64]) -> None:
        """Centre and weigh the kernel matrix, which is overwritten, and find its eigenvectors."""
        mean = self._weights @ kernel / self.weight
        kernel -= mean
        kernel -= mean[:, None] - self._weights @ mean / self.weight
        self._kernel_mean, self._centred = mean, kernel
        weighted = kernel * self._roots * self._roots[:, None]
        self.trace = float(weighted.trace())
        # Centring left a direction of eigenvalue zero, which the intercept sees to: 1 / alpha of it would cancel.
        self._constant = self._roots / np.sqrt(self.weight)
        self._lift = 2 * self.trace or 1.0  # larger than any other eigenvalue, so that they do not mix
        weighted += self._lift * np.outer(self._constant, self._constant)
        driver = "evd" if self.n_rows > 1 else None  # SciPy 1.13 gives `evd` too little room for a single row
        with blas_threads(self.n_rows):
            values, self._vectors = linalg.eigh(weighted, driver=driver, overwrite_a=True, check_finite=False)
            self._rotated = self._vectors.T @ (self._roots[:, None] * self._targets)
        self._values = np.maximum(values, 0.0)

    def dual(self, alpha: float) -> NDArray[np.float64]:
        """Return the coefficients c of the rows, of shape (n_rows, n_targets)."""
        inverse = self._vectors @ (self._rotated / (self._values + alpha)[:, None])
        return self._roots[:, None] * inverse

    def intercept(self, dual: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the intercepts that belong to coefficients of the rows."""
        return self._target_mean - self._kernel_mean @ dual

    def solve(self, alpha: float, Z: NDArray) -> Solution:
        """Return the solution for alpha in the space of the features Z of the rows."""
        dual = self.dual(alpha)
        return Solution((Z.T.astype(np.float64) @ dual).T, self.intercept(dual))

    def coordinates(self) -> NDArray[np.float64]:
        """Return the rows, centred, on orthonormal axes of the space that they span: as many columns as rows.

        Columns that are not needed are zero, and so are rows of weight zero.
        """
        scaled = self._vectors * (np.sqrt(self._values) * self._is_spanned)
        return np.divide(scaled, self._roots[:, None], out=np.zeros_like(scaled), where=self._roots[:, None] > 0)

    def from_coordinates(self, solution: Solution, Z: NDArray) -> Solution:
        """Return a solution for the features Z of the rows from one for their coordinates."""
        lengths = np.sqrt(self._values, where=self._is_spanned, out=np.ones_like(self._values))
        dual = self._roots[:, None] * (self._vectors @ ((solution.coef * self._is_spanned) / lengths).T)
        mean = self._weights @ Z / self.weight
        coef = ((Z - mean).T.astype(np.float64) @ dual).T
        return Solution(coef, solution.intercept - coef @ mean)

    @property
    def _is_spanned(self) -> NDArray[np.bool_]:
        """Which eigenvectors are axes of the rows: neither the constant one nor rounding errors."""
        is_constant = np.abs(self._vectors.T @ self._constant) > 0.5
        values = np.where(is_constant, 0.0, self._values)
        return values > _SPANNED * values.max(initial=0.0)

    def left_out(self, alpha: float, copies: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return the outputs for every row from all others, of shape (n_rows, n_targets).

        A row that stands for several equal ones has the outputs from all but one of its `copies`: of the leverage h of
        a row, each has its share. A row of weight zero takes no part, and its output is that of the whole.
        """
        if not alpha > 0:
            raise ValueError(f"alpha must be more than 0, got {alpha}.")
        dual = self.dual(alpha)
        diagonal = self._vectors**2 @ (1 / (self._values + alpha)) - self._constant**2 / (self._lift + alpha)
        diagonal *= self._weights
        taking_part = diagonal > 0
        outputs = self._target_mean + self._centred @ dual
        own = self._targets[taking_part] + self._target_mean
        if copies is None:  # y - c / P, whatever the weight
            outputs[taking_part] = own - dual[taking_part] / diagonal[taking_part, None]
            return outputs
        # The residual is alpha c / w, and 1 - h is alpha P / w.
        scale = (alpha / self._weights[taking_part])[:, None]
        rest = scale * diagonal[taking_part, None]
        outputs[taking_part] = own - scale * dual[taking_part] / (1 - (1 - rest) / copies[taking_part, None])
        return outputs
