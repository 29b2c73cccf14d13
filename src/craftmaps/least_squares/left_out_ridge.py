"""Ridge solutions without one part of the rows or another, by one decomposition for all parts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.threads import cut, for_each, serial_blas
from craftmaps.least_squares.conjugate_gradients import Steps
from craftmaps.least_squares.gram import Solver
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.least_squares.ridge_path import RidgePath
from craftmaps.least_squares.stored_features import StoredFeatures

_LEAST_WIDTH, _LEAST_ROWS = 512, 4  # where decompositions cost something; rows for a feature
_LARGEST_PART = 0.25  # of the weight: the factor of all rows says little of those without a larger one
_TOLERANCE, _MOST_STEPS = 1e-3, 12
_SOLVED_COLUMNS = 32  # together
_MOST_KEPT = 2**27  # numbers of matrices of their own


class Part(NamedTuple):
    """Some of the rows of a statistic: features, targets and weights."""

    Z: NDArray
    targets: NDArray[np.float64]
    weight: NDArray[np.float64]


class LeftOutRidge:
    r"""Outputs for parts of the rows, each by the ridge solution of all other rows.

    The Gram matrix without a part is close to that of all rows, whose Cholesky factor is the preconditioner: conjugate
    gradients take a handful of steps, at :math:`O(E^2 k)` each, where a factor for every part would cost
    :math:`O(E^3)`. What is not solved soon is decomposed after all.

    Parameters
    ----------
    statistic : NormalEquations
        Of all rows; not packed. It must stay as it is.
    parts : sequence of Part
    fit_intercept : bool

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.arange(6.0)[:, None]
    >>> statistic = NormalEquations.of(Z, 2 * Z)
    >>> ridge = LeftOutRidge(statistic, [Part(Z[:3], 2 * Z[:3], np.ones(3))], fit_intercept=True)
    >>> ridge.outputs(0, 1e-9).round(3).tolist()
    [[0.0], [2.0], [4.0]]
    """

    def __init__(self, statistic: NormalEquations, parts: Sequence[Part], fit_intercept: bool):
        self._features = [part.Z for part in parts]
        self._unit = statistic.scale(fit_intercept) or 1.0
        self._whole = statistic.ridge_path(fit_intercept)
        self._products, self._width = self._whole.products(1 / self._unit), statistic.feature_sums.size
        root = np.sqrt(self._unit)  # float32 holds features of any size in units of it
        self._rows = [_stored(_rows_of(part, statistic, fit_intercept) / root) for part in parts]
        rests = [statistic.lent() for _ in parts]
        for rest, part in zip(rests, parts, strict=True):
            rest.add(*part, sign=-1.0)
        self._units = [rest.scale(fit_intercept) or 1.0 for rest in rests]
        self._rests = [rest.into_ridge_path(fit_intercept) for rest in rests]
        self._outputs: dict[float, list[NDArray]] = {}
        self._solved: dict[float, NDArray[np.float32]] = {}  # by steps, from which others start
        self._too_small = -1.0  # an alpha for which it took too many steps

    @staticmethod
    def pays(statistic: NormalEquations, weights: Sequence[float]) -> bool:
        """Tell whether this is quicker than decompositions for parts of some weights, as few rows are left out."""
        width = statistic.feature_sums.size
        is_wide = not statistic.packed and width >= _LEAST_WIDTH and statistic.n_rows >= _LEAST_ROWS * width
        return is_wide and max(weights) <= _LARGEST_PART * statistic.weight

    def outputs(self, i: int, alpha: float) -> NDArray:
        """Return the outputs for part i, for an alpha in units of `NormalEquations.scale` without that part."""
        if alpha not in self._outputs:  # while the factor is there, it serves all parts
            self._outputs[alpha] = self._outputs_of_all(alpha)
        return self._outputs[alpha][i]

    def _outputs_of_all(self, alpha: float) -> list[NDArray]:
        """Return the outputs for all parts."""
        outputs = []
        solver, shift = self._whole.factored(alpha * self._unit)
        diagonals = [alpha * unit + shift for unit in self._units]
        for i, found in enumerate(self._by_steps(alpha, diagonals, solver)):
            if found is None:
                solution = self._made(i).solve(diagonals[i], quick=True)
            else:
                solution = self._rests[i].solution(found)
            outputs.append(solution.outputs(self._features[i]))
        return outputs

    def _made(self, i: int) -> RidgePath:
        """Return the path without a part with a matrix of its own; some are kept, for the penalties that follow."""
        path = self._rests[i]
        if path.is_lent:
            path = path.made()
            if (i + 1) * self._width**2 <= _MOST_KEPT:
                self._rests[i] = path
        return path

    def _by_steps(
        self, alpha: float, diagonals: list[float], solver: Solver | None
    ) -> list[NDArray[np.float64] | None]:
        """Return coefficients for all parts, None where it would take many steps."""
        if solver is None or alpha <= self._too_small:
            return [None] * len(diagonals)
        scales = [np.maximum(np.abs(rest.right).max(axis=0), 1e-300) for rest in self._rests]  # float32 holds any size
        rights = [(rest.right / scale).astype(np.float32) for rest, scale in zip(self._rests, scales, strict=True)]
        steps: Steps | None = None
        all_owners = np.repeat(np.arange(len(rights)), [right.shape[1] for right in rights])

        def times(X: NDArray) -> NDArray:
            owners, products = all_owners if steps is None else steps.owners, self._products(X)

            def without(i: int) -> None:
                mine, rows = np.flatnonzero(owners == i), self._rows[i]
                products[:, mine] -= rows.sums(rows @ X[:, mine])

            for_each(without, np.unique(owners))
            return products

        with serial_blas:
            shifts = [diagonal / self._unit for diagonal in diagonals]
            steps = Steps(times, rights, shifts, _Inverse(solver, self._unit), _TOLERANCE, 1, self._nearest(alpha))
            while steps.owners.size and steps.n_taken < _MOST_STEPS:
                steps.take()
        solutions = [X for X in steps.solutions if X is not None]
        if len(solutions) == len(diagonals):
            self._solved[alpha] = np.hstack(solutions)
        else:
            self._too_small = max(self._too_small, alpha)
        units = [scale / self._unit for scale in scales]
        return [None if X is None else X * unit for X, unit in zip(steps.solutions, units, strict=True)]

    def _nearest(self, alpha: float) -> NDArray[np.float32] | None:
        """Return the coefficients of all parts for the nearest alpha that is solved for."""
        solved, least = self._solved, np.finfo(float).tiny
        nearest = min(solved, key=lambda other: abs(np.log(max(other, least) / max(alpha, least))), default=None)
        return None if nearest is None else solved[nearest]


class _Inverse(NamedTuple):
    """The inverse of a matrix in a unit, as the preconditioner of those close to it."""

    solver: Solver
    unit: float

    def precondition(self, R: NDArray, shifts: NDArray) -> NDArray[np.float32]:
        """Return the inverse times R, a few columns on each thread."""
        solved = np.empty(R.shape, np.float32)

        def some(columns: slice) -> None:
            solved[:, columns] = self.solver(R[:, columns].astype(np.float64) * self.unit)

        for_each(some, cut(R.shape[1], _SOLVED_COLUMNS))
        return solved


def _stored(rows: NDArray) -> StoredFeatures:
    """Return rows in 16 bits, which are multiplied quickly; they are not kept."""
    return StoredFeatures.of(lambda block: block, rows, rows.shape[1])


def _rows_of(part: Part, statistic: NormalEquations, fit_intercept: bool) -> NDArray[np.float64]:
    """Return rows whose Gram matrix is what the centred one loses without a part.

    They are the rows of the part, centred and times the roots of their weights, and the distance between its mean and
    that of the others, times the root of what both weigh.
    """
    roots, weight = np.sqrt(part.weight)[:, None], float(part.weight.sum())
    if not fit_intercept or not weight:
        return part.Z * roots
    sums = part.weight @ part.Z
    mean, rest = sums / weight, statistic.weight - weight
    others = (statistic.feature_sums - sums) / rest
    return np.vstack([(part.Z - mean) * roots, np.sqrt(weight * rest / statistic.weight) * (others - mean)])
