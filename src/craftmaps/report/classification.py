"""What test rows say about a classifier."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from craftmaps.learners import CraftClassifier
from craftmaps.report.intervals import wilson
from craftmaps.report.mistakes import surest_mistakes
from craftmaps.report.run import Run

_MOST_CONFUSED = 20
_BINS = 10
_BLOCK = 2**22


def classification(run: Run, X: Any, y: NDArray) -> dict[str, Any]:
    """Return error, confusion, calibration and mistakes of a classifier on test rows."""
    model: Any = run.model
    y = _checked_labels(y, model.classes_)
    # A label that the model has never seen is a mistake like any other, and is shown.
    labels = np.union1d(model.classes_, y)
    true = np.searchsorted(labels, y)
    best, confidence = _predict(model, X)
    predicted = np.searchsorted(labels, model.classes_)[best]
    wrong = predicted != true
    names = [str(label) for label in labels]
    rows, views = surest_mistakes(run, X, wrong, confidence)
    mistakes = [
        {"row": i, "true": names[true[i]], "predicted": names[predicted[i]], "probability": confidence[i], **view}
        for i, view in zip(rows, views, strict=True)
    ]
    return {
        "rows": int(y.size),
        "errors": int(wrong.sum()),
        "error": float(wrong.mean()),
        "error_interval": wilson(int(wrong.sum()), y.size),
        "confusion": _confusion(true, predicted, names),
        "classes": _classes(true, predicted, names),
        "calibration": _calibration(confidence, ~wrong),
        "mistakes": mistakes,
    }


def _checked_labels(y: NDArray, classes: NDArray) -> NDArray:
    """Return labels if they can be compared with those of the model."""
    y = column_or_1d(y)
    is_text = classes.dtype.kind in "OUS"
    if y.dtype.kind == "O" and not is_text:
        y = np.array(y.tolist())  # numbers that came as objects, e.g. out of a data frame
    if (y.dtype.kind in "OUS") != is_text or (y.dtype.kind == "O" and not all(isinstance(v, str) for v in y)):
        wanted = "text" if is_text else "numbers"
        raise ValueError(f"y_test must have labels that are {wanted}, as the model's are, got {y[:3].tolist()}.")
    return y


def _predict(model: CraftClassifier, X: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the likeliest class of every row and its probability, never holding all probabilities at once."""
    best = np.empty(X.shape[0], dtype=np.int64)
    confidence = np.empty(X.shape[0])
    rows = max(1, _BLOCK // model.classes_.size)
    for start in range(0, X.shape[0], rows):
        part = slice(start, start + rows)
        probabilities = model.predict_proba(X[part])
        best[part] = probabilities.argmax(axis=1)
        confidence[part] = np.minimum(probabilities.max(axis=1), 1.0)  # rounding may carry it past 1
    return best, confidence


def _confusion(true: NDArray, predicted: NDArray, names: list[str]) -> dict[str, Any]:
    """Return the confusion matrix, rows true and columns predicted, of the classes most often confused."""
    shown = np.arange(len(names))
    if shown.size > _MOST_CONFUSED:
        wrong = true != predicted
        mistakes = np.bincount(true[wrong], minlength=shown.size) + np.bincount(predicted[wrong], minlength=shown.size)
        shown = np.sort(np.argsort(-mistakes, kind="stable")[:_MOST_CONFUSED])
    place = np.full(len(names), -1)
    place[shown] = np.arange(shown.size)
    both = (place[true] >= 0) & (place[predicted] >= 0)
    counts = np.zeros((shown.size, shown.size), dtype=np.int64)
    np.add.at(counts, (place[true[both]], place[predicted[both]]), 1)
    return {"labels": [names[i] for i in shown], "counts": counts.tolist(), "n_classes": len(names)}


def _classes(true: NDArray, predicted: NDArray, names: list[str]) -> list[dict[str, Any]]:
    """Return rows, precision and recall of every class; None is for a share of no rows."""
    rows = np.bincount(true, minlength=len(names))
    said = np.bincount(predicted, minlength=len(names))
    right = np.bincount(true[true == predicted], minlength=len(names))
    return [
        {
            "label": name,
            "rows": int(rows[i]),
            "precision": float(right[i] / said[i]) if said[i] else None,
            "recall": float(right[i] / rows[i]) if rows[i] else None,
        }
        for i, name in enumerate(names)
    ]


def _calibration(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> dict[str, Any]:
    """Return how often predictions of about equal confidence are right, and by how much the two differ."""
    place = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    bins, gap = [], 0.0
    for i in np.unique(place):
        here = place == i
        n, n_right = int(here.sum()), int(right[here].sum())
        mean = float(confidence[here].mean())
        bins.append({"rows": n, "confidence": mean, "share_right": n_right / n, "interval": wilson(n_right, n)})
        gap += abs(n_right / n - mean) * n / right.size
    counts, edges = np.histogram(confidence, bins=2 * _BINS, range=(0.0, 1.0))
    return {"bins": bins, "expected_calibration_error": gap, "counts": counts, "edges": edges}
