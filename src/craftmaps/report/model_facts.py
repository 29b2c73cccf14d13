"""Parts and choices of a fitted model, for the report and the command line.

The one place outside the learners that reads their fitted state.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps.kernels import DotProductKernel, Polynomial
from craftmaps.report.html.wording import shortened
from craftmaps.shaping.row_shaping import Treatment

_LONGEST_KERNEL = 80


class Shaping(NamedTuple):
    """How a model maps rows: a metric, a factor (None: unit length) and a feature map. Each may be None."""

    metric: Any
    scale: float | None
    feature_map: Any


class Choices(NamedTuple):
    """Kernel, metric and length of rows, chosen or given.

    `candidates` are pairs (name, held-out error), none if nothing was left to choose or the model came from a file;
    `taken` is the place of the chosen candidate.
    """

    kernel: str | None
    metric: str | None
    normalize: bool
    candidates: list[tuple[str, float]]
    taken: int | None


def finish(model: Any) -> None:
    """Solve the model for the rows that it has seen, unless it is solved."""
    if not model._is_solved:
        model.finish()


def shaping_of(model: Any) -> Shaping:
    """Return how a model maps rows."""
    features = model._lift
    return Shaping(features.metric, features.scale, features.feature_map)


def shaped(model: Any, rows: Any) -> Any:
    """Return rows as the feature map of a model sees them."""
    return model._lift.shape_rows(rows)


def outcomes(model: Any, X: Any) -> tuple[NDArray, NDArray[np.floating], NDArray[np.floating]]:
    """Return the predictions, scores and probabilities of a classifier; every row is mapped once."""
    scores, probabilities = model._outcomes(X)
    best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.int64)
    return model.classes_[best], scores, probabilities


def choices_of(model: Any) -> Choices:
    """Return the choices of a model."""
    choices = model.choices_
    errors = choices.get("held_out_errors") or {}
    return Choices(
        kernel_name(choices["kernel"]),
        None if choices["metric"] is None else str(choices["metric"]),
        choices["normalize"],
        list(errors.items()),
        _taken(choices, list(errors)),
    )


def kernel_name(kernel: Any) -> str | None:
    """Write a kernel with all its parameters, as a reader does not know the defaults; None if it is no kernel."""
    if not isinstance(kernel, DotProductKernel):
        return None
    values = ", ".join(f"{name}={value}" for name, value in vars(kernel).items())
    return shortened(f"{type(kernel).__name__}({values})", _LONGEST_KERNEL)


def _taken(choices: dict[str, Any], names: list[str]) -> int | None:
    """Return the place of the chosen candidate, which need not be the one of the lowest error."""
    kernel = choices["kernel"]
    treatment = str(Treatment(choices["metric"], choices["normalize"], choices.get("n_axes")))
    name = f"{treatment}, degree {kernel.degree}" if isinstance(kernel, Polynomial) else f"{treatment}, {kernel!r}"
    # A feature map that was given has its own kernel, which no candidate names.
    alike = [other for other in names if other.startswith(f"{treatment}, ")]
    found = name if name in names else next(iter(alike), None)
    return None if found is None else names.index(found)
