"""Ridge regression on the columns of sparse rows themselves, however many they are: by products with the rows alone."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from craftmaps._system.threads import cut, for_each
from craftmaps.least_squares.ridge_path import Solution

_MOST_STEPS = 200
_TO_COMPARE, _TO_KEEP = 1e-2, 1e-4  # relative residuals
_BLOCK_ROWS = 1024


class SparseRidge:
    r"""Ridge regressions of sparse rows X on targets Y, with an intercept, from large penalties to small ones.

    Conjugate gradients on :math:`(X_c^T W X_c + \alpha I) B = X_c^T W Y_c` with the rows centred implicitly, so that
    nothing of the size of the square of the columns, nor a dense row, is ever made. A step costs
    :math:`4 k` operations for every stored cell and k targets. Each solution starts from the last one.

    Parameters
    ----------
    X : CSR matrix of shape (n_rows, n_columns)
    targets : ndarray of shape (n_rows, n_targets)
    sample_weight : array of shape (n_rows,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> X, Y = csr_matrix([[1.0], [2.0], [3.0]]), np.array([[3.0], [5.0], [7.0]])
    >>> coef, intercept = next(SparseRidge(X, Y).path([1e-9]))
    >>> coef.round(4), intercept.round(4)
    (array([[2.]]), array([1.]))
    """

    def __init__(self, X: Any, targets: NDArray, sample_weight: ArrayLike | None = None):
        w = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self._X, self._w, self._targets = X.astype(np.float64), w, targets
        self._blocks = [self._X[part] for part in cut(X.shape[0], _BLOCK_ROWS)]
        self._parts = cut(X.shape[0], _BLOCK_ROWS)
        self._mean = self._X.T @ w / w.sum()
        self._target_mean = w @ targets / w.sum()
        self._right = self._transposed_times(w[:, None] * (targets - self._target_mean))
        squares = self._X.multiply(self._X).T @ w - w.sum() * self._mean**2
        self._diagonal = np.maximum(squares, 0.0)
        self.trace = float(self._diagonal.sum())

    @property
    def unit(self) -> float:
        """The mean squared length of centred rows, times their weight, over their number: the unit of alpha."""
        return (self.trace or 1.0) / self._X.shape[0]

    def reweighted(self, sample_weight: NDArray[np.float64]) -> Self:
        """Return the regressions of the same rows with other weights."""
        return type(self)(self._X, self._targets, sample_weight)

    def outputs(self, solution: Solution, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the outputs for some rows."""
        return self._X[positions] @ solution.coef.T + solution.intercept

    def first_of(self, alphas: Sequence[float]) -> int:
        """Return the largest alpha: it is quick, and the smallest that predicts well is not wanted."""
        return 0

    def compared(self, alphas: Iterable[float]) -> Iterator[Solution]:
        """Yield the solutions for alphas, close enough to be compared."""
        return self.path(alphas, _TO_COMPARE)

    def solved(self, alpha: float, start: Solution | None = None) -> Solution:
        """Return the solution for an alpha, to be kept; it is quick without a start."""
        return next(self.path([alpha], _TO_KEEP))

    def path(self, alphas: Iterable[float], tolerance: float = 1e-3) -> Iterator[Solution]:
        """Yield the solutions for alphas, which should fall, to a relative residual."""
        coef = np.zeros_like(self._right)
        for alpha in alphas:
            coef = self._solve(alpha, coef, tolerance)
            yield Solution(coef.T.copy(), self._target_mean - self._mean @ coef)

    def _solve(self, alpha: float, coef: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
        """Return the solution for alpha by conjugate gradients, all targets side by side."""
        scale = 1 / (self._diagonal + alpha)[:, None]
        residual = self._right - self._times(coef, alpha)
        direction = scale * residual
        product = _dots(residual, direction)
        enough = tolerance**2 * np.maximum(_dots(self._right, scale * self._right), 1e-300)
        for _ in range(_MOST_STEPS):
            if (product <= enough).all():
                break
            image = self._times(direction, alpha)
            length = _dots(direction, image)
            step = np.divide(product, length, out=np.zeros_like(product), where=length > 0)
            coef = coef + step * direction
            residual = residual - step * image
            scaled = scale * residual
            following = _dots(residual, scaled)
            ratio = np.divide(following, product, out=np.zeros_like(product), where=product > 0)
            direction, product = scaled + ratio * direction, following
        return coef

    def _times(self, B: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
        """Return the matrix of the system times some columns."""
        outputs = np.empty((self._X.shape[0], B.shape[1]))
        shift = self._mean @ B

        def work(i: int) -> None:
            outputs[self._parts[i]] = self._blocks[i] @ B - shift

        for_each(work, range(len(self._blocks)))
        return self._transposed_times(self._w[:, None] * outputs) + alpha * B

    def _transposed_times(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the centred rows, transposed, times one column a target."""
        return self._X.T @ outputs - np.outer(self._mean, outputs.sum(axis=0))


def _dots(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the inner product of each column of A with that of B."""
    return np.einsum("ij,ij->j", A, B)
