"""Boosted trees."""

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from benchmarks.panel.methods.scaling import on_dense_rows
from benchmarks.panel.problem import Problem


def hist_gradient_boosting(problem: Problem) -> Any:
    """Boost with default settings; it stops early by itself beyond 10,000 rows."""
    kind = HistGradientBoostingClassifier if problem.is_classes else HistGradientBoostingRegressor
    return on_dense_rows(kind(random_state=problem.seed), problem)


def lightgbm(problem: Problem) -> Any:
    """Boost with default settings, 100 trees."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMClassifier if problem.is_classes else LGBMRegressor
    return kind(random_state=problem.seed, n_jobs=problem.n_threads, verbose=-1)
