"""Tally files: a tally, and the parameters of the estimator that it is for.

A tally of no rows is a recipe: features that are settled and ready to count rows anywhere.
"""

import json
import os
from typing import Any

import numpy as np

from craftmaps._system.fields import Fields
from craftmaps.learners.choices import Choices
from craftmaps.learners.persistence import container
from craftmaps.learners.persistence.stored_tally import tally_from_plain, tally_to_plain
from craftmaps.learners.tally import Origin, Tally
from craftmaps.learners.targets import Targets


def write(path: str | os.PathLike, tally: Tally, notes: Any = None, dtype: Any = np.float64) -> None:
    """Write a tally to a file, whole or not at all, its Gram matrix in a precision; `notes` are any JSON value."""
    container.write(path, to_plain(tally, notes, dtype))


def to_plain(tally: Tally, notes: Any = None, dtype: Any = np.float64) -> dict[str, Any]:
    """Describe a tally and its origin."""
    origin = tally.origin
    if origin is None:
        raise ValueError("This tally was not made by an estimator, so a file cannot say what it is for.")
    return {
        "tally": tally_to_plain(tally, origin.choices, dtype),
        "model": origin.model,
        "parameters": origin.parameters,
        "seed": origin.seed,
        "notes": {"json": json.dumps(origin.notes if notes is None else notes)},
    }


def from_plain(fields: Fields, targets: Targets, notes: Any) -> Tally:
    """Return the tally of a file, for targets that the parameters of the file give."""
    tally, choices = tally_from_plain(fields.object("tally"), targets)
    tally.origin = _origin(fields, choices, notes)
    return tally


def _origin(fields: Fields, choices: Choices, notes: Any) -> Origin:
    """Return what a file says of the estimator that a tally is for."""
    return Origin(fields.value("model"), dict(fields.value("parameters")), fields.seed("seed"), choices, notes)
