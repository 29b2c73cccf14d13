"""Learners that see a row at a time: Vowpal Wabbit (package vowpalwabbit) and river (package river).

Rows become text for Vowpal Wabbit and dictionaries for river, in Python, which is part of the seconds.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from benchmarks.scoreboard.methods.blocks import row_blocks
from benchmarks.scoreboard.methods.scaling import dense, fitted_scaler
from benchmarks.scoreboard.task import Task

FIRST_ROWS = 5_000  # that scalers are fitted to


def vowpal_wabbit(task: Task, passes: int, quadratic: bool) -> Any:
    """Logistic regression one against all, 2^20 weights, with products of all pairs of columns if `quadratic`."""
    return _VowpalWabbit(task, 1 if task.is_stream else passes, quadratic)


def river(task: Task, kind: str) -> Any:
    """One pass of an adaptive random forest of ten trees ("forest") or of softmax regression ("linear")."""
    return _River(task, kind)


class _VowpalWabbit(BaseEstimator):
    """Vowpal Wabbit on scaled rows."""

    def __init__(self, task: Task, passes: int, quadratic: bool):
        self.task, self.passes, self.quadratic = task, passes, quadratic

    def fit(self, X, y) -> Self:
        from vowpalwabbit import Workspace

        self.classes_, codes = np.unique(y, return_inverse=True)
        self.scaler_ = fitted_scaler(self.task.scaling, dense(X[:FIRST_ROWS]))
        pairs = " -q ff" if self.quadratic else ""
        seed = self.task.problem.seed
        options = f"--oaa {self.classes_.size} --loss_function logistic -b 20 --random_seed {seed} --quiet{pairs}"
        self.model_ = Workspace(options)
        order = np.random.default_rng(seed).permutation(len(y))
        for _ in range(self.passes):
            for places in row_blocks(order):
                labels = codes[places] + 1
                for label, text in zip(labels, self._texts(X[places]), strict=True):
                    self.model_.learn(f"{label} {text}")
        return self

    def predict(self, X):
        found = [self.model_.predict(text) for rows in row_blocks(X) for text in self._texts(rows)]
        return self.classes_[np.array(found) - 1]

    def model_bytes(self) -> int:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            self.model_.save(str(path))
            return path.stat().st_size

    def _texts(self, X) -> Iterator[str]:
        """Yield rows in the text format, without zeros."""
        for row in self.scaler_.transform(dense(X)):
            places = np.flatnonzero(row)
            values = zip(places.tolist(), row[places].tolist(), strict=True)
            yield "|f " + " ".join(f"{place}:{value:.4g}" for place, value in values)


class _River(BaseEstimator):
    """A learner of river on scaled rows."""

    def __init__(self, task: Task, kind: str):
        self.task, self.kind = task, kind

    def fit(self, X, y) -> Self:
        from river import forest, linear_model

        seed = self.task.problem.seed
        self.scaler_ = fitted_scaler(self.task.scaling, dense(X[:FIRST_ROWS]))
        forests = self.kind == "forest"
        self.model_ = forest.ARFClassifier(seed=seed) if forests else linear_model.SoftmaxRegression()
        self.first_ = y[0].item()
        order = np.random.default_rng(seed).permutation(len(y))
        for places in row_blocks(order):
            for row, label in zip(self._rows(X[places]), y[places].tolist(), strict=True):
                self.model_.learn_one(row, label)
        return self

    def predict(self, X):
        found = (self.model_.predict_one(row) for rows in row_blocks(X) for row in self._rows(rows))
        return np.array([self.first_ if label is None else label for label in found])

    def _rows(self, X) -> Iterator[dict[int, float]]:
        """Yield rows as dictionaries."""
        for row in self.scaler_.transform(dense(X)).tolist():
            yield dict(enumerate(row))
