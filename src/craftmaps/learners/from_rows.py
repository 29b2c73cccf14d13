"""Models solved from the rows themselves where no Gram matrix fits, or pays: text, and very many features."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import tee
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.randomness import child_seed
from craftmaps._rows.sampling import row_hashes
from craftmaps._system.memory import available_memory
from craftmaps._system.progress import Phase, tell
from craftmaps.learners.fitted_model import FittedModel, Solved
from craftmaps.learners.held_out import HeldOutFold
from craftmaps.learners.left_out_scores import LeftOutScores, left_out_together
from craftmaps.learners.logistic_search import PENALTY, LogisticModel, LogisticSearch, is_logistic_tried
from craftmaps.learners.penalty_race import PenaltyChoice
from craftmaps.learners.penalty_search import dependence
from craftmaps.learners.targets import Targets
from craftmaps.least_squares.ridge_path import Solution
from craftmaps.least_squares.sparse_ridge import SparseRidge
from craftmaps.least_squares.square_gram import FEW_ROWS
from craftmaps.least_squares.stored_features import StoredFeatures
from craftmaps.least_squares.wide_ridge import MOST_SAMPLED, SampledRows, WideRidge
from craftmaps.shaping.row_features import RowFeatures

_SPARSE_ALPHAS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)  # in units of the mean squared length of rows
_WIDE_ALPHAS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)  # in units of the mean of the diagonal
_LEAST_ALPHA = 1e-9  # conjugate gradients need some
_SPARSE_PATIENCE, _WIDE_PATIENCE = 2, 1
# Of the times of whole fits, in products of features: what all steps cost for a row, a feature and a column, what the
# Gram matrix costs for a row in units of E^2, and what solving with it for all folds and penalties costs in units of
# E^3. Below a width the matrix is quick enough, and leaves a tally.
_STEPS, _MATRIX, _SOLUTIONS, _LEAST_WIDTH = 500, 1.7, 16, 4096
_MOST_ROWS = 16 * MOST_SAMPLED  # a sample stands for no more: looks for the logistic loss would not come to an end
MOST_TALLIED_AFTER_ALL = 8192  # features, of more a Gram matrix takes too long
_MEMORY_SHARE = 0.6  # of what is free, for the features
_COLUMNS_IN_WORK = 24  # for every target: parts of sums, residuals, directions
_LEFT_OUT = 0.1  # of the rows, at most: one split, for every one more doubles the time


class RowRidge(Protocol):
    """Ridge regressions of rows at hand."""

    @property
    def unit(self) -> float:
        """The unit of the usual alphas."""
        ...

    @property
    def trace(self) -> float:
        """The trace of the centred Gram matrix."""
        ...

    def reweighted(self, sample_weight: NDArray[np.float64]) -> Self:
        """Return the regressions of the same rows with other weights."""
        ...

    def first_of(self, alphas: Sequence[float]) -> int:
        """Return which alpha to try first; they fall, and those before it are hardly better."""
        ...

    def compared(self, alphas: Iterable[float]) -> Iterator[Solution]:
        """Yield the solutions for alphas, close enough to be compared."""
        ...

    def solved(self, alpha: float, start: Solution | None = None) -> Solution:
        """Return the solution for an alpha, to be kept, perhaps from a start that is close."""
        ...

    def outputs(self, solution: Solution, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the outputs for some rows."""
        ...


