"""Logistic regressions from the sums of a least-squares fit: a few looks at the rows, the Gram matrix as Hessian."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from craftmaps._system.threads import for_each, serial_blas
from craftmaps.least_squares.cholesky import factor_in_place
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.least_squares.ridge_path import Solution
from craftmaps.least_squares.row_looks import SCALES, Losses, RowSource, ScaledLosses, WeightedRows, sums_of

_MEMORY = 10
_MOST_HALVINGS = 6
_SHORTER = 0.4


class HessianBound(Protocol):
    """The inverse of a matrix close to the Gram matrix of centred features; see `Preconditioner`."""

    @property
    def mean(self) -> NDArray[np.float64]:
        """The weighted mean of the features."""
        ...

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        ...

    @property
    def unit(self) -> float:
        """The mean of the diagonal."""
        ...

    def __call__(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the inverse times the gradients of coefficients (all rows but the last) and intercepts."""
        ...


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
        # A float32 factor is twice as quick; where features are more precise, rounding must not lead steps astray.
        self._dtype = np.float32 if statistic.rounding >= np.finfo(np.float32).eps else np.float64
        self._potrs = get_lapack_funcs("potrs", dtype=self._dtype)
        is_factored = False
        while not is_factored:  # rounding can leave a matrix that is not positive definite
            self._factor = np.array(centred, dtype=self._dtype, order="F")
            self._factor[diagonal] += self._dtype(alpha * self.unit)
            is_factored = factor_in_place(self._factor)
            self.alpha, alpha = alpha, max(10 * alpha, 1e-7)
            if alpha > 1e3:
                raise ValueError("The features are not finite, or too ill-conditioned to be solved for.")

    def __call__(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the inverse times the gradients of coefficients (all rows but the last) and intercepts."""
        step = np.empty_like(gradient)
        with serial_blas:
            step[:-1] = self._potrs(self._factor, gradient[:-1].astype(self._dtype), lower=1)[0] * self.weight
        step[-1] = gradient[-1]
        return step


def logistic_regressions(
    rows: RowSource,
    statistic: NormalEquations,
    alpha: float,
    penalty: float,
    left_out: Sequence[WeightedRows | None] = (None,),
) -> Iterator[list[Solution]]:
    r"""Yield, after each look at the rows, better solutions of several multinomial logistic regressions.

    The loss is the weighted mean of :math:`-\log softmax(Z W + b)_y`, plus :math:`penalty\,|W|^2 / 2` in units of the
    centred Gram matrix. Its Hessian is at most half of that matrix, so L-BFGS that is preconditioned by its factor
    converges in a few steps, and starts with the direction of ridge regression. All regressions go side by side: a
    look costs :math:`4 n E k` operations for each, where the Gram matrix took :math:`n E^2`. The first look scales
    the start. The solutions end when no loss falls any more.

    Parameters
    ----------
    rows : RowSource
    statistic : NormalEquations
        Of all these rows.
    alpha : float
        Added to the diagonal of the preconditioner, relative to the mean diagonal of the centred Gram matrix.
    penalty : float
        In the same units.
    left_out : sequence of WeightedRows or None
        The rows that each regression is fitted without; they are among those of the source.
    """
    objective = _Objective(rows, Preconditioner(statistic, alpha), penalty, left_out)
    yield from _descents(objective, objective.ridge_directions(statistic))


def logistic_from(
    starts: Sequence[Solution],
    rows: RowSource,
    precondition: HessianBound,
    penalty: float,
    left_out: Sequence[WeightedRows | None],
) -> Iterator[list[Solution]]:
    """Yield the same from solutions of ridge regressions, and without a statistic."""
    points = [np.vstack([s.coef.T, s.intercept + precondition.mean @ s.coef.T]) for s in starts]
    yield from _descents(_Objective(rows, precondition, penalty, left_out), points)


def _descents(objective: "_Objective", points: list[NDArray[np.float64]]) -> Iterator[list[Solution]]:
    """Yield the solutions after each look at the rows, from points that are scaled first."""
    descents = [_Descent(point, objective.precondition) for point in objective.scaled(points)]
    live = list(range(len(descents)))
    while live:
        values = dict(zip(live, objective([descents[i].asked for i in live], live), strict=True))

        def take(i: int, values=values) -> None:
            descents[i].take(values[i])

        for_each(take, live)
        yield [objective.solution(descent.point) for descent in descents]
        live = [i for i in live if not descents[i].is_over]


class _Value(NamedTuple):
    """A mean loss and its gradient."""

    loss: float
    gradient: NDArray[np.float64]


class _Descent:
    """L-BFGS of one regression, which asks for the value at one point after another.

    Parameters
    ----------
    point : ndarray of shape (n_features + 1, n_classes)
        Coefficients and, last, intercepts of centred features.
    precondition : HessianBound
    """

    def __init__(self, point: NDArray[np.float64], precondition: HessianBound):
        self.point = self.asked = point
        self.is_over = False
        self._precondition = precondition
        self._value: _Value | None = None
        self._pairs: list[tuple[NDArray, NDArray, float]] = []
        self._direction, self._slope, self._step, self._n_tries = point, 0.0, 1.0, 0

    def take(self, value: _Value) -> None:
        """Take the value at the point that was asked for, and decide which to ask for next."""
        if self._value is None:
            self._value = value
        elif value.loss <= self._value.loss + 1e-4 * self._step * self._slope:
            change, difference = self.asked - self.point, value.gradient - self._value.gradient
            curvature = float(np.vdot(change, difference))
            if curvature > 0:
                self._pairs = [*self._pairs, (change, difference, curvature)][-_MEMORY:]
            self.point, self._value = self.asked, value
        else:
            self._n_tries += 1
            self._step *= _SHORTER
            self.is_over = self._n_tries >= _MOST_HALVINGS
            self.asked = self.point + self._step * self._direction
            return
        self._direction = _direction(self._value.gradient, self._pairs, self._precondition)
        self._slope = float(np.vdot(self._direction, self._value.gradient))
        self._step, self._n_tries, self.is_over = 1.0, 0, not self._slope < 0
        self.asked = self.point + self._direction


class _Objective:
    """The mean losses of several regressions, each without the rows that it leaves out."""

    def __init__(
        self, rows: RowSource, precondition: HessianBound, penalty: float, left_out: Sequence[WeightedRows | None]
    ):
        self.rows, self.precondition, self.left_out = rows, precondition, left_out
        self.mean = precondition.mean
        self.ridge = penalty * precondition.unit / precondition.weight

    def ridge_directions(self, statistic: NormalEquations) -> list[NDArray[np.float64]]:
        """Return points in the direction of ridge regression."""
        points = []
        for rows in self.left_out:
            cross, sums, weight = statistic.cross, statistic.target_sums, statistic.weight
            if rows is not None:
                weighted = rows.weight[:, None] * rows.targets
                cross = cross - sums_of(rows.Z, weighted.T).T
                sums, weight = sums - weighted.sum(axis=0), weight - float(rows.weight.sum())
            centred = np.vstack([(cross - np.outer(self.mean, sums)) / weight, np.zeros((1, sums.size))])
            point = self.precondition(centred)
            point[-1] = sums / weight
            points.append(point)
        return points

    def scaled(self, points: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Return points, each at the best of a few scales."""
        coef, shift, _ = self._stacked(points)
        best = np.argmin(self.rows.added_up(ScaledLosses(coef, shift, len(points))), axis=0)
        return [SCALES[int(i)] * point for i, point in zip(best, points, strict=True)]

    def __call__(self, points: list[NDArray[np.float64]], which: Sequence[int]) -> list[_Value]:
        """Return the losses and gradients of some of the regressions, from one look at the rows."""
        coef, shift, n_classes = self._stacked(points)
        total = self.rows.added_up(Losses(coef, shift, len(points)))
        values: list[Any] = [None] * len(points)

        def one(j: int) -> None:
            columns = slice(j * n_classes, (j + 1) * n_classes)
            weight, loss = total.weight, total.losses[j]
            products, differences = total.products[:, columns], total.differences[columns]
            rows = self.left_out[which[j]]
            if rows is not None:
                part = Losses(coef[:, columns], shift[columns], 1)(rows)
                weight, loss = weight - part.weight, loss - part.losses[0]
                products, differences = products - part.products, differences - part.differences
            gradient = np.vstack([products - np.outer(self.mean, differences), differences]) / weight
            gradient[:-1] += self.ridge * points[j][:-1]
            squares = float(np.vdot(points[j][:-1], points[j][:-1]))
            values[j] = _Value(loss / weight + 0.5 * self.ridge * squares, gradient)

        for_each(one, range(len(points)))
        return values

    def solution(self, point: NDArray[np.float64]) -> Solution:
        """Return the coefficients and intercepts of features that are not centred."""
        return Solution(point[:-1].T.copy(), point[-1] - self.mean @ point[:-1])

    def _stacked(self, points: list[NDArray[np.float64]]) -> tuple[NDArray, NDArray, int]:
        """Return the coefficients and intercepts of all regressions side by side, and the number of classes."""
        stacked = np.hstack(points)
        return stacked[:-1], stacked[-1] - self.mean @ stacked[:-1], points[0].shape[1]


def _direction(gradient: NDArray, pairs: list, precondition: HessianBound) -> NDArray[np.float64]:
    """Return the direction of L-BFGS (the two loops of Nocedal)."""
    direction, steps = -gradient, []
    for change, difference, curvature in reversed(pairs):
        steps.append(float(np.vdot(change, direction)) / curvature)
        direction = direction - steps[-1] * difference
    factor = 2.0  # the Hessian of the loss is at most half of the Gram matrix
    if pairs:
        _, difference, curvature = pairs[-1]
        factor = curvature / float(np.vdot(difference, precondition(difference)))
    direction = factor * precondition(direction)
    for (change, difference, curvature), step in zip(pairs, reversed(steps), strict=True):
        direction = direction + (step - float(np.vdot(difference, direction)) / curvature) * change
    return direction
