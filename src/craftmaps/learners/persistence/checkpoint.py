"""Checkpoints of a pass: the statistic, the held-out sample and the position in the stream.

A run that is resumed from a checkpoint adds the same blocks in the same order to the same numbers,
so it ends in the same model, bit for bit, as one that was never interrupted.
"""

import os
from numbers import Integral
from pathlib import Path
from typing import Any

from craftmaps._rows.randomness import child_seed
from craftmaps._system.fields import DamagedError, Fields, shown
from craftmaps.learners.one_pass import OnePass
from craftmaps.learners.persistence import container as model_file
from craftmaps.learners.persistence.container import ModelFileError
from craftmaps.learners.persistence.fitted_parts import names_to_plain
from craftmaps.learners.persistence.rebuilt_parts import names_from_plain
from craftmaps.learners.persistence.stored_rows import rows_from_plain, rows_to_plain
from craftmaps.learners.persistence.stored_tally import (
    labels_from_plain,
    tally_from_plain,
    tally_to_plain,
    weights_from_plain,
)
from craftmaps.learners.tally import Tally
from craftmaps.learners.targets import Targets
from craftmaps.learners.waiting_rows import Block, WaitingRows


def write(path: str | os.PathLike, estimator: Any, position: int) -> None:
    """Write what an estimator has counted, and how many blocks of its stream that were."""
    learned: OnePass = estimator._pass
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
        "tally": tally_to_plain(learned.tally, learned.choices) if learned.is_settled else None,
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
    if fields.value("tally") is not None:
        tally, choices = tally_from_plain(fields.object("tally"), learned.targets, learned.settings.batch_rows)
        _refuse_other_run(tally, learned, targets)
    learned.restore(targets, waiting, tally, choices)
    if fields.whole("n_rows", 1) != learned.n_rows:
        raise DamagedError(f"n_rows must be the {learned.n_rows} rows that are there, got {fields.value('n_rows')}")
    estimator._pass = learned


def _refuse_other_run(tally: Tally, learned: OnePass, targets: Targets) -> None:
    """Refuse a tally that is not of the columns, labels and held-out sample of the run."""
    difference = tally.layout.difference(learned.layout)
    if difference or tally.targets.to_plain() != targets.to_plain():
        raise DamagedError(f"tally must be of the rows of the run, but differs in {difference or 'targets'}")
    settings, held_out = learned.settings, tally.held_out
    expected = None if settings.holdout_rows is None else (settings.holdout_rows, child_seed(settings.seed, "holdout"))
    if (None if held_out is None else (held_out.size, held_out.seed)) != expected:
        raise DamagedError("tally.held_out must be of the size and seed that the run has")


def _waiting_from_plain(fields: Fields, targets: Targets, n_features: int) -> WaitingRows:
    """Return the rows that wait."""
    blocks = []
    fields.only(map(str, range(len(list(fields)))))
    for i in range(len(list(fields))):
        block = fields.object(str(i))
        X = rows_from_plain(block, "X", n_features)
        weight = None if block.value("weight") is None else weights_from_plain(block, X.shape[0])
        blocks.append(Block(X, labels_from_plain(targets, block, X.shape[0]), weight))
    return WaitingRows(tuple(blocks))


def _parameters(estimator: Any) -> dict[str, str]:
    """Return the parameters that must agree, as text."""
    parameters = estimator.get_params(deep=False)
    if not isinstance(estimator.random_state, Integral | None):
        del parameters["random_state"]  # the state of a generator is another one every time; the seed is kept
    return {name: repr(value) for name, value in sorted(parameters.items()) if name != "verbose"}
