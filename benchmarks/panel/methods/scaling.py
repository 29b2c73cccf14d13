"""Steps that competitors share: columns of equal scale, dense rows, fewer rows."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from benchmarks.panel.problem import NotRun, Problem

DENSE_COLUMNS = 2000


def on_scaled_rows(model: Any, problem: Problem) -> Any:
    """Standardise dense columns before a model; sparse rows are taken as they are."""
    return model if problem.is_sparse else make_pipeline(StandardScaler(), model)


def on_scaled_targets(model: Any, problem: Problem) -> Any:
    """Standardise targets that are numbers."""
    return model if problem.is_classes else TransformedTargetRegressor(model, transformer=StandardScaler())


def on_dense_rows(model: Any, problem: Problem) -> Any:
    """Make sparse rows dense for a model that takes no others."""
    if not problem.is_sparse:
        return model
    if problem.n_columns > DENSE_COLUMNS:
        raise NotRun(f"needs dense rows; {problem.n_columns:,} columns are more than {DENSE_COLUMNS:,}")
    return make_pipeline(FunctionTransformer(_dense, accept_sparse=True), model)


def _dense(X):
    """Return dense rows."""
    return X.toarray() if sp.issparse(X) else X


class Subsampled(BaseEstimator):
    """Fit a model on at most `max_rows` rows, drawn by seed."""

    def __init__(self, model: Any, max_rows: int, seed: int):
        self.model = model
        self.max_rows = max_rows
        self.seed = seed

    def fit(self, X, y) -> Self:
        """Fit the model on the rows that are drawn."""
        kept = subsample(len(y), self.max_rows, self.seed)
        self.model.fit(X[kept], y[kept])
        return self

    def predict(self, X):
        """Predict with the model."""
        return self.model.predict(X)


def subsample(n_rows: int, max_rows: int, seed: int) -> np.ndarray:
    """Return the places of at most `max_rows` rows, in order."""
    if n_rows <= max_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng([seed, 4]).choice(n_rows, max_rows, replace=False))
