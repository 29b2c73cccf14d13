"""Nystroem features of scikit-learn and ridge regression on them."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifierCV, RidgeCV

from benchmarks.panel.methods.scaling import on_scaled_rows
from benchmarks.panel.problem import Problem

N_LANDMARKS = 1024
ALPHAS = np.logspace(-4, 2, 7)


def nystroem_ridge(problem: Problem) -> Any:
    """Gaussian kernel, gamma as SVC's "scale", 1,024 landmarks, seven penalties."""
    return on_scaled_rows(_NystroemRidge(problem.is_classes, problem.seed), problem)


class _NystroemRidge(BaseEstimator):
    """Nystroem followed by ridge regression; gamma is known once the rows are."""

    def __init__(self, is_classes: bool, seed: int):
        self.is_classes = is_classes
        self.seed = seed

    def fit(self, X, y) -> Self:
        gamma = 1 / (X.shape[1] * _variance(X))
        n_landmarks = min(N_LANDMARKS, X.shape[0])
        self.features_ = Nystroem(gamma=gamma, n_components=n_landmarks, random_state=self.seed)
        self.ridge_ = (RidgeClassifierCV if self.is_classes else RidgeCV)(ALPHAS)
        self.ridge_.fit(self.features_.fit_transform(X), y)
        return self

    def predict(self, X):
        return self.ridge_.predict(self.features_.transform(X))


def _variance(X) -> float:
    """Return the variance of all entries."""
    if sp.issparse(X):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(X.var())
