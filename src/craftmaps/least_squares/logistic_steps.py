"""Logistic regression from a ridge solution: a few quasi-Newton steps, with the Gram matrix as preconditioner."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from craftmaps._system.threads import blas_threads, cut, for_each
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.least_squares.ridge_path import Solution

_SCALES = tuple(2.0 ** np.arange(-1, 7))
_MEMORY = 12
_MOST_HALVINGS = 6
_BLOCK_ROWS = 1024
_FIRST_STEP = 2.0  # the Hessian of the loss is at most half of the Gram matrix

Blocks = Callable[[], Iterable[tuple[NDArray, NDArray, NDArray]]]


class Preconditioner:
    """The inverse of the centred Gram matrix of a statistic, with alpha on its diagonal.

    Parameters
    ----------
    statistic : NormalEquations
    alpha : float
        In units of `statistic.scale()`. It grows until the matrix is positive definite.
    """

    def __init__(self, statistic: NormalEquations, alpha: float):
        self.mean = statistic.feature_sums / statistic.weight
        self.weight = statistic.weight
        self.unit = statistic.scale() or 1.0
        centred = np.array(statistic.gram, order="F")
        centred -= np.outer(self.mean, statistic.feature_sums)
        diagonal = np.diag_indices_from(centred)
        potrf, self._potrs = get_lapack_funcs(("potrf", "potrs"), dtype=np.float32)
        info = 1
        with blas_threads(centred.shape[0]):
            while info:  # rounding can leave a matrix that is not positive definite
                matrix = np.asfortranarray(centred, dtype=np.float32)
                matrix[diagonal] += np.float32(alpha * self.unit)
                self._factor, info = potrf(matrix, lower=1, overwrite_a=1, clean=0)
                self.alpha, alpha = alpha, max(10 * alpha, 1e-7)
                if alpha > 1e3:
                    raise ValueError("The features are not finite, or too ill-conditioned to be solved for.")

    def __call__(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the inverse times the gradients of coefficients (all rows but the last) and intercepts."""
        step = np.empty_like(gradient)
        step[:-1] = self._potrs(self._factor, gradient[:-1].astype(np.float32), lower=1)[0] * self.weight
        step[-1] = gradient[-1]
        return step


class _Value(NamedTuple):
    """A mean loss and its gradient."""

    loss: float
    gradient: NDArray[np.float64]


def logistic_steps(blocks: Blocks, start: Solution, precondition: Preconditioner, penalty: float) -> Iterator[Solution]:
    r"""Yield better and better solutions of multinomial logistic regression.

    The loss is the weighted mean of :math:`-\log softmax(Z W + b)_y`, plus :math:`penalty\,|W|^2 / 2` in units of the
    centred Gram matrix. Its Hessian is at most half of that matrix, which ridge regression has factored already, so
    steps of L-BFGS that start from there converge in a few: each costs one look at the features,
    :math:`4 n E k` operations where the Gram matrix took :math:`n E^2`. The ridge solution to start from is scaled
    first. The steps end when the loss does not fall any more.

    Parameters
    ----------
    blocks : function without arguments
        Returns the rows anew, in the same order every time: features, targets that are 0 or 1 and weights.
    start : Solution
        Coefficients of the indicators of classes, from ridge regression.
    precondition : Preconditioner
    penalty : float
        Relative to the mean diagonal of the centred Gram matrix.
    """
    objective = _Objective(blocks, precondition, penalty)
    point = np.vstack([start.coef.T, start.intercept + start.coef @ precondition.mean])  # intercepts of centred rows
    point = objective.best_scale(point) * point
    value = objective(point)
    pairs: list[tuple[NDArray, NDArray, float]] = []
    while True:
        direction = _direction(value.gradient, pairs, precondition)
        slope = float(np.vdot(direction, value.gradient))
        found = objective.line_search(point, value, direction, slope) if slope < 0 else None
        if found is None:
            return
        change, new = found[0] - point, found[1]
        curvature = float(np.vdot(change, new.gradient - value.gradient))
        if curvature > 0:
            pairs = [*pairs, (change, new.gradient - value.gradient, curvature)][-_MEMORY:]
        point, value = found[0], new
        yield Solution(point[:-1].T.copy(), point[-1] - precondition.mean @ point[:-1])


