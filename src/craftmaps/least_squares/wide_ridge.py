"""Ridge regression on very many features of rows at hand, without their Gram matrix.

The Gram matrix costs n E^2 operations and E^2 numbers, and its factor E^3 / 3 more. A step of conjugate gradients costs
4 n E for every right-hand side, and with the rows of a sample as preconditioner it takes a dozen steps, or two.

References
----------
A. Rudi, L. Carratino, L. Rosasco, "FALKON: An Optimal Large Scale Kernel Method", NeurIPS 2017.

H. Avron, K. L. Clarkson, D. P. Woodruff, "Faster Kernel Ridge Regression Using Sketching and Preconditioning", SIAM J.
Matrix Anal. Appl. 38, 2017.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from craftmaps._system.progress import Phase, tell
from craftmaps._system.threads import cut, serial_blas
from craftmaps.least_squares.cholesky import factor_in_place
from craftmaps.least_squares.conjugate_gradients import Steps
from craftmaps.least_squares.logistic_steps import logistic_from
from craftmaps.least_squares.ridge_path import Solution
from craftmaps.least_squares.row_looks import WeightedRows
from craftmaps.least_squares.row_space import RowSpace
from craftmaps.least_squares.square_gram import SquareGram
from craftmaps.least_squares.stored_features import StoredFeatures

MOST_SAMPLED = 4096
_TOLERANCE, _WINDOW = 3e-2, 3  # closer solutions do not predict better
_MOST_STEPS = 40
_LEFT_OUT_ROWS = 1024  # one by one, to tell where to begin with penalties
_FORMED_COLUMNS = 4096  # of a sample that are converted at once
_FIRST_SHIFT = 0.1  # of the mean eigenvalue, where the size of the small ones is still to be found
_SPREAD = 3.0  # of the largest of the small eigenvalues over their mean, about


class WideRidge:
    r"""Ridge regressions of features on targets Y, with an intercept, from large penalties to small ones.

    Conjugate gradients on :math:`(Z_c^T W Z_c + \alpha I) B = Z_c^T W Y_c`, where the features Z are centred
    implicitly.

    Parameters
    ----------
    features : StoredFeatures
    targets : ndarray of shape (n_rows, n_targets)
    sample_weight : array of shape (n_rows,)
    sampled : SampledRows
        The preconditioner.

    Attributes
    ----------
    is_solved : bool
        Whether the last solution is as close as was asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from craftmaps.least_squares.stored_features import StoredFeatures
    >>> X, Y = np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [5.0], [7.0]])
    >>> features = StoredFeatures.of(np.copy, X, 1)
    >>> ridge = WideRidge(features, Y, np.ones(3), SampledRows.of(features, np.ones(3), np.arange(3)))
    >>> coef, intercept = next(ridge.path([1e-6], tolerance=1e-3))
    >>> coef.round(2), intercept.round(2)
    (array([[2.]]), array([1.]))
    """

    def __init__(self, features: StoredFeatures, targets: NDArray, sample_weight: ArrayLike, sampled: "SampledRows"):
        weight = np.asarray(sample_weight, dtype=np.float64)
        self.features, self.targets, self.sampled = features, targets, sampled
        self._weight, self._total = weight.astype(np.float32), float(weight.sum())
        mean = features.sums(self._weight[:, None])[:, 0].astype(np.float64) / self._total
        self._mean = mean.astype(np.float32)
        self._target_mean = weight @ targets / self._total
        centred = targets - self._target_mean
        largest = np.abs(centred).max(axis=0)
        self._scale = np.where(largest > 0, largest, 1.0)  # so that float32 can hold targets of any size
        self._right = features.sums((weight[:, None] * (centred / self._scale)).astype(np.float32))
        self.is_solved = True
        self.trace = max(float(weight @ features.squares - self._total * (mean @ mean)), 0.0)

    @property
    def unit(self) -> float:
        """The mean of the diagonal of the centred Gram matrix: the unit of alpha."""
        return (self.trace or 1.0) / self.features.shape[1]

    def reweighted(self, sample_weight: NDArray[np.float64]) -> Self:
        """Return the regressions of the same rows with other weights."""
        return type(self)(self.features, self.targets, sample_weight, self.sampled)

    def outputs(self, solution: Solution, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the outputs for some rows."""
        scaled = self.features[positions] @ (solution.coef.T / self._scale)
        return scaled * self._scale + solution.intercept

    def first_of(self, alphas: Sequence[float]) -> int:
        """Return the alpha after the best one of a few rows left out one by one: all rows bear smaller penalties."""
        few = self.sampled.positions[:_LEFT_OUT_ROWS]
        targets, weight = self.targets[few] / self._scale, self._weight[few].astype(np.float64)
        space = RowSpace.of(self.features[few].toarray(), targets, weight)
        errors = [float(weight @ np.square(space.left_out(alpha) - targets).sum(axis=1)) for alpha in alphas]
        return min(int(np.argmin(errors)) + 1, len(alphas) - 1)

    def compared(self, alphas: Iterable[float]) -> Iterator[Solution]:
        """Yield the solutions for alphas, which should fall: each starts from the last one."""
        return self.path(alphas)

    def solved(self, alpha: float, start: Solution | None = None) -> Solution:
        """Return the solution for an alpha, from a start that is close, such as one of most of the rows."""
        return next(self.path([alpha], start=start, phase=Phase.SOLUTION))

    def path(
        self,
        alphas: Iterable[float],
        tolerance: float = _TOLERANCE,
        start: Solution | None = None,
        phase: Phase = Phase.PENALTY,
    ) -> Iterator[Solution]:
        """Yield the solutions for alphas to a relative error in the norm of the matrix, each from the last one."""
        coef = None if start is None else (start.coef.T / self._scale).astype(np.float32)
        for alpha in alphas:
            coef = self._solve(alpha, tolerance, coef, phase)
            wide = coef.astype(np.float64) * self._scale
            yield Solution(wide.T.copy(), self._target_mean - self._mean @ wide)

    def logistic_regressions(
        self, starts: Sequence[Solution], penalty: float, left_out: Sequence[WeightedRows | None]
    ) -> Iterator[list[Solution]]:
        """Yield better and better logistic regressions from ridge regressions, each without the rows it leaves out."""
        hessian = SampledHessian(self._mean.astype(np.float64), self._total, self.unit, self.sampled)
        yield from logistic_from(starts, self.rows.in_blocks(), hessian, penalty, left_out)

    @property
    def rows(self) -> WeightedRows:
        """All rows with their features."""
        return WeightedRows(self.features, self.targets, self._weight.astype(np.float64))

    def _solve(
        self, alpha: float, tolerance: float, start: NDArray[np.float32] | None, phase: Phase
    ) -> NDArray[np.float32]:
        """Return the coefficients for an alpha; what is not solved after many steps is taken as it is."""
        with serial_blas:  # the same on any number of threads: those are in the products
            steps = Steps(self._times, self._right, [alpha], self.sampled, tolerance, _WINDOW, start)
            while steps.owners.size and steps.n_taken < _MOST_STEPS:
                tell(phase, f"{alpha / self.unit:g}, step {steps.n_taken + 1}")
                steps.take()
        self.is_solved = not steps.owners.size and not steps.lost
        return steps.so_far()[0]

    def _times(self, B: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the centred Gram matrix times some columns."""
        return self.features.normal_products(B, self._mean @ B, self._weight)


@dataclass(frozen=True, eq=False)
class SampledHessian:
    """The Gram matrix of a sample as that of all rows, whose inverse guides logistic regressions.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
    weight : float
        Of all rows.
    unit : float
        The mean of the diagonal of the centred Gram matrix.
    sampled : SampledRows
    """

    mean: NDArray[np.float64]
    weight: float
    unit: float
    sampled: "SampledRows"

    def __call__(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the inverse times the gradients of coefficients (all rows but the last) and intercepts."""
        step = np.empty_like(gradient)
        with serial_blas:
            step[:-1] = self.sampled.precondition(gradient[:-1].astype(np.float32)) * self.weight
        step[-1] = gradient[-1]
        return step


@dataclass(frozen=True, eq=False)
class SampledRows:
    """A Gram matrix of some of the rows in the place of that of all of them, with its inverse.

    The sample says nothing of directions that none of its rows has, and too little of those that few have. In all of
    them the Gram matrix is taken for a multiple of the identity, the shift: about the largest eigenvalue that
    is left there. How large these are, what rows have beside the rows before them tells: the last pivots of
    a Cholesky decomposition.

    Parameters
    ----------
    positions : ndarray of shape (n_sampled,)
        In random order.
    features : StoredFeatures
        Of these rows.
    roots : ndarray of shape (n_sampled,)
        Of their weights.
    mean : ndarray of shape (n_features,)
    factor : ndarray of shape (n_sampled, n_sampled)
        Lower Cholesky factor of the products of centred features times roots, with the shift on the diagonal.
    shift : float
    """

    positions: NDArray[np.int64]
    features: StoredFeatures
    roots: NDArray[np.float32]
    mean: NDArray[np.float32]
    factor: NDArray[np.float32]
    shift: float

    @classmethod
    def of(
        cls, features: StoredFeatures, sample_weight: NDArray[np.float64], positions: NDArray[np.int64]
    ) -> "SampledRows":
        """Return the preconditioner of rows at some positions, which are in random order."""
        weight, sample = sample_weight[positions], features[positions]
        total, roots, n_features = float(weight.sum()), np.sqrt(weight).astype(np.float32), features.shape[1]
        mean = sample.sums((weight / total).astype(np.float32)[:, None])[:, 0]
        products, share = _products(sample, roots, mean), total / float(sample_weight.sum())
        unit = (float(products.trace()) or 1.0) / share / n_features
        shift = _SPREAD * _small_eigenvalue(products, n_features, share, _FIRST_SHIFT * unit)
        factor = _factor(products, share * shift)
        return cls(positions, sample, roots, mean, factor, shift)

    def precondition(self, R: NDArray[np.float32], shifts: NDArray | None = None) -> NDArray[np.float32]:
        """Return the inverse of the approximate matrix times R. One shift serves all penalties: those are smaller."""
        products = (self.features @ R - self.mean @ R) * self.roots[:, None]
        inner = linalg.cho_solve((self.factor, True), products, overwrite_b=True, check_finite=False)
        inner *= self.roots[:, None]
        R = R - self.features.sums(inner)
        R += np.outer(self.mean, inner.sum(axis=0))
        R /= np.float32(self.shift)
        return R


def _products(features: StoredFeatures, roots: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the products of rows, centred and times the roots of weights, with each other."""
    gram = SquareGram(len(features))
    for columns in cut(features.shape[1], _FORMED_COLUMNS):
        Z = features.numbers[:, columns].astype(np.float32)
        Z *= features.factors[:, None]
        Z -= mean[columns]
        Z *= roots[:, None]
        gram.add(np.ascontiguousarray(Z.T))
    return gram.array


def _small_eigenvalue(products: NDArray[np.float64], width: int, share: float, shift: float) -> float:
    """Return the mean eigenvalue of the whole Gram matrix where a sample of rows, a share of all, says nothing."""
    some = max(len(products) // 4, 1)  # of the sample: a small factor is quick, and they leave little more
    pivots = _factor(products[:some, :some], share / 4 * shift).diagonal().astype(np.float64) ** 2 - share / 4 * shift
    last = pivots[-max(some // 8, 1) :].mean()
    # Each row has a share of 1 / n_sampled of the weight of the sample.
    left = max(float(last), 0.0) * len(products) / share
    return max(left / max(width - some, 1), shift * 1e-3)


def _factor(products: NDArray[np.float64], shift: float) -> NDArray[np.float32]:
    """Return a Cholesky factor of products of rows with a shift on the diagonal, raised until there is one."""
    scale = float(products.diagonal().max()) or 1.0  # float32 holds the root of what it may not hold itself
    raised = max(shift / scale, 1e-7)
    for _ in range(8):
        factor = np.asfortranarray((products / scale).astype(np.float32))
        factor[np.diag_indices_from(factor)] += np.float32(raised)
        if factor_in_place(factor):
            factor *= np.float32(np.sqrt(scale))
            return factor
        raised *= 100
    raise ValueError("Features of sampled rows must have finite products that are not all alike.")
