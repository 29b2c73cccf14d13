"""Neural networks of scikit-learn."""

from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from benchmarks.panel.methods.scaling import on_dense_rows
from benchmarks.scoreboard.methods.scaling import SCALERS
from benchmarks.scoreboard.task import Task

ROW_VISITS = 5e6  # epochs are as many as this allows, 10 to 100


def perceptron(task: Task, hidden: int) -> Any:
    """MLPClassifier with one hidden layer, early stopping on a tenth of the rows."""
    model = MLPClassifier(
        (hidden,),
        early_stopping=True,
        n_iter_no_change=5,
        max_iter=int(np.clip(ROW_VISITS / task.problem.n_rows, 10, 100)),
        random_state=task.problem.seed,
    )
    scaler = _raised_length(task) if task.scaling == "length" else SCALERS[task.scaling]()
    return on_dense_rows(make_pipeline(scaler, model), task.problem)


def _raised_length(task: Task) -> Any:
    """Scale rows to unit length, then columns to squares of about 1: Adam is slow with small ones."""
    factor = {"factor": task.problem.n_columns**0.5}
    return make_pipeline(SCALERS["length"](), FunctionTransformer(_times, kw_args=factor))


def _times(X, factor: float):
    return X * np.float32(factor)
