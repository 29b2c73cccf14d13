"""Tallies in files: features, targets, sums and the held-out sample.

Tally files, model files that go on learning and checkpoints hold them. Nothing in a file is trusted: every number is
checked against every other before anything is drawn.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.fields import DamagedError, Fields
from craftmaps._system.memory import available_memory
from craftmaps.learners.choices import Choices, Trial
from craftmaps.learners.feature_recipe import choices_of
from craftmaps.learners.held_out import ALL_ROWS, HeldOut, RowCounts, Sample
from craftmaps.learners.persistence.fitted_parts import features_to_plain
from craftmaps.learners.persistence.rebuilt_parts import checked_features
from craftmaps.learners.persistence.stored_rows import rows_from_plain, rows_to_plain
from craftmaps.learners.persistence.stored_statistic import statistic_from_plain, statistic_to_plain
from craftmaps.learners.tally import RowLayout, Tally
from craftmaps.learners.targets import Targets
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.shaping.row_features import RowFeatures

_LEAST_WEIGHT = 1e-150  # sums of squares of smaller ones are zero


def tally_to_plain(tally: Tally, choices: Choices, dtype: Any = np.float64) -> dict[str, Any]:
    """Describe a tally and how its features were chosen; arrays stay arrays, a float64 square one triangle of it."""
    statistic = tally.statistic
    return {
        "n_features": tally.layout.n_features,
        "feature_names": None if tally.layout.names is None else tally.layout.names.tolist(),
        "targets": tally.targets.to_plain() if tally.targets.n_columns else None,
        "lift": features_to_plain(tally.features),
        "choices": _choices_to_plain(choices),
        "width": int(statistic.cross.shape[0]),
        "packed": statistic.packed,
        "statistic": statistic_to_plain(statistic, dtype) if tally.n_rows else None,
        "held_out": None if tally.held_out is None else _held_out_to_plain(tally.held_out, tally.targets),
    }


def tally_from_plain(fields: Fields, targets: Targets, batch_rows: Any = "auto") -> tuple[Tally, Choices]:
    """Return a tally and the choices of its features; targets, of no class yet, say what kind of labels there are."""
    layout = layout_from_plain(fields)
    if fields.value("targets") is not None:
        targets = targets.restored(fields.object("targets"))
    statistic = None
    if fields.value("statistic") is not None:
        statistic = statistic_from_plain(Fields(fields.value("statistic"), "statistic"), targets.n_columns)
    width = fields.whole("width", 1)
    if statistic is not None and (len(statistic.cross), statistic.packed) != (width, fields.flag("packed")):
        raise DamagedError(f"{fields.path('statistic')} must be of the width and form that the tally has")
    features = checked_features(fields.object("lift"), layout.n_features, width)()
    if statistic is None:
        statistic = _empty(width, targets.n_columns, fields.flag("packed"))
    held_out = None
    if fields.value("held_out") is not None:
        held_out = _held_out_from_plain(fields.object("held_out"), targets, layout.n_features)
    tally = Tally(features, layout, targets, statistic, held_out, batch_rows)
    return tally, _choices_from_plain(fields.object("choices"), features)


def _empty(width: int, n_targets: int, is_packed: bool) -> NormalEquations:
    """Return the statistic of no rows, if the memory for one is there: a small file may ask for a large one."""
    available = available_memory()
    n_bytes = (2 if is_packed else 8) * width**2
    if available is not None and n_bytes > available:
        raise DamagedError(f"a statistic of {width} features takes {n_bytes} bytes, and {available} are free")
    return NormalEquations(width, n_targets, is_packed)


def layout_from_plain(fields: Fields) -> RowLayout:
    """Return the columns of rows."""
    n_features = fields.whole("n_features", 1)
    if fields.value("feature_names") is None:
        return RowLayout(n_features)
    return RowLayout(n_features, np.array(fields.texts("feature_names", n_features), dtype=object))


def labels_from_plain(targets: Targets, fields: Fields, n_rows: int) -> NDArray:
    """Return the labels or targets of so many rows."""
    y = targets.labels_from_plain(fields.value("y"))
    if len(y) != n_rows:
        raise fields.refuse("y", f"of {n_rows} rows")
    return y


def weights_from_plain(fields: Fields, n_rows: int) -> NDArray[np.float64]:
    """Return the weights of so many rows."""
    weight = fields.array("weight", (n_rows,), (np.float64,))
    if not _LEAST_WEIGHT <= weight.min(initial=1.0) <= weight.max(initial=1.0) <= 1 / _LEAST_WEIGHT:
        raise fields.refuse("weight", f"above zero, from {_LEAST_WEIGHT:g} to {1 / _LEAST_WEIGHT:g}")
    return weight


def _choices_to_plain(choices: Choices) -> dict[str, Any]:
    """Describe what features do not tell of the choices: how they were made."""
    trials = {str(i): trial._asdict() for i, trial in enumerate(choices.trials)}
    return {"n_rows": int(choices.n_rows), "trials": trials, "is_as_given": choices.normalize is False} | (
        {"by_targets": True} if choices.by_targets else {}
    )


def _choices_from_plain(fields: Fields, features: RowFeatures) -> Choices:
    """Return the choices from fitted features and how they were made."""
    trials = []
    for name in (plain := fields.object("trials")):
        trial = plain.object(name)
        trials.append(
            Trial(
                trial.text("name"),
                trial.number("error"),
                trial.number("standard_error"),
                trial.number("seconds"),
                trial.whole("n_rows"),
                trial.whole("width"),
                trial.flag("is_taken"),
            )
        )
    choices = choices_of(features)
    normalize = False if fields.flag("is_as_given") else choices.normalize
    n_rows, by_targets = fields.whole("n_rows", 0), "by_targets" in fields and fields.flag("by_targets")
    return replace(choices, normalize=normalize, n_rows=n_rows, trials=tuple(trials), by_targets=by_targets)


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


def _held_out_from_plain(fields: Fields, targets: Targets, n_features: int) -> HeldOut:
    """Return the held-out sample."""
    size, seed = fields.whole("size", 2), fields.seed("seed")
    spent = _spent_from_plain(fields.object("spent"))
    if fields.value("sample") is None:
        return HeldOut(size, seed, spent)
    plain = fields.object("sample")
    plain.only(Sample._fields)
    X = rows_from_plain(plain, "X", n_features)
    n_rows = X.shape[0]
    if n_rows > size + spent.hashes.size:
        raise plain.refuse("X", f"at most {size + spent.hashes.size} rows")
    values = {"X": X, "y": labels_from_plain(targets, plain, n_rows), "weight": weights_from_plain(plain, n_rows)}
    whole = [name for name in Sample._fields if name not in values]
    sample = Sample(**values, **{name: plain.array(name, (n_rows,), (np.int64, np.uint64)) for name in whole})
    _check_order(sample, plain)
    return HeldOut(size, seed, spent, sample, fields.whole("theta", int(sample.hashes[-1]) if n_rows else 0, ALL_ROWS))


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
