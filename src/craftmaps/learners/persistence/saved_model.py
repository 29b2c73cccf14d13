"""A solved estimator as a model file: its features, its weights, and how it came about."""

import json
import os
from dataclasses import replace
from typing import Any

import numpy as np

from craftmaps._system.fields import DamagedError, Fields
from craftmaps.learners.calibration import Calibration
from craftmaps.learners.fitted_model import FittedModel
from craftmaps.learners.labels import labels_from_plain
from craftmaps.learners.output_codes import DECODINGS, code_from_plain, refuse_costly_code
from craftmaps.learners.parameters import check_parameters
from craftmaps.learners.persistence import container, tally_file
from craftmaps.learners.persistence.fitted_parts import features_to_plain, names_to_plain
from craftmaps.learners.persistence.rebuilt_parts import checked_features, names_from_plain
from craftmaps.learners.persistence.stored_parameters import parameters_to_plain, set_parameters
from craftmaps.learners.persistence.stored_tally import layout_from_plain, tally_to_plain
from craftmaps.learners.targets import LOSSES, ClassTargets, NumberTargets, Targets
from craftmaps.learners.waiting_rows import WaitingRows

_SAVED = (np.float64, np.float32, np.float16)


def write(estimator: Any, path: str | os.PathLike, dtype: Any, notes: Any, tally: bool) -> None:
    """Write a solved estimator to a file, perhaps with new notes and with its tally; the column rule is kept."""
    _ = estimator._solved
    kept = getattr(estimator, "notes_", None)
    if isinstance(kept, dict) and "columns" in kept and (notes is None or isinstance(notes, dict)):
        notes = {"columns": kept["columns"]} | (notes or kept)
    plain = to_plain(estimator, dtype, notes)
    if tally:
        learned = estimator._going_on()
        plain["tally"] = tally_to_plain(learned.tally, learned.choices)
    container.write(path, plain)


def to_plain(estimator: Any, dtype: Any, notes: Any) -> dict[str, Any]:
    """Describe a solved estimator, its weights in a precision and perhaps with new notes."""
    if np.dtype(dtype) not in _SAVED:
        raise ValueError(f"dtype must be float64, float32 or float16, got {dtype!r}.")
    model: FittedModel = estimator._solved
    weights = model.coef.astype(dtype)
    if not np.isfinite(weights).all():
        raise ValueError(f"The weights do not fit {np.dtype(dtype).name}: save them with more precision.")
    n_features, features = int(estimator.n_features_in_), features_to_plain(model.features)
    try:  # a file that could not be read again is not written
        checked_features(Fields(features, "lift"), n_features, weights.shape[1])
        head = _head_to_plain(model, dtype)
    except DamagedError as error:
        raise ValueError(f"This model cannot be saved: {error}.") from None
    return {
        "model": type(estimator).__name__,
        "parameters": parameters_to_plain(estimator) | {"random_state": estimator.seed_},
        "seed": estimator.seed_,
        "n_features": n_features,
        "feature_names": names_to_plain(estimator),
        "n_rows": int(model.n_rows),
        "alpha": float(model.alpha),
        "lift": features,
        "weights": weights,
        "intercept": model.intercept,
        # As text: notes are not this library's, and must not be taken for an array.
        "notes": {"json": json.dumps(getattr(estimator, "notes_", None) if notes is None else notes)},
        **head,
    }


def from_plain(estimator: Any, fields: Fields) -> None:
    """Make a new estimator one that predicts, and if the file has a tally one that goes on learning."""
    estimator.seed_, estimator.notes_ = fields.seed("seed"), _notes(fields)
    if "parameters" in fields:
        set_parameters(estimator, fields.object("parameters"))
        check_parameters(estimator)
    if "weights" in fields:
        _set_model(estimator, fields)
    if "tally" in fields:
        _set_tally(estimator, fields)
    elif "weights" not in fields:
        raise DamagedError("there is neither a model nor a tally")


