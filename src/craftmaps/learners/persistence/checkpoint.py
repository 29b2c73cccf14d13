"""Checkpoints of a pass: the statistic, the held-out sample and the position in the stream.

A run that is resumed from a checkpoint adds the same blocks in the same order to the same numbers,
so it ends in the same model, bit for bit, as one that was never interrupted.
"""

import os
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.randomness import child_seed
from craftmaps._system.fields import DamagedError, Fields, shown
from craftmaps.learners.choices import Choices, Trial
from craftmaps.learners.feature_recipe import choices_of
from craftmaps.learners.held_out import ALL_ROWS, HeldOut, RowCounts, Sample
from craftmaps.learners.one_pass import OnePass
from craftmaps.learners.persistence import container as model_file
from craftmaps.learners.persistence.container import ModelFileError
from craftmaps.learners.persistence.fitted_parts import features_to_plain, names_to_plain
from craftmaps.learners.persistence.rebuilt_parts import checked_features, names_from_plain
from craftmaps.learners.persistence.stored_rows import rows_from_plain, rows_to_plain
from craftmaps.learners.tally import Tally
from craftmaps.learners.targets import Targets
from craftmaps.learners.waiting_rows import Block, WaitingRows
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.shaping.row_features import RowFeatures

_LEAST_WEIGHT = 1e-150  # sums of squares of smaller ones are zero


def write(path: str | os.PathLike, estimator: Any, position: int) -> None:
    """Write what an estimator has counted, and how many blocks of its stream that were."""
    learned: OnePass = estimator._pass
    tally = learned.tally if learned.is_settled else None
    targets = learned.targets
    header = {
        "checkpoint": type(estimator).__name__,
        "parameters": _parameters(estimator),
        "position": position,
        "seed": estimator.seed_,
        "n_features": int(estimator.n_features_in_),
        "feature_names": names_to_plain(estimator),
        "n_rows": learned.n_rows,
        "targets": targets.to_plain(),
        "lift": None if tally is None else features_to_plain(tally.features),
        "choices": None if tally is None else _choices_to_plain(learned.choices),
        "packed": None if tally is None else tally.statistic.packed,
        "statistic": None if tally is None or not tally.n_rows else tally.statistic.to_plain(),
        "holdout": None if tally is None or tally.held_out is None else _held_out_to_plain(tally.held_out, targets),
        "waiting": {
            str(i): {"X": rows_to_plain(X), "y": targets.labels_to_plain(y), "weight": weight}
            for i, (X, y, weight) in enumerate(learned.waiting.blocks)
        },
    }
    model_file.write(path, header)


def read(path: str | os.PathLike, estimator: Any) -> tuple[Any, int]:
    """Return an estimator of the same parameters as a checkpoint left it, and its position in the stream."""
    header = model_file.read(path, needs_checksum=True)
    if header.get("checkpoint") != type(estimator).__name__:
        raise ModelFileError(f"{Path(path)} is not a checkpoint of a {type(estimator).__name__}.")
    restored = estimator._fresh()  # a bad parameter is none of the file's
    with model_file.named(path):
        fields = Fields(header)
        theirs = fields.object("parameters")
        for name, mine in _parameters(estimator).items():
            if name not in theirs or theirs.value(name) != mine:
                value = theirs.value(name) if name in theirs else None
                value = value if isinstance(value, str) and len(value) < 100 and value.isprintable() else shown(value)
                raise ModelFileError(f"{Path(path)} is a checkpoint with {name}={value}, expected {mine} as here.")
        _restore(restored, fields)
        return restored, fields.whole("position", 1)


def _restore(estimator: Any, fields: Fields) -> None:
    """Give a fresh estimator the state of a checkpoint."""
    estimator.n_features_in_ = fields.whole("n_features", 1)
    names_from_plain(estimator, fields)
    estimator.seed_ = fields.seed("seed")
    learned: OnePass = estimator._begin()
    targets = learned.targets.restored(fields.object("targets"))
    waiting = _waiting_from_plain(fields.object("waiting"), targets, learned.layout.n_features)
    tally = choices = None
    if fields.value("lift") is not None:
        tally = _tally_from_plain(fields, learned, targets)
        choices = _choices_from_plain(fields.object("choices"), tally.features)
    elif fields.value("statistic") is not None:
        raise DamagedError("there is a statistic, but no map that its features come from")
    learned.restore(targets, waiting, tally, choices)
    if fields.whole("n_rows", 1) != learned.n_rows:
        raise DamagedError(f"n_rows must be the {learned.n_rows} rows that are there, got {fields.value('n_rows')}")
    estimator._pass = learned


