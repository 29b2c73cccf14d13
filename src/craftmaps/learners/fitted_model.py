"""The solved model: features of rows, and one matrix that everything linear behind them is folded into."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from craftmaps._system.threads import multiply
from craftmaps.learners.blocks import block_rows
from craftmaps.learners.calibration import Calibration
from craftmaps.learners.few_rows import FewRows
from craftmaps.learners.penalty_race import PenaltyChoice
from craftmaps.learners.tally import Tally
from craftmaps.learners.targets import Targets
from craftmaps.least_squares.ridge_path import Solution
from craftmaps.maps.feature_map import FeatureMap
from craftmaps.shaping.row_features import RowFeatures


class Solved(NamedTuple):
    """A model, and what rows left out say of it; None if none were."""

    model: "FittedModel"
    results: dict[str, Any] | None


@dataclass(frozen=True, eq=False)
class FittedModel:
    """All that prediction, saving and exporting need.

    The last step of many maps is linear: a Hadamard transform, or a product with the inverse factor of a kernel matrix.
    It is folded into the weights once, in float64, and rows are spared it.

    Parameters
    ----------
    features : RowFeatures
    targets : Targets
    coef : ndarray of shape (n_columns, n_features)
        The solution for the columns of the targets: indicators of classes, or numbers.
    intercept : ndarray of shape (n_columns,)
    alpha : float
        The penalty of the solution.
    n_rows : int
        The number of rows it was solved from.
    calibration : Calibration, optional
        How scores of classes become log-odds.
    loss : {"squared", "logistic"}
        What the solution minimises.
    """

    features: RowFeatures
    targets: Targets
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    alpha: float
    n_rows: int
    calibration: Calibration | None = None
    loss: str = "squared"

    @classmethod
    def solved(
        cls,
        tally: Tally,
        relative: float,
        fit_intercept: bool,
        choice: PenaltyChoice | None,
        few: FewRows | None = None,
        logistic: Solution | None = None,
    ) -> Self:
        """Solve a tally, perhaps of few rows, for an alpha in units of its scale; rows left out calibrate.

        A solution of the logistic loss takes the place of that of the squared loss.
        """
        statistic, penalty = tally.statistic, tally.features.penalty
        alpha = relative * (statistic.scale(fit_intercept, penalty) or 1.0)
        loss = "squared" if logistic is None else "logistic"
        if logistic is not None:
            solution = logistic
        elif few is not None and alpha > 0:
            alpha = few.above_rounding(alpha)
            solution = few.solve(alpha)
        else:
            solution = statistic.solve(alpha, fit_intercept=fit_intercept, penalty=penalty)
        calibration = tally.targets.calibrated(choice)
        return cls(tally.features, tally.targets, *solution, alpha, tally.n_rows, calibration, loss)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The coefficients of the map, folded through its last linear step; of shape (n_unfinished, n_columns)."""
        feature_map = self.features.feature_map
        if not isinstance(feature_map, FeatureMap):
            return self.coef.T[: self.coef.shape[1] - self.n_linear]
        return feature_map._folded(self.coef.T[: feature_map._n_features_out])

    @property
    def n_linear(self) -> int:
        """The number of linear columns beside the map, whose coefficients are the last ones."""
        if self.features.linear is None:
            return 0
        return self.coef.shape[1] - self.features.feature_map._n_features_out

    def outputs(self, X: Any, dtype: Any = None, batch_rows: int | str = "auto") -> NDArray[np.floating]:
        """Return the outputs for the columns of the targets of validated rows, in a precision or in that of X."""
        dtype = X.dtype if dtype is None else dtype
        outputs = np.empty((X.shape[0], self.intercept.size), dtype)
        weights, intercept = self.weights.astype(X.dtype), self.intercept.astype(dtype)
        linear = self.coef.T[-self.n_linear :].astype(X.dtype) if self.n_linear else None
        if self.features.feature_map is None and issparse(X):
            rows = self.features.shape_rows(X)
            if issparse(rows):  # dense ones of very many columns would fill the memory
                return (rows @ weights + intercept).astype(dtype, copy=False)
        scratch, step = None, block_rows(batch_rows, self.coef.shape[1], X.dtype)
        for start in range(0, X.shape[0], step):
            scratch = Z = self.features.unfinished(X[start : start + step], weights.shape[0], scratch)
            outputs[start : start + step] = multiply(Z, weights) + intercept
            if linear is not None and self.features.linear is not None:
                outputs[start : start + step] += multiply(self.features.linear(X[start : start + step]), linear)
        return outputs
