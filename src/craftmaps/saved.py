"""A solved learner as a model file says it: its lift, its weights, and how it came about."""

import json
from typing import Any

import numpy as np

from craftmaps.parts import lift_from_plain, lift_to_plain, names_from_plain, names_to_plain


def to_plain(learner: Any, dtype: Any, notes: Any) -> dict[str, Any]:
    """Describe a solved learner, its weights in a precision and perhaps with new notes."""
    if np.dtype(dtype) not in (np.float64, np.float32, np.float16):
        raise ValueError(f"dtype must be float64, float32 or float16, got {dtype!r}.")
    weights = learner._target_coef.astype(dtype)
    if not np.isfinite(weights).all():
        raise ValueError(f"The weights do not fit {np.dtype(dtype).name}: save them with more precision.")
    return {
        "model": type(learner).__name__,
        "seed": learner.seed_,
        "n_features": int(learner.n_features_in_),
        "feature_names": names_to_plain(learner),
        "n_rows": int(learner.n_rows_seen_),
        "alpha": float(learner.alpha_),
        "lift": lift_to_plain(learner._lift),
        "weights": weights,
        "intercept": learner._target_intercept,
        # As text: what is in them is not this library's, and must not be taken for an array.
        "notes": {"json": json.dumps(getattr(learner, "notes_", None) if notes is None else notes)},
        **learner._solution_to_plain(dtype),
    }


def from_plain(learner: Any, plain: dict[str, Any]) -> None:
    """Make a new learner one that predicts, but does not go on learning."""
    learner._target_coef = np.asarray(plain["weights"], dtype=np.float64)
    learner._target_intercept = np.asarray(plain["intercept"], dtype=np.float64)
    learner.n_components = learner._target_coef.shape[1]
    learner.seed_, learner.n_rows_seen_ = int(plain["seed"]), int(plain["n_rows"])
    learner.n_features_in_, learner.alpha_ = int(plain["n_features"]), float(plain["alpha"])
    names_from_plain(learner, plain.get("feature_names"))
    learner._take_lift(lift_from_plain(plain["lift"]))
    width = getattr(learner._lift.feature_map, "_n_features_out", learner.n_components)
    if width != learner.n_components:
        raise ValueError(f"weights must be of {width} features, got {learner.n_components}")
    learner._is_solved, learner._alpha_choice = True, None
    learner._statistic, learner._waiting = None, []
    notes: Any = plain.get("notes")
    is_text = isinstance(notes, dict) and set(notes) == {"json"}  # as in all but the oldest files
    learner.notes_ = json.loads(notes["json"]) if is_text else notes
    learner._solution_from_plain(plain)
