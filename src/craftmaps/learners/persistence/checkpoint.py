"""Checkpoints of a pass: the statistic, the held-out sample and the position in the stream.

A run that is resumed from a checkpoint adds the same blocks in the same order to the same numbers,
so it ends in the same model, bit for bit, as one that was never interrupted.
"""

import os
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.fields import DamagedError, Fields, shown
from craftmaps.learners.held_out import ALL_ROWS, HeldOut, RowCounts, Sample
from craftmaps.learners.persistence import container as model_file
from craftmaps.learners.persistence.container import ModelFileError
from craftmaps.learners.persistence.fitted_parts import lift_to_plain, names_to_plain
from craftmaps.learners.persistence.rebuilt_parts import checked_lift, names_from_plain
from craftmaps.learners.persistence.stored_rows import rows_from_plain, rows_to_plain
from craftmaps.least_squares.normal_equations import NormalEquations

_LEAST_WEIGHT = 1e-150  # sums of squares of smaller ones are zero


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
        "targets": learner._targets.to_plain(),
        "lift": None if learner._lift is None else lift_to_plain(learner._lift),
        "choices": _choices_to_plain(learner),
        "statistic": None if statistic is None else statistic.to_plain(),
        "holdout": _holdout_to_plain(learner),
        "waiting": {
            str(i): {"X": rows_to_plain(X), "y": learner._targets.labels_to_plain(y), "weight": weight}
            for i, (X, y, weight) in enumerate(learner._waiting)
        },
    }
    model_file.write(path, header)


def read(path: str | os.PathLike, learner: Any) -> int:
    """Restore a learner from a checkpoint of one with the same parameters; return its position."""
    header = model_file.read(path, needs_checksum=True)
    if header.get("checkpoint") != type(learner).__name__:
        raise ModelFileError(f"{Path(path)} is not a checkpoint of a {type(learner).__name__}.")
    learner._check_parameters()  # a bad parameter is none of the file's
    with model_file.named(path):
        fields = Fields(header)
        theirs = fields.object("parameters")
        for name, mine in _parameters(learner).items():
            if name not in theirs or theirs.value(name) != mine:
                value = theirs.value(name) if name in theirs else None
                value = value if isinstance(value, str) and len(value) < 100 and value.isprintable() else shown(value)
                raise ModelFileError(f"{Path(path)} is a checkpoint with {name}={value}, expected {mine} as here.")
        return _restore(learner, fields)


def _restore(learner: Any, fields: Fields) -> int:
    """Give a learner the state of a checkpoint; return the position in the stream."""
    learner.n_features_in_ = n_features = fields.whole("n_features", 1)
    names_from_plain(learner, fields)
    learner._start(seed=fields.seed("seed"))
    learner._targets = learner._targets.restored(fields.object("targets"))
    if fields.value("statistic") is not None:
        learner._statistic = NormalEquations.from_plain(fields.value("statistic"), learner._targets.n_columns)
    if fields.value("lift") is not None:
        n_out = None if learner._statistic is None else len(learner._statistic.cross)
        learner._take_lift(checked_lift(fields.object("lift"), n_features, n_out)())
        learner.choices_ |= _choices_from_plain(fields)
    elif learner._statistic is not None:
        raise DamagedError("there is a statistic, but no map that its features come from")
    learner._holdout = _holdout_from_plain(learner, fields.object("holdout"))
    learner._waiting = _waiting_from_plain(learner, fields.object("waiting"))
    learner.n_rows_seen_ = fields.whole("n_rows", 1)
    n_counted = 0 if learner._statistic is None else learner._statistic.n_rows
    n_rows = n_counted + sum(X.shape[0] for X, _, _ in learner._waiting)
    if learner.n_rows_seen_ != n_rows:
        raise DamagedError(f"n_rows must be the {n_rows} rows that are there, got {learner.n_rows_seen_}")
    return fields.whole("position", 1)


def _waiting_from_plain(learner: Any, fields: Fields) -> list[tuple]:
    """Make the rows that wait again."""
    waiting = []
    fields.only(map(str, range(len(list(fields)))))
    for i in range(len(list(fields))):
        block = fields.object(str(i))
        X = rows_from_plain(block, "X", learner.n_features_in_)
        weight = None if block.value("weight") is None else _weights(block, X.shape[0])
        waiting.append((X, _labels(learner, block, X.shape[0]), weight))
    return waiting


