"""Choices and outcomes of a fitted model, for the report and the command line."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps.kernels import DotProductKernel
from craftmaps.report.html.wording import shortened
from craftmaps.shaping.row_shaping import described

_LONGEST_KERNEL = 80


class ChoiceFacts(NamedTuple):
    """Kernel, metric and length of rows, chosen or given.

    `candidates` are pairs (name, held-out error), none if nothing was left to choose or the model came from a file;
    `taken` is the place of the chosen candidate.
    """

    kernel: str | None
    metric: str | None
    normalize: bool
    candidates: list[tuple[str, float]]
    taken: int | None


def outcomes(model: Any, X: Any) -> tuple[NDArray, NDArray[np.floating], NDArray[np.floating]]:
    """Return the predictions, scores and probabilities of a classifier; every row is mapped once."""
    scores, probabilities = model._outcomes(X)
    best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.int64)
    return model.classes_[best], scores, probabilities


def choice_facts(model: Any) -> ChoiceFacts:
    """Return the choices of a model."""
    choices = model.choices_
    taken = next((trial for trial in choices.trials if trial.is_taken), None)
    # Errors on other rows or at another width say nothing of these.
    trials = [t for t in choices.trials if taken is None or (t.n_rows, t.width) == (taken.n_rows, taken.width)]
    return ChoiceFacts(
        kernel_name(choices.kernel),
        None if choices.metric is None else described(choices.metric),
        choices.normalize is True,
        [(trial.name, trial.error) for trial in trials],
        next((i for i, trial in enumerate(trials) if trial.is_taken), None),
    )


def kernel_name(kernel: Any) -> str | None:
    """Write a kernel with all its parameters, as a reader does not know the defaults; None if it is no kernel."""
    if not isinstance(kernel, DotProductKernel):
        return None
    values = ", ".join(f"{name}={value}" for name, value in vars(kernel).items())
    return shortened(f"{type(kernel).__name__}({values})", _LONGEST_KERNEL)
