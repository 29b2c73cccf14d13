"""Choices and outcomes of a fitted model, for the report and the command line."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps.kernels import DotProductKernel, spelled_out
from craftmaps.learners.trial_rounds import Round, has_overflowed, label_of, rounds_of
from craftmaps.report.html.wording import shortened
from craftmaps.shaping.row_shaping import described

_LONGEST_KERNEL = 80


class ChoiceFacts(NamedTuple):
    """Kernel, metric, length of rows and names of categories, chosen or given.

    `rounds` are those of the search, each with its candidates, best first; there are none if nothing was left to
    choose or the model came from a file.
    """

    kernel: str | None
    metric: str | None
    normalize: bool
    categories: list[str]
    rounds: list[dict[str, Any]]


def outcomes(model: Any, X: Any) -> tuple[NDArray, NDArray[np.floating], NDArray[np.floating]]:
    """Return the predictions, scores and probabilities of a classifier; every row is mapped once."""
    scores, probabilities = model._outcomes(X)
    best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.int64)
    return model.classes_[best], scores, probabilities


def choice_facts(model: Any, names: Sequence[str] | None = None) -> ChoiceFacts:
    """Return the choices of a model, with the names of its columns if they have any."""
    choices = model.choices_
    return ChoiceFacts(
        kernel_name(choices.kernel),
        None if choices.metric is None else described(choices.metric),
        choices.normalize is True,
        choices.category_names(names),
        [_round_facts(found) for found in rounds_of(choices.trials)],
    )


def _round_facts(found: Round) -> dict[str, Any]:
    """Return a round of the search as plain values; the error of a candidate that overflowed is None."""
    return {
        "rows": found.n_rows,
        "width": found.width,
        "taken": found.taken,
        "candidates": [
            {
                "name": label_of(trial),
                "error": None if has_overflowed(trial) else trial.error,
                "standard_error": None if has_overflowed(trial) else trial.standard_error,
                "seconds": trial.seconds,
            }
            for trial in found.trials
        ],
    }


def kernel_name(kernel: Any) -> str | None:
    """Write a kernel with all its parameters; None if it is no kernel."""
    return shortened(spelled_out(kernel), _LONGEST_KERNEL) if isinstance(kernel, DotProductKernel) else None