def _tally_from_plain(fields: Fields, learned: OnePass, targets: Targets) -> Tally:
    """Return the tally of the rows that were counted."""
    n_features, settings = learned.layout.n_features, learned.settings
    statistic = None
    if fields.value("statistic") is not None:
        statistic = NormalEquations.from_plain(fields.value("statistic"), targets.n_columns)
    n_out = None if statistic is None else len(statistic.cross)
    features = checked_features(fields.object("lift"), n_features, n_out)()
    if statistic is None:
        width = features.width(np.zeros((1, n_features)))
        statistic = NormalEquations(width, targets.n_columns, fields.flag("packed"))
    held_out = None
    if settings.holdout_rows is not None:
        empty = HeldOut(settings.holdout_rows, child_seed(settings.seed, "holdout"))
        held_out = _held_out_from_plain(fields.object("holdout"), empty, targets, n_features)
    return Tally(features, learned.layout, targets, statistic, held_out, settings.batch_rows)


def _waiting_from_plain(fields: Fields, targets: Targets, n_features: int) -> WaitingRows:
    """Return the rows that wait."""
    blocks = []
    fields.only(map(str, range(len(list(fields)))))
    for i in range(len(list(fields))):
        block = fields.object(str(i))
        X = rows_from_plain(block, "X", n_features)
        weight = None if block.value("weight") is None else _weights(block, X.shape[0])
        blocks.append(Block(X, _labels(targets, block, X.shape[0]), weight))
    return WaitingRows(tuple(blocks))


def _labels(targets: Targets, fields: Fields, n_rows: int) -> NDArray:
    """Return the labels or targets of so many rows."""
    y = targets.labels_from_plain(fields.value("y"))
    if len(y) != n_rows:
        raise fields.refuse("y", f"of {n_rows} rows")
    return y


def _weights(fields: Fields, n_rows: int) -> NDArray[np.float64]:
    """Return the weights of so many rows."""
    weight = fields.array("weight", (n_rows,), (np.float64,))
    if not _LEAST_WEIGHT <= weight.min(initial=1.0) <= weight.max(initial=1.0) <= 1 / _LEAST_WEIGHT:
        raise fields.refuse("weight", f"above zero, from {_LEAST_WEIGHT:g} to {1 / _LEAST_WEIGHT:g}")
    return weight


def _parameters(estimator: Any) -> dict[str, str]:
    """Return the parameters that must agree, as text."""
    parameters = estimator.get_params(deep=False)
    if not isinstance(estimator.random_state, Integral | None):
        del parameters["random_state"]  # the state of a generator is another one every time; the seed is kept
    return {name: repr(value) for name, value in sorted(parameters.items()) if name != "verbose"}


def _choices_to_plain(choices: Choices) -> dict[str, Any]:
    """Describe what features do not tell of the choices: how they were made."""
    trials = {str(i): trial._asdict() | {"error": float(trial.error)} for i, trial in enumerate(choices.trials)}
    return {"n_rows": int(choices.n_rows), "trials": trials, "is_as_given": choices.normalize is False}


def _choices_from_plain(fields: Fields, features: RowFeatures) -> Choices:
    """Return the choices from fitted features and how they were made."""
    trials = []
    for name in (plain := fields.object("trials")):
        trial = plain.object(name)
        trials.append(Trial(trial.text("name"), trial.number("error"), trial.flag("is_taken")))
    choices = choices_of(features)
    normalize = False if fields.flag("is_as_given") else choices.normalize
    return replace(choices, normalize=normalize, n_rows=fields.whole("n_rows", 0), trials=tuple(trials))


def _held_out_to_plain(held_out: HeldOut, targets: Targets) -> dict[str, Any]:
    """Describe the held-out sample."""
    plain: dict[str, Any] = {
        "size": held_out.size,
        "seed": held_out.seed,
        "spent": held_out.spent._asdict(),
        "theta": held_out.theta,
        "sample": None,
    }
    sample = held_out.sample
    if sample is not None:
        plain["sample"] = sample._asdict() | {"X": rows_to_plain(sample.X), "y": targets.labels_to_plain(sample.y)}
    return plain


def _held_out_from_plain(fields: Fields, empty: HeldOut, targets: Targets, n_features: int) -> HeldOut:
    """Return the held-out sample, of the size and seed that the parameters of the run give."""
    size, seed = empty.size, empty.seed
    fields.whole("size", size, size)
    fields.whole("seed", seed, seed)
    spent = _spent_from_plain(fields.object("spent"))
    if fields.value("sample") is None:
        return HeldOut(size, seed, spent)
    plain = fields.object("sample")
    plain.only(Sample._fields)
    X = rows_from_plain(plain, "X", n_features)
    n_rows = X.shape[0]
    if not 1 <= n_rows <= size + spent.hashes.size:
        raise plain.refuse("X", f"1 to {size + spent.hashes.size} rows")
    values = {"X": X, "y": _labels(targets, plain, n_rows), "weight": _weights(plain, n_rows)}
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