def _labels(learner: Any, fields: Fields, n_rows: int) -> NDArray:
    """Return the labels or targets of so many rows."""
    y = learner._targets.labels_from_plain(fields.value("y"))
    if len(y) != n_rows:
        raise fields.refuse("y", f"of {n_rows} rows")
    return y


def _weights(fields: Fields, n_rows: int) -> NDArray[np.float64]:
    """Return the weights of so many rows."""
    weight = fields.array("weight", (n_rows,), (np.float64,))
    if not _LEAST_WEIGHT <= weight.min(initial=1.0) <= weight.max(initial=1.0) <= 1 / _LEAST_WEIGHT:
        raise fields.refuse("weight", f"above zero, from {_LEAST_WEIGHT:g} to {1 / _LEAST_WEIGHT:g}")
    return weight


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


def _choices_from_plain(fields: Fields) -> dict[str, Any]:
    """Return what the lift does not say of the choices."""
    if "choices" not in fields:
        return {}
    choices = fields.object("choices")
    plain = {name: choices.value(name) for name in choices if name != "held_out_errors"}
    if not all(value is None or type(value) in (str, int) for value in plain.values()):
        raise fields.refuse("choices", "names and numbers")
    if "held_out_errors" in choices:
        errors = choices.object("held_out_errors")
        plain["held_out_errors"] = {name: errors.value(name) for name in errors}
        if not all(type(error) is float for error in plain["held_out_errors"].values()):
            raise choices.refuse("held_out_errors", "numbers")
    return plain


def _holdout_to_plain(learner: Any) -> dict[str, Any]:
    """Describe the held-out sample."""
    holdout = learner._holdout
    plain: dict[str, Any] = {
        "size": holdout.size,
        "seed": holdout.seed,
        "spent": holdout.spent._asdict(),
        "theta": holdout.theta,
        "sample": None,
    }
    if holdout.sample is not None:
        plain["sample"] = holdout.sample._asdict() | {
            "X": rows_to_plain(holdout.sample.X),
            "y": learner._targets.labels_to_plain(holdout.sample.y),
        }
    return plain


def _holdout_from_plain(learner: Any, fields: Fields) -> HeldOut:
    """Make the held-out sample again."""
    size, seed = learner._holdout.size, learner._holdout.seed  # as the parameters and the seed of the run have them
    fields.whole("size", size, size)
    fields.whole("seed", seed, seed)
    spent = _spent_from_plain(fields.object("spent"))
    if fields.value("sample") is None:
        return HeldOut(size, seed, spent)
    plain = fields.object("sample")
    plain.only(Sample._fields)
    X = rows_from_plain(plain, "X", learner.n_features_in_)
    n_rows = X.shape[0]
    if not 1 <= n_rows <= size + spent.hashes.size:
        raise plain.refuse("X", f"1 to {size + spent.hashes.size} rows")
    values = {"X": X, "y": _labels(learner, plain, n_rows), "weight": _weights(plain, n_rows)}
    whole = [name for name in Sample._fields if name not in values]
    sample = Sample(**values, **{name: plain.array(name, (n_rows,), (np.int64, np.uint64)) for name in whole})
    _check_order(sample, plain)
    return HeldOut(size, seed, spent, sample, fields.whole("theta", int(sample.hashes[-1]), ALL_ROWS))


def _spent_from_plain(plain: Fields) -> RowCounts:
    """Return the rows that choices were made by."""
    plain.only(RowCounts._fields)
    hashes = plain.array("hashes", (None,), (np.uint64,))
    spent = RowCounts(hashes, plain.array("count", hashes.shape, (np.int64,)))
    _check_order(spent, plain)
    return spent


def _check_order(rows: Sample | RowCounts, plain: Fields) -> None:
    """Refuse rows that are not in the order of their hashes, or that were never seen."""
    if rows.hashes.dtype != np.uint64 or (rows.hashes[1:] <= rows.hashes[:-1]).any():
        raise plain.refuse("hashes", "in order, each once")
    if rows.count.dtype != np.int64 or rows.count.min(initial=1) < 1:
        raise plain.refuse("count", "numbers above zero")
