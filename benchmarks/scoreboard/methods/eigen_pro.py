"""EigenPro. Needs scikit-learn-extra, which needs NumPy before 2, SciPy before 1.12 and scikit-learn before 1.4."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from benchmarks.scoreboard.methods.scaling import SCALERS, dense, inverse_spread
from benchmarks.scoreboard.task import Task


def eigenpro(task: Task, n_epoch: int, gamma: float) -> Any:
    """EigenPro iteration for a Gaussian kernel; `gamma` is a multiple of SVC's "scale"."""
    from sklearn_extra.kernel_methods import EigenProClassifier

    return _EigenPro(EigenProClassifier, task, n_epoch, gamma)


class _EigenPro(BaseEstimator):
    """EigenPro on scaled rows."""

    def __init__(self, kind: type, task: Task, n_epoch: int, gamma: float):
        self.kind, self.task, self.n_epoch, self.gamma = kind, task, n_epoch, gamma

    def fit(self, X, y) -> Self:
        X = dense(X)
        self.scaler_ = SCALERS[self.task.scaling]().fit(X)
        X = self.scaler_.transform(X)
        gamma = self.gamma * inverse_spread(X)
        seed = self.task.problem.seed
        self.model_ = self.kind(n_epoch=self.n_epoch, gamma=gamma, kernel="rbf", random_state=seed).fit(X, y)
        return self

    def predict(self, X):
        return np.asarray(self.model_.predict(self.scaler_.transform(dense(X))))
