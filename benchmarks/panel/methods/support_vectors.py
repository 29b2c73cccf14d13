"""Kernel support vector machines of scikit-learn."""

from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR

from benchmarks.panel.methods.scaling import Subsampled, on_scaled_rows, on_scaled_targets, subsample
from benchmarks.panel.problem import Problem

MAX_ROWS = 20_000
SEARCH_ROWS = 3_000
PENALTIES = (1.0, 10.0, 100.0)


def kernel_machine(problem: Problem) -> Any:
    """SVC or SVR, Gaussian kernel, at most 20,000 rows; C of 1, 10, 100 by three folds of at most 3,000 rows."""
    model = _Searched(SVC() if problem.is_classes else SVR(), problem.seed)
    return Subsampled(on_scaled_targets(on_scaled_rows(model, problem), problem), MAX_ROWS, problem.seed)


class _Searched(BaseEstimator):
    """A machine whose C is chosen on a subsample and which is then fitted to all rows."""

    def __init__(self, model: Any, seed: int):
        self.model = model
        self.seed = seed

    def fit(self, X, y) -> Self:
        kept = subsample(len(y), SEARCH_ROWS, self.seed)
        search = GridSearchCV(self.model, {"C": PENALTIES}, cv=3, refit=False).fit(X[kept], y[kept])
        self.model_ = self.model.set_params(cache_size=500, **search.best_params_).fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)
