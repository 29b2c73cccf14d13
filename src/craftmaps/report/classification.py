"""The test scores of a classifier as numbers of the page."""

from collections import Counter
from typing import Any

from craftmaps.scores import ClassScores

_MOST_CONFUSED = 20


def classification(scores: ClassScores, mistakes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return error, confusion, classes, calibration and mistakes as plain numbers."""
    counts, edges = scores.calibration.histogram()
    return {
        "rows": scores.weight.n_rows,
        **scores.weight.to_plain(),
        "errors": scores.n_errors,
        "error": scores.error,
        "error_interval": scores.error_interval,
        "confusion": _confusion(scores),
        "classes": [
            {"label": str(line.label), "rows": line.n_rows, "precision": line.precision, "recall": line.recall}
            for line in scores.by_class()
        ],
        "calibration": {
            "bins": [
                {
                    "rows": place.n_rows,
                    "confidence": place.probability,
                    "share_right": place.right,
                    "interval": place.interval,
                }
                for place in scores.calibration.bins
            ],
            "expected_calibration_error": scores.calibration.expected_error,
            "counts": counts,
            "edges": edges,
        },
        "mistakes": mistakes,
    }


def _confusion(scores: ClassScores) -> dict[str, Any]:
    """Return the confusion matrix, rows true and columns predicted, of the classes most often confused."""
    labels = scores.labels
    shown = labels
    if len(labels) > _MOST_CONFUSED:
        mistakes: Counter[Any] = Counter()
        for (true, predicted), n in scores.confusion.items():
            if true != predicted:
                mistakes[true] += n
                mistakes[predicted] += n
        kept = set(sorted(labels, key=lambda label: -mistakes[label])[:_MOST_CONFUSED])
        shown = [label for label in labels if label in kept]
    counts = [[scores.confusion[true, predicted] for predicted in shown] for true in shown]
    return {"labels": [str(label) for label in shown], "counts": counts, "n_classes": len(labels)}