@dataclass(frozen=True, eq=False)
class FromRows:
    """Ridge regressions on the features of rows at hand, with the penalty chosen on rows left out.

    Parameters
    ----------
    features : RowFeatures
    is_sparse : bool
        Whether the features are the shaped columns themselves, of sparse rows; else they are kept in 16 bits.
    alphas : sequence of float or None
        In units of the mean diagonal of the centred Gram matrix.
    n_folds, most_rows : int
        Folds of the rows that are held out, and at most how many rows these are.
    seed : int
    may_end : bool
        Whether to give up where conjugate gradients do not come to an end at the best penalty.
    on_rows : function, optional
        Hears how many rows are mapped.
    """

    features: RowFeatures
    is_sparse: bool
    alphas: Sequence[float] | None
    n_folds: int
    most_rows: int
    seed: int
    may_end: bool = False
    on_rows: Callable[[int], None] | None = None

    def solve(self, targets: Targets, given: tuple, spent: NDArray[np.int64]) -> Solved | None:
        """Learn from rows, targets and weights; rows at `spent` positions, which made the choices, are not held out.

        None if a Gram matrix is the better way after all.
        """
        X, y, weight = given
        weight = np.asarray(targets.weighted(y, np.ones(X.shape[0]) if weight is None else weight))
        total, in_order = float(weight.sum()), self._in_random_order(X, y, targets)
        positions = self._held_out(in_order, spent)
        folds = [HeldOutFold(X[p], y[p], weight[p], np.ones(p.size, np.int64)) for p in positions]
        others = in_order[~np.isin(in_order, np.concatenate(positions))]
        whole = self._regressions(X, targets.encoded(y), weight, others)
        unit = (whole.trace or 1.0) / self.features.width(X)
        alphas = [alpha * unit for alpha in self._alphas(whole.unit / unit)]
        left_out = []
        for group in left_out_together(folds, total) if self.is_sparse else [list(range(len(folds)))]:
            tested = np.concatenate([positions[i] for i in group])
            rest = weight.copy()
            rest[tested] = 0
            left_out.append((tested, whole.reweighted(rest)))
        scores, starts = LeftOutScores(folds, targets, is_first_preferred=self.is_sparse), []
        patience = _SPARSE_PATIENCE if self.is_sparse else _WIDE_PATIENCE
        order = _trial_order(scores, whole.first_of(alphas), len(alphas), patience)
        *orders, order = tee(order, len(left_out) + 1)
        paths = [r.compared(alphas[i] for i in o) for (_, r), o in zip(left_out, orders, strict=True)]
        tried = []
        for i in order:
            tell(Phase.PENALTY, f"{alphas[i] / unit:g}, the next of {len(alphas)} at the most")
            solutions = [next(path) for path in paths]
            outputs = [r.outputs(s, tested) for (tested, r), s in zip(left_out, solutions, strict=True)]
            scores.add(np.concatenate(outputs))
            starts.append(solutions[0])
            tried.append(alphas[i])
            if self.may_end and _is_unsolved(left_out[0][1]) and scores.best() == len(tried) - 1:
                return None
        tell(Phase.SOLUTION)
        alpha, choice = tried[scores.best()], _choice(scores, [alpha / unit for alpha in tried], total)
        start = starts[scores.best()]
        solution, loss = whole.solved(alpha, start), "squared"
        if isinstance(whole, WideRidge) and is_logistic_tried(targets, choice):
            logistic, judged = self._logistic(whole, [solution, start], left_out[0][0], targets, choice)
            choice = judged or choice
            solution, loss = (solution, loss) if logistic is None else (logistic, "logistic")
        model = FittedModel(self.features, targets, *solution, alpha, X.shape[0], targets.calibrated(choice), loss)
        return Solved(model, choice.results)

    @staticmethod
    def _logistic(
        ridge: WideRidge, starts: list[Solution], tested: NDArray[np.int64], targets: Targets, choice: PenaltyChoice
    ) -> LogisticModel:
        """Go on with the logistic loss, from the solution of all rows and from that without the rows left out."""
        rows = ridge.rows.at(tested)
        solutions = ridge.logistic_regressions(starts, PENALTY, [None, rows])
        search = LogisticSearch(is_forced=targets.loss == "logistic")
        n_rows, width = ridge.features.shape
        return search.compare(solutions, [rows.Z], targets, n_rows * width, choice)

    def _regressions(self, X: Any, encoded: NDArray, weight: NDArray, sample: NDArray[np.int64]) -> RowRidge:
        """Return the regressions of all rows; those at some positions may stand for them."""
        if self.is_sparse:
            return SparseRidge(self.features.shape_rows(X), encoded, weight)
        stored = StoredFeatures.of(self.features, X, self.features.width(X), self.on_rows)
        sampled = SampledRows.of(stored, weight, sample[: n_sampled(len(weight), stored.shape[1])])
        return WideRidge(stored, encoded, weight, sampled)

    def _alphas(self, of_rows: float) -> list[float]:
        """Return the penalties to try, the largest first; `of_rows` is the unit of the usual ones."""
        usual = _SPARSE_ALPHAS if self.is_sparse else _WIDE_ALPHAS
        alphas = [of_rows * alpha for alpha in usual] if self.alphas is None else self.alphas
        return sorted((max(float(alpha), _LEAST_ALPHA) for alpha in alphas), reverse=True)

    def _in_random_order(self, X: Any, y: NDArray, targets: Targets) -> NDArray[np.int64]:
        """Return the positions of rows in an order by content hash: the order in which they came does not matter.

        Copies of a row go to places of their own: side by side they could be all of the rows that are held out.
        """
        seed = child_seed(self.seed, "holdout")
        keys = row_hashes(X, seed) ^ targets.hashes(y)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.searchsorted(keys, keys)  # of equal rows
        copies = np.flatnonzero(first < np.arange(keys.size))
        halves = np.column_stack([keys >> np.uint64(32), keys & np.uint64(2**32 - 1), np.arange(keys.size) - first])
        keys[copies] = row_hashes(halves[copies].astype(np.float64), seed)
        return order[np.argsort(keys, kind="stable")]

    def _held_out(self, in_order: NDArray[np.int64], spent: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the positions of the rows of each fold."""
        free = in_order[~np.isin(in_order, spent)]
        n_rows, most = in_order.size, self.most_rows
        if not self.is_sparse:
            most = min(most, max(int(_LEFT_OUT * n_rows), min(2 * self.n_folds, -(-n_rows // 2))))
        free = free[:most]
        if free.size < 2:
            raise ValueError(
                f"At least 2 rows are needed to choose alpha, got n_samples={free.size} that choices were not made by."
            )
        return [free[i :: self.n_folds] for i in range(min(self.n_folds, free.size))]


def pays(n_rows: int, width: int, n_targets: int) -> bool:
    """Tell whether rows at hand are solved in clearly less time than by way of their Gram matrix, and fit in memory."""
    is_large = FEW_ROWS < n_rows <= _MOST_ROWS and width >= _LEAST_WIDTH
    steps = _STEPS * n_targets * n_rows
    is_quick = is_large and steps < _MATRIX * n_rows * width + _SOLUTIONS * width**2
    return is_quick and _n_bytes(n_rows, width, n_targets) <= _MEMORY_SHARE * (available_memory() or np.inf)


def n_sampled(n_rows: int, width: int) -> int:
    """Return how many rows precondition."""
    return max(min(MOST_SAMPLED, n_rows // 4, width // 2), 1)


def _n_bytes(n_rows: int, width: int, n_targets: int) -> float:
    """Return the bytes of stored features, of the sample with a copy, and of the columns in work."""
    return width * (2.0 * n_rows + 8.0 * n_sampled(n_rows, width) + 4.0 * _COLUMNS_IN_WORK * n_targets)


def _is_unsolved(ridge: RowRidge) -> bool:
    """Tell whether the last solution is not as close as was asked for."""
    return isinstance(ridge, WideRidge) and not ridge.is_solved


def _trial_order(scores: LeftOutScores, first: int, n_alphas: int, patience: int) -> Iterator[int]:
    """Yield which alpha to try next: smaller ones than the first until they do worse, larger ones if it did best."""
    for n_worse in range(n_alphas - first):
        yield first + n_worse
        if n_worse - scores.best() >= patience:
            break
    if scores.best() > 0:
        return
    for i in reversed(range(first)):
        yield i
        if scores.best() != len(scores.errors) - 1:
            return


def _choice(scores: LeftOutScores, alphas: list[float], weight: float) -> PenaltyChoice:
    """Return the curve of penalties, as the learners report it, with what is needed to calibrate."""
    errors, outputs = scores.honest()
    best, folds = scores.best(), scores.folds
    order = np.argsort(alphas)[::-1]
    curve = np.array(scores.errors)[order]
    n_rows = scores.fold_of_row.size
    results = {
        "alpha": np.array(alphas)[order],
        "mean_error": curve @ scores.fold_weights / scores.fold_weights.sum(),
        "std_error": curve.std(axis=1),
        "fold_errors": curve,
        "chosen": int(np.flatnonzero(order == best)[0]),
        "error": float(np.average(errors, weights=scores.fold_weights)),
        "error_by_fold": errors,
        "n_rows": n_rows,
        "n_effective": n_rows / dependence(list(folds), weight),
    }
    y, weights = np.concatenate([fold.y for fold in folds]), np.concatenate([fold.weight for fold in folds])
    return PenaltyChoice(alphas[best], results, outputs, y, weights, scores.fold_of_row, folds)
