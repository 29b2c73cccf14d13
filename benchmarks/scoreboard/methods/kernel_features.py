"""Random features and landmarks of scikit-learn, with ridge regression or stochastic gradients on them.

Kernel parameter and penalty are chosen on a subsample of training rows, which is part of the fit.
"""

import itertools
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.linear_model import RidgeClassifier, SGDClassifier

from benchmarks.panel.methods.scaling import subsample
from benchmarks.scoreboard.methods.blocks import blocks, row_blocks
from benchmarks.scoreboard.methods.scaling import dense, fitted_scaler, inverse_spread
from benchmarks.scoreboard.task import Task

SEARCH_ROWS, SEARCH_WIDTH, VALIDATION_SHARE = 5_000, 512, 0.2
GAMMAS = (0.5, 1.0, 2.0, 4.0)  # times the one of SVC's gamma="scale"
DEGREES = (2, 4, 7)
PENALTIES = {"ridge": (1e-3, 1e-2, 1e-1, 1.0), "sgd": (1e-6, 1e-5), "incremental_ridge": (1e-3, 1e-2, 1e-1, 1.0)}
MAX_EPOCHS, SEARCH_EPOCHS = 20, 3


def nystroem(task: Task, n_components: int, head: str) -> Any:
    """Landmarks drawn from the training rows, Gaussian kernel, gamma chosen among four."""
    return _KernelFeatures(task, _nystroem, GAMMAS, n_components, head)


def rbf_sampler(task: Task, n_components: int, head: str) -> Any:
    """Random Fourier features, gamma chosen among four."""
    return _KernelFeatures(task, _rbf_sampler, GAMMAS, n_components, head)


def count_sketch(task: Task, n_components: int, head: str) -> Any:
    """Tensor sketch of a polynomial kernel with coef0 = 1, degree 2, 4 or 7, gamma as SVC's "scale"."""
    return _KernelFeatures(task, _count_sketch, DEGREES, n_components, head)


def _nystroem(gamma_scale: float, choice: float, width: int, seed: int) -> Any:
    return Nystroem(gamma=choice * gamma_scale, n_components=width, random_state=seed)


def _rbf_sampler(gamma_scale: float, choice: float, width: int, seed: int) -> Any:
    return RBFSampler(gamma=choice * gamma_scale, n_components=width, random_state=seed)


def _count_sketch(gamma_scale: float, choice: float, width: int, seed: int) -> Any:
    return PolynomialCountSketch(
        gamma=min(gamma_scale, 1.0), degree=int(choice), coef0=1, n_components=width, random_state=seed
    )


def _head(name: str, penalty: float, seed: int, max_epochs: int = MAX_EPOCHS) -> Any:
    """Return a linear model."""
    if name == "sgd":
        return SGDClassifier(alpha=penalty, average=True, max_iter=max_epochs, random_state=seed)
    return RidgeClassifier(penalty)


class _KernelFeatures(BaseEstimator):
    """Scaled rows, a feature map and a linear model."""

    def __init__(self, task: Task, make: Callable[..., Any], choices: tuple, width: int, head: str):
        self.task, self.make, self.choices, self.width, self.head = task, make, choices, width, head

    def fit(self, X, y) -> Self:
        seed = self.task.problem.seed
        kept = subsample(len(y), SEARCH_ROWS, seed)
        first = dense(X[kept])
        self.scaler_ = fitted_scaler(self.task.scaling, first)
        first = self.scaler_.transform(first)
        gamma = inverse_spread(first)
        choice, penalty = self._search(first, y[kept], gamma)
        # Nystroem draws its landmarks from the rows that it is fitted to, the others only look at the width.
        drawn = self._scaled(X[subsample(len(y), max(SEARCH_ROWS, self.width), seed)])
        self.map_ = self.make(gamma, choice, min(self.width, len(y)), seed).fit(drawn)
        self.chosen_ = {"choice": choice, "penalty": penalty}
        if self.head == "incremental_ridge":
            self._fit_incremental_ridge(X, y, penalty)
        elif self.head == "sgd" and self.task.is_stream:
            self._fit_blocks(X, y, penalty)
        else:
            self.head_ = _head(self.head, penalty, seed).fit(self._features(X), y)
        return self

    def predict(self, X):
        return np.concatenate([self._predict(rows) for rows in row_blocks(X)])

    def _predict(self, X):
        predicted = self.head_.predict(self._features(X))
        return self.classes_[np.argmax(predicted, axis=1)] if self.head == "incremental_ridge" else predicted

    def _search(self, X, y, gamma: float) -> tuple[float, float]:
        """Return choice and penalty with the fewest errors on a fifth of the rows."""
        seed = self.task.problem.seed
        order = np.random.default_rng([seed, 6]).permutation(len(y))
        n_kept = round((1 - VALIDATION_SHARE) * len(y))
        train, test = order[:n_kept], order[n_kept:]
        errors = {}
        for choice in self.choices:
            Z = self.make(gamma, choice, min(self.width, SEARCH_WIDTH, n_kept), seed).fit(X[train]).transform(X)
            for penalty in PENALTIES[self.head]:
                head = _head(self.head, penalty, seed, SEARCH_EPOCHS).fit(Z[train], y[train])
                errors[choice, penalty] = np.mean(head.predict(Z[test]) != y[test])
        return min(itertools.product(self.choices, PENALTIES[self.head]), key=errors.__getitem__)

    def _fit_blocks(self, X, y, penalty: float) -> None:
        """Make one pass of stochastic gradients."""
        self.head_ = _head("sgd", penalty, self.task.problem.seed)
        classes = np.unique(y)
        for rows, targets in blocks(X, y):
            self.head_.partial_fit(self._features(rows), targets, classes=classes)

    def _fit_incremental_ridge(self, X, y, penalty: float) -> None:
        """Add blocks of rows to the ridge regression of scikit-learn-intelex; targets are one column for each class."""
        from sklearnex.linear_model import IncrementalRidge

        self.classes_ = np.unique(y)
        self.head_ = IncrementalRidge(alpha=penalty)
        for rows, targets in blocks(X, y):
            self.head_.partial_fit(self._features(rows), (targets[:, None] == self.classes_).astype(np.float32))

    def _features(self, X):
        return self.map_.transform(self._scaled(X)).astype(np.float32, copy=False)

    def _scaled(self, X):
        return self.scaler_.transform(dense(X))
