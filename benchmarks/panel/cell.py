"""Measure one cell, in a process of its own: `python -m benchmarks.panel.cell method task threads seed seconds folder`.

The folder holds the rows. The result is the last line of standard output, as JSON.
"""

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.panel.problem import NotRun, Problem
from benchmarks.panel.splits import Split


def write_rows(folder: Path, split: Split) -> None:
    """Write both sides of a split, for the processes that measure its cells."""
    for part, X, y in (("train", split.X_train, split.y_train), ("test", split.X_test, split.y_test)):
        if sp.issparse(X):
            sp.save_npz(folder / f"X_{part}.npz", X, compressed=False)
        else:
            np.save(folder / f"X_{part}.npy", X)
        np.save(folder / f"y_{part}.npy", y)


def read_rows(folder: Path, part: str) -> tuple[Any, np.ndarray]:
    """Return one side of a split."""
    path = folder / f"X_{part}.npz"
    X = sp.load_npz(path) if path.exists() else np.load(folder / f"X_{part}.npy")
    return X, np.load(folder / f"y_{part}.npy")


def measure(method: Any, problem: Problem, folder: Path) -> dict[str, Any]:
    """Fit, predict, and return times, errors and memory."""
    X, y = read_rows(folder, "train")
    if method.warm_up is not None:
        method.warm_up(problem, X, y)
    model = method.make(problem)
    wall, processor = time.perf_counter(), _processor_seconds()
    model.fit(X, y)
    values = {"fit_seconds": time.perf_counter() - wall, "fit_cpu_seconds": _processor_seconds() - processor}
    values["fit_peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    X_test, y_test = read_rows(folder, "test")
    wall, processor = time.perf_counter(), _processor_seconds()
    predicted = model.predict(X_test)
    values |= {"predict_seconds": time.perf_counter() - wall, "predict_cpu_seconds": _processor_seconds() - processor}
    values["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    values["error"] = error_of(problem.task, predicted, y_test)
    if method.own_error is not None:
        values |= method.own_error(model, problem)
    return values


def error_of(task: str, predicted: np.ndarray, y: np.ndarray) -> float:
    """Return the share of wrong classes, or the root mean square error of numbers."""
    if predicted.shape != y.shape:
        raise ValueError(f"Predictions must have shape {y.shape}, got {predicted.shape}.")
    return float(np.mean(predicted != y)) if task == "classes" else float(np.mean((predicted - y) ** 2)) ** 0.5


def _processor_seconds() -> float:
    """Return user and system time of this process and of its children that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main(name: str, task: str, n_threads: str, seed: str, seconds: str, folder: str) -> None:
    from benchmarks.panel.methods import METHODS

    X, y = read_rows(Path(folder), "train")
    problem = Problem(task, len(y), X.shape[1], sp.issparse(X), int(n_threads), int(seed), float(seconds))
    try:
        values = {"status": "finished"} | measure(METHODS[name], problem, Path(folder))
    except NotRun as reason:
        values = {"status": "not run", "reason": str(reason)}
    print(json.dumps(values))


if __name__ == "__main__":
    main(*sys.argv[1:])