def _set_model(estimator: Any, fields: Fields) -> None:
    """Give an estimator the solution of a file."""
    weights = fields.array("weights", (None, None), _SAVED)
    estimator.n_features_in_ = n_features = fields.whole("n_features", 1)
    make_features = checked_features(fields.object("lift"), n_features, weights.shape[1])
    coef = weights.astype(np.float64, copy=False)
    intercept = fields.array("intercept", (len(weights),), _SAVED).astype(np.float64, copy=False)
    if "parameters" not in fields:  # as in files of before
        estimator.n_components = weights.shape[1]
    n_rows, alpha = fields.whole("n_rows", 1), fields.number("alpha", low=0.0)
    names_from_plain(estimator, fields)
    targets, calibration = _HEADS[fields.value("model")](estimator, fields, coef)
    loss = fields.one_of("loss", LOSSES) if "loss" in fields else "squared"
    estimator._model = FittedModel(make_features(), targets, coef, intercept, alpha, n_rows, calibration, loss)


def _set_tally(estimator: Any, fields: Fields) -> None:
    """Give an estimator the tally of a file, to go on from."""
    layout = layout_from_plain(fields.object("tally"))
    model = estimator._model
    if model is not None and layout.n_features != estimator.n_features_in_:
        raise DamagedError(f"tally is of {layout.n_features} columns, the model of {estimator.n_features_in_}")
    estimator.n_features_in_ = layout.n_features
    if layout.names is not None:
        estimator.feature_names_in_ = layout.names
    learned = estimator._begin()
    tally = tally_file.from_plain(fields, learned.targets, estimator.notes_)
    if model is not None and (model.n_rows != tally.n_rows or model.features.difference(tally.features)):
        raise DamagedError("the model is not solved from the tally beside it")
    learned.restore(tally.targets, WaitingRows(), tally, tally.origin.choices)  # type: ignore[union-attr]
    estimator._pass = learned


def _head_to_plain(model: FittedModel, dtype: Any) -> dict[str, Any]:
    """Describe how outputs become labels or numbers."""
    targets = model.targets
    if isinstance(targets, NumberTargets):
        return {"is_flat": targets.is_flat}
    if not isinstance(targets, ClassTargets) or model.calibration is None:
        raise TypeError(f"A model of {type(targets).__name__} cannot be saved.")
    code, n_classes = targets.code, targets.classes.size
    if isinstance(code.code, str):
        refuse_costly_code(code.code, n_classes, code.size, model.coef)
    return {
        "classes": targets.to_plain(),
        "code": code.code if isinstance(code.code, str) else np.asarray(code.code, dtype=np.float64).tolist(),
        "code_size": code.size,
        "decoding": code.decoding,
        **({} if model.loss == "squared" else {"loss": model.loss}),
        "calibration": model.calibration.to_plain(dtype),
    }


def _class_head(estimator: Any, fields: Fields, coef: Any) -> tuple[Targets, Calibration]:
    """Return the classes and the calibration of a classifier, whose code becomes that of the file."""
    classes = labels_from_plain(fields.object("classes"))
    if classes.size < 2 or len(coef) != classes.size:
        raise DamagedError(f"there are weights for {len(coef)} classes, but {classes.size} labels")
    estimator.code, estimator.code_size = code_from_plain(fields, classes.size, coef)
    estimator.decoding = fields.one_of("decoding", DECODINGS)
    targets = replace(estimator._new_targets(), classes=classes)
    return targets, Calibration.from_plain(fields.object("calibration"), classes.size)


def _number_head(estimator: Any, fields: Fields, coef: Any) -> tuple[Targets, None]:
    """Return the targets of a regressor."""
    is_flat, n_targets = fields.flag("is_flat"), len(coef)
    if n_targets < 1 or (is_flat and n_targets > 1):
        raise DamagedError(f"there are weights for {n_targets} targets, expected {'1' if is_flat else 'some'}")
    return NumberTargets(n_targets, is_flat), None


_HEADS = {"CraftClassifier": _class_head, "CraftRegressor": _number_head}


def _notes(fields: Fields) -> Any:
    """Return the notes, which may be anything."""
    notes = fields.object("notes")
    try:
        return json.loads(notes.value("json"))
    except (ValueError, TypeError, RecursionError):
        raise fields.refuse("notes", "JSON") from None
