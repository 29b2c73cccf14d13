"""A solved learner as a model file says it: its lift, its weights, and how it came about."""

import json
from typing import Any

import numpy as np

from craftmaps._system.fields import DamagedError, Fields
from craftmaps.learners.fitted_model import FittedModel
from craftmaps.learners.persistence.fitted_parts import lift_to_plain, names_to_plain
from craftmaps.learners.persistence.rebuilt_parts import checked_lift, names_from_plain

_SAVED = (np.float64, np.float32, np.float16)


def to_plain(learner: Any, dtype: Any, notes: Any) -> dict[str, Any]:
    """Describe a solved learner, its weights in a precision and perhaps with new notes."""
    if np.dtype(dtype) not in _SAVED:
        raise ValueError(f"dtype must be float64, float32 or float16, got {dtype!r}.")
    weights = learner._target_coef.astype(dtype)
    if not np.isfinite(weights).all():
        raise ValueError(f"The weights do not fit {np.dtype(dtype).name}: save them with more precision.")
    n_features, lift = int(learner.n_features_in_), lift_to_plain(learner._lift)
    try:  # what could not be read again is not written
        checked_lift(Fields(lift, "lift"), n_features, weights.shape[1])
        solution = learner._solution_to_plain(dtype)
    except DamagedError as error:
        raise ValueError(f"This model cannot be saved: {error}.") from None
    return {
        "model": type(learner).__name__,
        "seed": learner.seed_,
        "n_features": n_features,
        "feature_names": names_to_plain(learner),
        "n_rows": int(learner.n_rows_seen_),
        "alpha": float(learner.alpha_),
        "lift": lift,
        "weights": weights,
        "intercept": learner._target_intercept,
        # As text: what is in them is not this library's, and must not be taken for an array.
        "notes": {"json": json.dumps(getattr(learner, "notes_", None) if notes is None else notes)},
        **solution,
    }


def from_plain(learner: Any, plain: dict[str, Any]) -> None:
    """Make a new learner one that predicts, but does not go on learning."""
    fields = Fields(plain)
    weights = fields.array("weights", (None, None), _SAVED)
    learner.n_features_in_ = n_features = fields.whole("n_features", 1)
    make_lift = checked_lift(fields.object("lift"), n_features, weights.shape[1])
    learner._target_coef = weights.astype(np.float64, copy=False)
    learner._target_intercept = fields.array("intercept", (len(weights),), _SAVED).astype(np.float64, copy=False)
    learner.n_components = weights.shape[1]
    learner.seed_, learner.n_rows_seen_ = fields.seed("seed"), fields.whole("n_rows", 1)
    learner.alpha_ = fields.number("alpha", low=0.0)
    names_from_plain(learner, fields)
    learner.notes_ = _notes(fields)
    learner._is_solved, learner._alpha_choice = True, None
    learner._statistic, learner._waiting = None, []
    learner._solution_from_plain(plain)
    learner._take_lift(make_lift())
    learner._model = FittedModel(learner._lift, learner._target_coef, learner._target_intercept)


def _notes(fields: Fields) -> Any:
    """Return the notes, which may be anything."""
    notes = fields.value("notes") if "notes" in fields else None
    if not (isinstance(notes, dict) and notes.keys() == {"json"}):  # as in the oldest files
        return notes
    try:
        return json.loads(notes["json"])
    except (ValueError, TypeError, RecursionError):
        raise fields.refuse("notes", "JSON") from None
