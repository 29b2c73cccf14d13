"""Measure one cell in a process of its own: `python -m benchmarks.scoreboard.cell` with a JSON object as argument.

The result is the last line of standard output, as JSON.
"""

import json
import pickle
import sys
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.panel.cell import measure
from benchmarks.panel.problem import NotRun, Problem
from benchmarks.scoreboard.methods import adapter, warm_up
from benchmarks.scoreboard.task import Task

PACKAGES = ("numpy", "scipy", "scikit-learn")


def measured(order: dict[str, Any]) -> dict[str, Any]:
    """Fit, predict, and return times, error, memory, bytes and the versions of packages."""
    folder = Path(order["folder"])
    problem = Problem("classes", *_shape(folder), order["threads"], order["seed"], order["seconds"])
    task = Task(problem, order["scaling"], order["is_stream"])
    make = adapter(order["adapter"])
    method = SimpleNamespace(
        make=lambda _: make(task, **order["settings"]), warm_up=warm_up(order["adapter"]), own_error=_about
    )
    try:
        values = {"status": "finished"} | measure(method, problem, folder)
    except (NotRun, ImportError) as reason:
        return {"status": "not run", "reason": f"{type(reason).__name__}: {reason}"}
    return values | {"versions": _versions([*PACKAGES, *order["packages"]])}


def model_bytes(model: Any) -> int:
    """Return the size of a model: of its own file if it has one, else of its pickle."""
    own = getattr(model, "model_bytes", partial(_pickled_bytes, model))
    return own()


def _pickled_bytes(model: Any) -> int:
    return len(pickle.dumps(model, protocol=5))


def _about(model: Any, problem: Problem) -> dict[str, Any]:
    """Return the bytes of a model and what it chose."""
    inner = getattr(model, "model", model)
    values: dict[str, Any] = {"model_bytes": model_bytes(model)}
    if hasattr(model, "chosen_"):
        values["chosen"] = model.chosen_
    if hasattr(inner, "choices_"):
        values["chosen"] = {name: repr(value) for name, value in inner.choices_.parameters().items()}
    return values


def _shape(folder: Path) -> tuple[int, int, bool]:
    """Return rows, columns and whether they are sparse, without keeping the rows."""
    path = folder / "X_train.npz"
    if path.exists():
        return *sp.load_npz(path).shape, True
    return *np.load(folder / "X_train.npy", mmap_mode="r").shape, False


def _versions(packages: list[str]) -> dict[str, str]:
    """Return the versions of the packages that are installed."""
    versions = {}
    for name in packages:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


if __name__ == "__main__":
    print(json.dumps(measured(json.loads(sys.argv[1]))))
