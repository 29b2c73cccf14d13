"""The classifier of this library, with default settings; rows as they are."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.panel.methods.craft import WARM_UPS
from benchmarks.panel.problem import Problem
from benchmarks.scoreboard.methods.blocks import blocks
from benchmarks.scoreboard.task import Task
from craftmaps import CraftClassifier


def classifier(task: Task, n_components: int) -> Any:
    """Return a `CraftClassifier` whose choices are all automatic; it takes a stream block by block."""
    return _Craft(task.is_stream, n_components=n_components, random_state=task.problem.seed)


def warm_up(problem: Problem, X, y) -> None:
    """Compile loops, or read them from the cache, with tiny fits of rows of the same kind."""
    for n_rows, width in WARM_UPS:
        kept = np.random.default_rng(0).permutation(len(y))[:n_rows]
        CraftClassifier(n_components=width, random_state=0).fit(X[kept], y[kept]).predict(X[kept])


class _Craft:
    """A classifier that is fitted in one call, or from blocks."""

    def __init__(self, is_stream: bool, **parameters: Any):
        self.is_stream = is_stream
        self.model = CraftClassifier(**parameters)

    def fit(self, X, y) -> None:
        if self.is_stream:
            self.model.fit_stream(blocks(X, y))
        else:
            self.model.fit(X, y)

    def predict(self, X):
        return self.model.predict(X)

    def model_bytes(self) -> int:
        """Return the size of the model file."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            self.model.save(path)
            return path.stat().st_size
