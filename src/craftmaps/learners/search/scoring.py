"""Scores of candidates: errors of rows that were left out, by closed form or by a split."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.extmath import safe_sparse_dot

from craftmaps._system.threads import multiply
from craftmaps.kernels import DotProductKernel
from craftmaps.least_squares.logistic_steps import logistic_regressions
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.least_squares.row_looks import WeightedRows
from craftmaps.least_squares.row_space import RowSpace
from craftmaps.least_squares.sparse_ridge import SparseRidge

ALPHAS = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1)
_SPARSE_ALPHAS = (10.0, 1.0, 0.3, 0.1, 0.03, 0.01)
_ROW_ALPHAS = tuple(10.0 ** np.arange(-6, 2))
_LOGISTIC_PENALTY, _LEAST_LOGISTIC_ALPHA = 1e-5, 1e-6
_SCORED_LOOKS = 4  # of all, the last one first
_LOGISTIC_HANDICAP = 0.05  # it takes more looks at the rows
_SCALES = tuple(2.0 ** np.arange(-1, 6))


class Score(NamedTuple):
    """Errors and smooth losses of rows that were left out, and the penalty and loss function that did best.

    The smooth loss of classes is the cross-entropy of scaled outputs, that of numbers the squared error.
    `handicap` is what `value` must be lower by than others for this candidate to be taken.
    """

    errors: NDArray[np.float64]
    losses: NDArray[np.float64]
    weight: NDArray[np.float64]
    alpha: float = 0.0
    loss: str = "squared"
    handicap: float = 0.0

    @property
    def error(self) -> float:
        """The mean error."""
        return float(np.average(self.errors, weights=self.weight))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean error."""
        share = self.weight / self.weight.sum()
        return float(np.sqrt(share**2 @ (self.errors - self.error) ** 2))

    @property
    def value(self) -> float:
        """The logarithm of mean error times mean loss: few errors tell little, and losses alone not what counts."""
        half_a_row = 0.5 * float(self.errors.max(initial=0.0) or 1.0) / len(self.errors)
        loss = float(np.average(self.losses, weights=self.weight))
        return float(np.log(self.error + half_a_row) + np.log(loss + 1e-300)) + self.handicap


def best_of(scores: Iterable[Score]) -> Score:
    """Return the best score, the first of equal ones."""
    return min(scores, key=lambda score: score.value)


