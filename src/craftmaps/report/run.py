"""A training run, as the report takes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from craftmaps.kernels import Rows
from craftmaps.learners import CraftClassifier, CraftRegressor
from craftmaps.report.evaluation import Evaluation


@dataclass(frozen=True)
class Run:
    """A fitted model, its test rows, and how it was trained.

    Parameters
    ----------
    model : fitted CraftClassifier or CraftRegressor
    data : str
        Name of the data.
    command : str
        Command that repeats the run.
    X_test, y_test : rows and targets that the model has not seen, or None
    phases : mapping of str to float
        Seconds that each phase took, in order.
    peak_memory : int or None
        In bytes.
    rows_sample : rows or None
        Some rows to check the kernel on; None means test rows.
    feature_names : sequence of str or None
        Names of the columns.
    evaluation : Evaluation or None
        Scores and examples of test rows that came block by block, instead of `X_test` and `y_test`.
    """

    model: CraftClassifier | CraftRegressor
    data: str = "the rows given"
    command: str = ""
    X_test: Rows | None = None
    y_test: Rows | None = None
    phases: Mapping[str, float] = field(default_factory=dict)
    peak_memory: int | None = None
    rows_sample: Rows | None = None
    feature_names: Sequence[str] | None = None
    evaluation: Evaluation | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, (CraftClassifier, CraftRegressor)):
            raise TypeError(f"model must be a CraftClassifier or CraftRegressor, got {type(self.model).__name__}.")
        check_is_fitted(self.model, "n_rows_seen_")
        if (self.X_test is None) != (self.y_test is None):
            missing = "X_test" if self.X_test is None else "y_test"
            raise ValueError(f"X_test and y_test must both be given or both be None, got None for {missing} only.")
        if self.evaluation is not None and (self.X_test is not None or self.evaluation.examples is None):
            got = "no examples" if self.X_test is None else "X_test too"
            raise ValueError(f"evaluation must have examples and come without X_test, got {got}.")
        for name, seconds in self.phases.items():
            if not isinstance(seconds, Real) or not 0 <= float(seconds) < np.inf:
                raise ValueError(f"phases must give seconds, none negative, got {seconds!r} for {name!r}.")
        if self.peak_memory is not None and not 0 <= self.peak_memory < np.inf:
            raise ValueError(f"peak_memory must be bytes or None, got {self.peak_memory!r}.")
        names, width = self.feature_names, self.model.n_features_in_
        if names is not None and len(names) != width:
            raise ValueError(f"feature_names must have a name for each of {width} columns, got {len(names)}.")

    def test_rows(self) -> tuple[Any, NDArray] | None:
        """Return test rows in a form that can be sliced, and their targets; None if there are none."""
        if self.X_test is None:
            return None
        X, y = _sliceable(self.X_test), np.asarray(self.y_test)
        if y.ndim == 0 or y.shape[0] != X.shape[0]:
            raise ValueError(f"y_test must have a target for each of {X.shape[0]} test rows, got shape {y.shape}.")
        return (X, y) if y.shape[0] else None

    def some_rows(self, name: str, most: int) -> Any:
        """Return at most `most` rows of an argument, evenly spaced, as numbers; None if there are none."""
        rows, width = getattr(self, name), self.model.n_features_in_
        if rows is None:
            return None
        rows = _sliceable(rows)
        rows = rows[:: max(1, -(-rows.shape[0] // most))]
        rows = check_array(
            rows, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_min_samples=0, input_name=name
        )
        if rows.shape[1] != width:
            raise ValueError(f"{name} must have {width} columns as the model has, got {rows.shape[1]}.")
        return rows if rows.shape[0] else None

    def column_names(self) -> list[str]:
        """Return a name for each column."""
        if self.feature_names is not None:
            return [str(name) for name in self.feature_names]
        numbered = [f"column {i}" for i in range(self.model.n_features_in_)]
        return [str(name) for name in getattr(self.model, "feature_names_in_", numbered)]


def _sliceable(rows: Any) -> Any:
    """Return rows that can be sliced. A data frame stays one, since the model checks the names of its columns."""
    if issparse(rows):
        return rows.tocsr()
    return rows if hasattr(rows, "shape") else np.asarray(rows)
