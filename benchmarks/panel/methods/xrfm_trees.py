"""xRFM: a tree of recursive feature machines."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split

from benchmarks.panel.methods.scaling import on_dense_rows, on_scaled_rows, on_scaled_targets
from benchmarks.panel.problem import Problem

MAX_LEAF_ROWS = 10_000
GRADIENT_ROWS = 1_000  # in a batch of gradients: a leaf at once takes 8 GB with 26 classes
VALIDATION_SHARE = 0.2


def xrfm(problem: Problem) -> Any:
    """Grow xRFM with default settings, a fifth of the rows to validate with, leaves of at most 10,000 rows.

    Its default of 60,000 rows a leaf is for a graphics card. It is told to end after three quarters of the time limit.
    """
    from xrfm import xRFM

    model = _XRFM(xRFM, problem.is_classes, problem.n_threads, problem.seed, 0.75 * problem.seconds)
    return on_dense_rows(on_scaled_targets(on_scaled_rows(model, problem), problem), problem)


class _XRFM(BaseEstimator):
    """xRFM as a scikit-learn estimator."""

    def __init__(self, kind: type, is_classes: bool, n_threads: int, seed: int, seconds: float):
        self.kind = kind
        self.is_classes = is_classes
        self.n_threads = n_threads
        self.seed = seed
        self.seconds = seconds

    def fit(self, X, y) -> Self:
        self.classes_, codes = np.unique(y, return_inverse=True) if self.is_classes else (None, y)
        targets = codes.astype(np.int64 if self.is_classes else np.float32)
        X_train, X_val, y_train, y_val = train_test_split(
            X.astype(np.float32),
            targets,
            test_size=VALIDATION_SHARE,
            random_state=self.seed,
            stratify=codes if self.is_classes else None,
        )
        model = self.kind(
            max_leaf_size=MAX_LEAF_ROWS,
            n_threads=self.n_threads,
            random_state=self.seed,
            time_limit_s=self.seconds,
            device="cpu",
            verbose=False,
        )
        model.rfm_params["fit"]["M_batch_size"] = GRADIENT_ROWS
        self.model_ = model.fit(X_train, y_train, X_val, y_val)
        return self

    def predict(self, X):
        predicted = np.asarray(self.model_.predict(X.astype(np.float32)))
        return self.classes_[predicted.ravel()] if self.is_classes else predicted.reshape(len(X))
