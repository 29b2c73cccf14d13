"""Linear competitors of scikit-learn."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifierCV, RidgeCV
from sklearn.svm import LinearSVC

from benchmarks.panel.methods.scaling import on_scaled_rows, subsample
from benchmarks.panel.problem import NotRun, Problem

ALPHAS = np.logspace(-3, 5, 17)
INVERSE_PENALTIES = np.logspace(-4, 4, 9)
LOGISTIC_SEARCH_ROWS = 10_000
MAX_ITERATIONS = 300


def ridge(problem: Problem) -> Any:
    """RidgeCV or RidgeClassifierCV: 17 penalties, leave-one-out in closed form."""
    return on_scaled_rows((RidgeClassifierCV if problem.is_classes else RidgeCV)(ALPHAS), problem)


def logistic(problem: Problem) -> Any:
    """LogisticRegressionCV: nine penalties, three folds, chosen on at most 10,000 rows and fitted to all."""
    if not problem.is_classes:
        raise NotRun("is for classes")
    return on_scaled_rows(_SearchedLogistic(problem.n_threads, problem.seed), problem)


def support_vectors(problem: Problem) -> Any:
    """LinearSVC with default settings; its dual or primal solver as it chooses itself."""
    if not problem.is_classes:
        raise NotRun("is for classes")
    return on_scaled_rows(LinearSVC(dual="auto", random_state=problem.seed), problem)


class _SearchedLogistic(BaseEstimator):
    """Logistic regression whose penalty is chosen on a subsample if there are many rows."""

    def __init__(self, n_threads: int, seed: int):
        self.n_threads = n_threads
        self.seed = seed

    def fit(self, X, y) -> Self:
        kept = subsample(len(y), LOGISTIC_SEARCH_ROWS, self.seed)
        search = LogisticRegressionCV(
            Cs=INVERSE_PENALTIES,
            cv=3,
            max_iter=MAX_ITERATIONS,
            n_jobs=self.n_threads,
            scoring="accuracy",
            l1_ratios=(0.0,),
            use_legacy_attributes=False,
        )
        self.model_ = search.fit(X[kept], y[kept])
        if kept.size < len(y):
            C = float(np.ravel(search.C_)[0])
            self.model_ = LogisticRegression(C=C, max_iter=MAX_ITERATIONS).fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)
