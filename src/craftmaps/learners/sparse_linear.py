"""A linear model of sparse rows of very many columns, such as text: solved from the rows, as no Gram matrix fits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.randomness import child_seed
from craftmaps._rows.sampling import row_hashes
from craftmaps._system.progress import Phase, tell
from craftmaps.learners.fitted_model import FittedModel, Solved
from craftmaps.learners.held_out import HeldOutFold
from craftmaps.learners.left_out_scores import LeftOutScores, left_out_together
from craftmaps.learners.penalty_race import PenaltyChoice
from craftmaps.learners.penalty_search import dependence
from craftmaps.learners.targets import Targets
from craftmaps.least_squares.ridge_path import Solution
from craftmaps.least_squares.sparse_ridge import SparseRidge
from craftmaps.shaping.row_features import RowFeatures

_ALPHAS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)  # in units of the mean squared length of rows
_LEAST_ALPHA = 1e-9  # conjugate gradients need some
_PATIENCE = 2
_TOLERANCE, _LAST_TOLERANCE = 1e-2, 1e-4


@dataclass(frozen=True, eq=False)
class SparseLinear:
    """Ridge regressions on the shaped columns themselves, with the penalty chosen on rows left out.

    Parameters
    ----------
    alphas : sequence of float or None
        In units of the mean diagonal of the centred Gram matrix.
    n_folds, most_rows : int
        Folds of the rows that are held out, and at most how many rows these are.
    seed : int
    """

    alphas: Sequence[float] | None
    n_folds: int
    most_rows: int
    seed: int

    def solve(self, features: RowFeatures | None, targets: Targets, given: tuple, spent: NDArray[np.int64]) -> Solved:
        """Learn from rows, targets and weights; rows at `spent` positions, which made the choices, are not held out."""
        X, y, weight = given
        features = RowFeatures() if features is None else features
        weight = np.asarray(targets.weighted(y, np.ones(X.shape[0]) if weight is None else weight))
        rows, encoded, total = features.shape_rows(X), targets.encoded(y), float(weight.sum())
        positions = self._held_out(X, y, targets, spent)
        folds = [HeldOutFold(rows[p], y[p], weight[p], np.ones(p.size, np.int64)) for p in positions]
        whole = SparseRidge(rows, encoded, weight)
        unit = (whole.trace or 1.0) / X.shape[1]
        alphas = [alpha * unit for alpha in self._alphas(whole.unit / unit)]
        left_out = []
        for group in left_out_together(folds, total):
            tested = np.concatenate([positions[i] for i in group])
            rest = weight.copy()
            rest[tested] = 0
            left_out.append((rows[tested], SparseRidge(rows, encoded, rest).path(alphas, _TOLERANCE)))
        scores = LeftOutScores(folds, targets, is_first_preferred=True)
        for i, alpha in enumerate(alphas):
            tell(Phase.PENALTY, f"{alpha / unit:g}, from large to small")
            scores.add(np.concatenate([_outputs(test, next(path)) for test, path in left_out]))
            if i - scores.best() >= _PATIENCE:
                break
        tell(Phase.SOLUTION)
        alpha, choice = alphas[scores.best()], _choice(scores, [alpha / unit for alpha in alphas], total)
        solution = next(whole.path([alpha], _LAST_TOLERANCE))
        model = FittedModel(features, targets, *solution, alpha, X.shape[0], targets.calibrated(choice))
        return Solved(model, choice.results)

    def _alphas(self, of_rows: float) -> list[float]:
        """Return the penalties to try, the largest first; `of_rows` is the unit of the usual ones."""
        alphas = [of_rows * alpha for alpha in _ALPHAS] if self.alphas is None else self.alphas
        return sorted((max(float(alpha), _LEAST_ALPHA) for alpha in alphas), reverse=True)

    def _held_out(self, X: Any, y: NDArray, targets: Targets, spent: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the positions of the rows of each fold, picked by content hash: the order of rows does not matter."""
        free = np.setdiff1d(np.arange(X.shape[0]), spent)
        keys = row_hashes(X[free], child_seed(self.seed, "holdout")) ^ targets.hashes(y[free])
        free = free[np.argsort(keys, kind="stable")][: self.most_rows]
        if free.size < 2:
            raise ValueError(
                f"At least 2 rows are needed to choose alpha, got n_samples={free.size} that choices were not made by."
            )
        return [free[i :: self.n_folds] for i in range(min(self.n_folds, free.size))]


def _choice(scores: LeftOutScores, alphas: list[float], weight: float) -> PenaltyChoice:
    """Return the curve of penalties, as the learners report it, with what is needed to calibrate."""
    errors, outputs = scores.honest()
    best, folds = scores.best(), scores.folds
    curve = np.array(scores.errors)
    n_rows = scores.fold_of_row.size
    results = {
        "alpha": np.array(alphas[: len(curve)]),
        "mean_error": curve @ scores.fold_weights / scores.fold_weights.sum(),
        "std_error": curve.std(axis=1),
        "fold_errors": curve,
        "chosen": best,
        "error": float(np.average(errors, weights=scores.fold_weights)),
        "error_by_fold": errors,
        "n_rows": n_rows,
        "n_effective": n_rows / dependence(list(folds), weight),
    }
    y, weights = np.concatenate([fold.y for fold in folds]), np.concatenate([fold.weight for fold in folds])
    return PenaltyChoice(alphas[best], results, outputs, y, weights, scores.fold_of_row, folds)


def _outputs(rows: Any, solution: Solution) -> NDArray[np.float64]:
    """Return the outputs for sparse rows."""
    return rows @ solution.coef.T + solution.intercept
