"""Checkpoints of a pass: the statistic, the held-out sample and the position in the stream.

A run that is resumed from a checkpoint adds the same blocks in the same order to the same numbers,
so it ends in the same model, bit for bit, as one that was never interrupted.
"""

import os
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from craftmaps import model_file
from craftmaps.holdout import Holdout, RowCounts, Sample
from craftmaps.model_file import ModelFileError
from craftmaps.normal_equations import NormalEquations
from craftmaps.parts import (
    lift_from_plain,
    lift_to_plain,
    names_from_plain,
    names_to_plain,
    rows_from_plain,
    rows_to_plain,
)


def write(path: str | os.PathLike, learner: Any, position: int) -> None:
    """Write what a learner has counted, and how many blocks of its stream that were."""
    statistic = learner._statistic
    header = {
        "checkpoint": type(learner).__name__,
        "parameters": _parameters(learner),
        "position": position,
        "seed": learner.seed_,
        "n_features": int(learner.n_features_in_),
        "feature_names": names_to_plain(learner),
        "n_rows": int(learner.n_rows_seen_),
        "targets": learner._targets_to_plain(),
        "lift": None if learner._lift is None else lift_to_plain(learner._lift),
        "choices": _choices_to_plain(learner),
        "statistic": None if statistic is None else statistic.to_plain(),
        "holdout": _holdout_to_plain(learner),
        "waiting": {
            str(i): {"X": rows_to_plain(X), "y": learner._labels_to_plain(y), "weight": weight}
            for i, (X, y, weight) in enumerate(learner._waiting)
        },
    }
    model_file.write(path, header)


def read(path: str | os.PathLike, learner: Any) -> int:
    """Restore a learner from a checkpoint of one with the same parameters; return its position."""
    header = model_file.read(path)
    if header.get("checkpoint") != type(learner).__name__:
        raise ModelFileError(f"{Path(path)} is not a checkpoint of a {type(learner).__name__}.")
    mine, theirs = _parameters(learner), header["parameters"]
    for name in mine:
        if mine[name] != theirs.get(name):
            raise ModelFileError(
                f"{Path(path)} is a checkpoint with {name}={theirs.get(name)}, expected {mine[name]} as here."
            )
    try:
        return _restore(learner, header)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ModelFileError(f"{Path(path)} has a damaged header: {error}.") from None


def _restore(learner: Any, header: dict[str, Any]) -> int:
    """Give a learner the state of a checkpoint; return the position in the stream."""
    learner.n_features_in_ = header["n_features"]
    names_from_plain(learner, header.get("feature_names"))
    learner._start(seed=header["seed"])
    learner._targets_from_plain(header["targets"])
    learner.n_rows_seen_ = header["n_rows"]
    if header["lift"] is not None:
        learner._take_lift(lift_from_plain(header["lift"]))
        learner.choices_ |= header.get("choices", {})
    if header["statistic"] is not None:
        learner._statistic = NormalEquations.from_plain(header["statistic"])
    learner._holdout = _holdout_from_plain(header["holdout"], learner)
    for _, block in sorted(header["waiting"].items(), key=lambda item: int(item[0])):
        X, y = rows_from_plain(block["X"]), learner._labels_from_plain(block["y"])
        learner._waiting.append((X, y, block["weight"]))
    return int(header["position"])


def _parameters(learner: Any) -> dict[str, str]:
    """Return the parameters that must agree, as text."""
    parameters = learner.get_params(deep=False)
    if not isinstance(learner.random_state, Integral | None):
        del parameters["random_state"]  # the state of a generator is another one every time; the seed is kept
    return {name: repr(value) for name, value in sorted(parameters.items()) if name != "verbose"}


def _choices_to_plain(learner: Any) -> dict[str, Any]:
    """Describe what the lift does not say of the choices: names, and the errors of all candidates."""
    choices = {} if learner._lift is None else learner.choices_
    names = sorted(choices.keys() & {"metric", "n_axes"})
    plain: dict[str, Any] = {name: choices[name] for name in names if isinstance(choices[name], str | int | None)}
    if "held_out_errors" in choices:
        plain["held_out_errors"] = {name: float(error) for name, error in choices["held_out_errors"].items()}
    return plain


def _holdout_to_plain(learner: Any) -> dict[str, Any]:
    """Describe the held-out sample."""
    holdout = learner._holdout
    spent = {"hashes": holdout.spent.hashes.view(np.int64), "count": holdout.spent.count}
    plain: dict[str, Any] = {"size": holdout.size, "seed": holdout.seed, "sample": None, "spent": spent}
    if holdout.sample is not None:
        plain["sample"] = holdout.sample._asdict() | {
            "hashes": holdout.sample.hashes.view(np.int64),
            "X": rows_to_plain(holdout.sample.X),
            "y": learner._labels_to_plain(holdout.sample.y),
        }
    return plain


def _holdout_from_plain(plain: dict[str, Any], learner: Any) -> Holdout:
    """Make the held-out sample again."""
    sample = plain["sample"]
    if sample is not None:
        sample = Sample(
            sample["hashes"].view(np.uint64),
            rows_from_plain(sample["X"]),
            learner._labels_from_plain(sample["y"]),
            sample["weight"],
            sample["count"],
        )
    spent = RowCounts(plain["spent"]["hashes"].view(np.uint64), plain["spent"]["count"])
    return Holdout(plain["size"], plain["seed"], sample, spent)