class Judge:
    """Scores features of rows for what is to be learned.

    Parameters
    ----------
    targets : ndarray of shape (n_rows, n_targets)
    errors : function of outputs and labels
        The error of each row.
    y : ndarray
        Labels.
    weight : ndarray of shape (n_rows,)
    n_train : int
        A split fits on so many first rows and scores the others.
    is_classification : bool
    """

    def __init__(
        self, targets: NDArray, errors: Callable, y: NDArray, weight: NDArray, n_train: int, is_classification: bool
    ):
        self.targets, self._errors, self.y, self.weight, self.n_train = targets, errors, y, weight, n_train
        self.is_classification = is_classification

    def first(self, n_rows: int, n_train: int) -> "Judge":
        """Return the judge of the first rows."""
        part = slice(0, n_rows)
        return Judge(self.targets[part], self._errors, self.y[part], self.weight[part], n_train, self.is_classification)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    def left_out_of_kernel(self, kernel: DotProductKernel | None, rows: Any, scored: slice = slice(None)) -> Score:
        """Score by leave-one-out with the kernel itself; None is the linear one."""
        rows = rows.astype(np.float64)
        products = safe_sparse_dot(rows, rows.T, dense_output=True)
        with np.errstate(over="ignore", invalid="ignore"):
            return self._left_out(products if kernel is None else kernel.of_dot_products(products), scored)

    def left_out_of_features(self, Z: NDArray, scored: slice = slice(None)) -> Score:
        """Score by leave-one-out in the space of rows."""
        return self._left_out(multiply(Z, Z.T), scored)

    def _left_out(self, kernel: NDArray, scored: slice) -> Score:
        """Return the score of some rows at the best of a few penalties."""
        if not np.isfinite(kernel).all():
            return self._worst(scored)
        space = RowSpace(kernel, self.targets, self.weight)
        # Of constant rows only rounding errors are left.
        unit = (space.trace if space.trace > 0 else 1.0) / space.n_rows
        return best_of(self._score(space.left_out(alpha * unit), scored, alpha) for alpha in _ROW_ALPHAS)

    def split(self, Z: Any, n_looks: int = 0, alphas: Sequence[float] = ALPHAS) -> Score:
        """Score by a split, at the best of a few penalties and perhaps after some looks for the logistic loss."""
        Z = Z.toarray() if issparse(Z) else Z
        train, test = slice(0, self.n_train), slice(self.n_train, None)
        try:
            statistic = NormalEquations.of(Z[train], self.targets[train], self.weight[train])
            unit, path = statistic.scale() or 1.0, statistic.ridge_path()
            solutions = {alpha: path.solve(alpha * unit, quick=True) for alpha in alphas}
        except ValueError:  # products overflow
            return self._worst(test)
        best = best_of(self._score(s.outputs(Z[test]), test, alpha) for alpha, s in solutions.items())
        if not n_looks:
            return best
        return best_of([best, self._logistic(Z, statistic, best.alpha, n_looks)])

    def sparse_split(self, rows: Any) -> Score:
        """Score a linear model of the columns of sparse rows by a split."""
        train, test = slice(0, self.n_train), slice(self.n_train, None)
        ridge, best = SparseRidge(rows[train], self.targets[train], self.weight[train]), self._worst(test)
        for alpha, solution in zip(
            _SPARSE_ALPHAS, ridge.path([alpha * ridge.unit for alpha in _SPARSE_ALPHAS]), strict=True
        ):
            score = self._score(rows[test] @ solution.coef.T + solution.intercept, test, alpha)
            if score.value > best.value:
                break
            best = score
        return best

    def _logistic(self, Z: NDArray, statistic: NormalEquations, alpha: float, n_looks: int) -> Score:
        """Return the best score after a few looks for the logistic loss."""
        train, test = slice(0, self.n_train), slice(self.n_train, None)
        blocks = WeightedRows(Z[train], self.targets[train], self.weight[train]).in_blocks()
        solutions = logistic_regressions(blocks, statistic, max(alpha, _LEAST_LOGISTIC_ALPHA), _LOGISTIC_PENALTY)
        looked = [solution for (solution,) in islice(solutions, n_looks)]  # fewer where no loss falls any more
        scored = looked[:: -(n_looks // _SCORED_LOOKS)]
        scores = [self._score(solution.outputs(Z[test]), test, alpha) for solution in scored]
        return best_of(scores)._replace(loss="logistic", handicap=_LOGISTIC_HANDICAP)

    def _score(self, outputs: NDArray, scored: slice, alpha: float) -> Score:
        """Score outputs, of all rows or of the scored ones alone."""
        targets, y = self.targets[scored], self.y[scored]
        outputs = outputs[scored] if len(outputs) != len(y) else outputs
        errors, weight = self._errors(outputs, y), self.weight[scored]
        losses = _cross_entropies(outputs, targets, weight) if self.is_classification else errors
        return Score(errors, losses, weight, alpha)

    def _worst(self, scored: slice) -> Score:
        """Return the score of features that overflow."""
        weight = self.weight[scored]
        infinite = np.full(len(weight), 1e300)
        return Score(infinite, infinite, weight)


def _cross_entropies(outputs: NDArray, targets: NDArray, weight: NDArray) -> NDArray[np.float64]:
    """Return the cross-entropy of each row, at the best of a few scales of the outputs."""
    outputs = outputs - outputs.max(axis=1, keepdims=True)
    of_label = (outputs * targets).sum(axis=1)
    losses = [np.log(np.exp(scale * outputs).sum(axis=1)) - scale * of_label for scale in _SCALES]
    return min(losses, key=lambda loss: float(weight @ loss))
