"""The learners of this library, with default settings at several widths."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.panel.problem import Problem
from craftmaps import CraftClassifier, CraftRegressor
from craftmaps.scores import held_out_error

WARM_UPS = ((300, 64), (100, 256))  # rows and width: more rows than features, and fewer


def learner_of_width(width: int) -> Callable[[Problem], Any]:
    """Return the adapter of a width."""

    def make(problem: Problem) -> Any:
        """CraftClassifier or CraftRegressor, all choices automatic, on the rows as they are."""
        kind = CraftClassifier if problem.is_classes else CraftRegressor
        return kind(n_components=width, random_state=problem.seed)

    return make


def warm_up(problem: Problem, X, y) -> None:
    """Compile loops, or read them from the cache, with tiny fits of rows of the same kind."""
    for n_rows, width in WARM_UPS:
        kept = np.random.default_rng(0).permutation(len(y))[:n_rows]
        learner_of_width(width)(problem).fit(X[kept], y[kept]).predict(X[kept])


def own_error(model: Any, problem: Problem) -> dict[str, Any]:
    """Return the cross-validated error that a model reports, its interval, and what it chose."""
    found = held_out_error(model)
    name = "error" if problem.is_classes else "rmse"
    reported = {} if found is None else found.to_plain()
    chosen = {name: repr(value) for name, value in model.choices_.parameters().items()}
    return {
        "cross_validated": reported.get(name),
        "interval": reported.get(f"{name}_interval"),
        "chosen": chosen | {"alpha": float(model.alpha_)},
    }
