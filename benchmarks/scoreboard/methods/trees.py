"""Boosted trees with early stopping on a tenth of the training rows. `lightgbm` needs the package lightgbm."""

from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from benchmarks.panel.methods import boosting
from benchmarks.panel.methods.scaling import on_dense_rows
from benchmarks.scoreboard.task import Task

VALIDATION_SHARE, PATIENCE = 0.1, 20
WIDE, WIDE_SHARE = 200, 0.3  # columns, and the share of them that a tree of LightGBM looks at
MANY_ROWS = 100_000


def hist_gradient_boosting(task: Task, max_iter: int = 100) -> Any:
    """HistGradientBoostingClassifier; early stopping as it is by default."""
    return on_dense_rows(
        HistGradientBoostingClassifier(max_iter=max_iter, random_state=task.problem.seed), task.problem
    )


def lightgbm(task: Task, n_estimators: int, **parameters: Any) -> Any:
    """LightGBM until 20 trees a class bring nothing; 63 leaves from 100,000 rows; 0.3 of the columns if over 200."""
    from lightgbm import LGBMClassifier

    problem = task.problem
    automatic = {
        "num_leaves": 63 if problem.n_rows >= MANY_ROWS else 31,
        "colsample_bytree": WIDE_SHARE if problem.n_columns > WIDE else 1.0,
    }
    model = LGBMClassifier(
        n_estimators=n_estimators,
        **automatic | parameters,
        random_state=problem.seed,
        n_jobs=problem.n_threads,
        verbose=-1,
    )
    return _StoppedEarly(model, problem.seed)


def lightgbm_default(task: Task) -> Any:
    """LightGBM with default settings: 100 rounds on all rows."""
    return boosting.lightgbm(task.problem)


class _StoppedEarly(BaseEstimator):
    """LightGBM with rows to validate on."""

    def __init__(self, model: Any, seed: int):
        self.model, self.seed = model, seed

    def fit(self, X, y) -> Self:
        from lightgbm import early_stopping

        X, X_validation, y, y_validation = train_test_split(
            X, y, test_size=VALIDATION_SHARE, random_state=self.seed, stratify=y
        )
        stop = early_stopping(PATIENCE, verbose=False)
        self.model.fit(X, y, eval_set=[(X_validation, y_validation)], callbacks=[stop])
        return self

    def predict(self, X):
        return self.model.predict(X)
