"""Adapters of the scoreboard: functions of a `Task` and of settings that return an estimator with `fit` and `predict`.

`board.toml` names them as `module.function`. A module imports its competitor inside the function, because not every
interpreter has them all. Estimators whose model is not best measured by its pickle have a method `model_bytes`.
"""

import importlib
from collections.abc import Callable
from typing import Any


def adapter(name: str) -> Callable[..., Any]:
    """Return the adapter `module.function`."""
    module, _, function = name.partition(".")
    return getattr(importlib.import_module(f"{__name__}.{module}"), function)


def warm_up(name: str) -> Callable[..., None] | None:
    """Return what has to happen in a process before an adapter's fit is timed, if anything."""
    return getattr(importlib.import_module(f"{__name__}.{name.partition('.')[0]}"), "warm_up", None)