def blocks_of(Z: NDArray, targets: NDArray, weight: NDArray[np.float64]) -> Blocks:
    """Return the blocks of rows that are in memory."""
    parts = cut(Z.shape[0], _BLOCK_ROWS)
    return lambda: ((Z[part], targets[part], weight[part]) for part in parts)


class _Objective:
    """The mean loss of coefficients for centred features."""

    def __init__(self, blocks: Blocks, precondition: Preconditioner, penalty: float):
        self.blocks, self.mean = blocks, precondition.mean
        self.ridge = penalty * precondition.unit / precondition.weight

    def __call__(self, point: NDArray[np.float64]) -> _Value:
        """Return the loss and its gradient, from one look at the rows."""
        shift = point[-1] - self.mean @ point[:-1]
        sums = self._over_blocks(lambda Z, targets, weight: _sums(Z, targets, weight, point[:-1], shift))
        weight = sum(part[0] for part in sums)
        gradient = np.zeros_like(point)
        for _, _, products, differences in sums:  # in the order of the rows, whichever thread was first
            gradient[:-1] += products
            gradient[-1] += differences
        gradient[:-1] -= np.outer(self.mean, gradient[-1])
        gradient /= weight
        gradient[:-1] += self.ridge * point[:-1]
        loss = sum(part[1] for part in sums) / weight + 0.5 * self.ridge * float(np.vdot(point[:-1], point[:-1]))
        return _Value(loss, gradient)

    def best_scale(self, point: NDArray[np.float64]) -> float:
        """Return the factor among a few of the smallest loss."""
        shift = point[-1] - self.mean @ point[:-1]

        def losses(Z: NDArray, targets: NDArray, weight: NDArray) -> NDArray[np.float64]:
            outputs = Z @ point[:-1].astype(Z.dtype) + shift
            return np.array([weight @ _softmax(scale * outputs, targets)[0] for scale in _SCALES])

        return float(_SCALES[int(np.argmin(sum(self._over_blocks(losses))))])

    def line_search(self, point: NDArray, value: _Value, direction: NDArray, slope: float) -> Any:
        """Return the first point on the way that is low enough, with its value, or None."""
        step = 1.0
        for _ in range(_MOST_HALVINGS):
            there = point + step * direction
            new = self(there)
            if new.loss <= value.loss + 1e-4 * step * slope:
                return there, new
            step *= 0.4
        return None

    def _over_blocks(self, task: Callable[..., Any]) -> list[Any]:
        """Return what a function makes of every block."""
        results: dict[int, Any] = {}

        def work(item: tuple[int, tuple]) -> None:
            results[item[0]] = task(*item[1])

        for_each(work, enumerate(self.blocks()))
        return [results[i] for i in range(len(results))]


def _sums(
    Z: NDArray, targets: NDArray, weight: NDArray, coef: NDArray, shift: NDArray
) -> tuple[float, float, NDArray, NDArray]:
    """Return weight, loss, products of features and differences, and sums of differences of a block."""
    losses, shares = _softmax(Z @ coef.astype(Z.dtype) + shift, targets)
    differences = (shares - targets) * weight[:, None]
    products = Z.T @ differences.astype(Z.dtype)
    return float(weight.sum()), float(weight @ losses), products.astype(np.float64), differences.sum(axis=0)


def _softmax(outputs: NDArray, targets: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the loss of each row and the probabilities of classes."""
    outputs = outputs - outputs.max(axis=1, keepdims=True)
    shares = np.exp(outputs)
    sums = shares.sum(axis=1)
    return np.log(sums) - (outputs * targets).sum(axis=1), shares / sums[:, None]


def _direction(gradient: NDArray, pairs: list, precondition: Preconditioner) -> NDArray[np.float64]:
    """Return the direction of L-BFGS (the two loops of Nocedal)."""
    direction, steps = -gradient, []
    for change, difference, curvature in reversed(pairs):
        steps.append(float(np.vdot(change, direction)) / curvature)
        direction = direction - steps[-1] * difference
    factor = _FIRST_STEP
    if pairs:
        _, difference, curvature = pairs[-1]
        factor = curvature / float(np.vdot(difference, precondition(difference)))
    direction = factor * precondition(direction)
    for (change, difference, curvature), step in zip(pairs, reversed(steps), strict=True):
        direction = direction + (step - float(np.vdot(difference, direction)) / curvature) * change
    return direction
