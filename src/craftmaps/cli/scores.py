"""How good predictions are, from rows that come block by block: counts and sums, never the rows themselves."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BINS = 10
_MOST_NAMED = 5
_LONGEST_NAME = 40


class ClassScores:
    """Confusion and calibration of a classifier.

    Parameters
    ----------
    model : CraftClassifier
    """

    def __init__(self, model: Any):
        self._model = model
        self._pairs: Counter[tuple[Any, Any]] = Counter()
        self._bins = np.zeros((3, _BINS))  # rows, right ones, sums of probabilities

    def add(self, X: Any, y: NDArray) -> None:
        """Count the rows of a block."""
        probabilities = self._model.predict_proba(X)
        best = probabilities.argmax(axis=1)
        confidence = np.minimum(probabilities[np.arange(best.size), best].astype(np.float64), 1.0)
        classes = self._model.classes_
        # A label that the model has never seen is a mistake like any other, and is shown.
        labels = np.union1d(classes, y)
        true, predicted = np.searchsorted(labels, y), np.searchsorted(labels, classes)[best]
        codes, counts = np.unique(true * labels.size + predicted, return_counts=True)
        names = labels.tolist()
        for code, n in zip(codes.tolist(), counts.tolist(), strict=True):
            self._pairs[names[code // labels.size], names[code % labels.size]] += n
        place = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
        for line, weights in zip(self._bins, (None, true == predicted, confidence), strict=True):
            line += np.bincount(place, weights, _BINS)

    def refuse_strangers(self, source: str) -> None:
        """Refuse labels of which none is a class: they are of something else."""
        labels, classes = [true for true, _ in self._pairs], self._model.classes_.tolist()
        if set(labels).isdisjoint(classes):
            rest = "" if len(classes) <= _MOST_NAMED else f" and {len(classes) - _MOST_NAMED:,} more"
            named = ", ".join(map(_written, classes[:_MOST_NAMED])) + rest
            raise ValueError(
                f"{source} holds labels such as {_written(labels[0])}, none of which is a class of the model ({named})."
            )

    def to_plain(self) -> dict[str, Any]:
        """Return rows, error with its interval, confusion, classes and calibration, as JSON takes them."""
        from craftmaps.report.intervals import wilson

        rows: Counter[Any] = Counter()
        said: Counter[Any] = Counter()
        for (true, predicted), n in self._pairs.items():
            rows[true] += n
            said[predicted] += n
        labels = np.union1d(self._model.classes_, np.array(list(rows))).tolist()
        place = {label: i for i, label in enumerate(labels)}
        n_rows = sum(rows.values())
        errors = n_rows - sum(self._pairs[label, label] for label in labels)
        return {
            "rows": n_rows,
            "errors": errors,
            "error": errors / n_rows,
            "error_interval": wilson(errors, n_rows),
            "confusion": [
                {"true": true, "predicted": predicted, "rows": n}
                for (true, predicted), n in sorted(
                    self._pairs.items(), key=lambda item: (place[item[0][0]], place[item[0][1]])
                )
            ],
            "classes": [
                {
                    "label": label,
                    "rows": rows[label],
                    "precision": self._pairs[label, label] / said[label] if said[label] else None,
                    "recall": self._pairs[label, label] / rows[label] if rows[label] else None,
                }
                for label in labels
            ],
            "calibration": self._calibration(),
        }

    def _calibration(self) -> dict[str, Any]:
        """Return how often predictions of about equal probability are right, and by how much the two differ."""
        bins = [{"rows": int(n), "probability": total / n, "right": right / n} for n, right, total in self._bins.T if n]
        n_rows = self._bins[0].sum()
        gap = float(np.abs(self._bins[1] - self._bins[2]).sum() / n_rows)
        return {"expected_calibration_error": gap, "bins": bins}


class NumberScores:
    """Errors of a regressor.

    Parameters
    ----------
    model : CraftRegressor
    """

    def __init__(self, model: Any):
        self._model = model
        self._n_rows = 0
        self._origin = 0.0
        self._sums = np.zeros(5)  # of errors squared, to the fourth power, their size; of targets, and squared

    def add(self, X: Any, y: NDArray) -> None:
        """Count the rows of a block."""
        y = np.asarray(y, dtype=np.float64)
        error = y - self._model.predict(X)
        if not self._n_rows:
            self._origin = float(y.mean())  # so that no digits are lost to a large mean
        y = y - self._origin
        self._n_rows += y.size
        self._sums += [(error**2).sum(), (error**4).sum(), np.abs(error).sum(), y.sum(), (y**2).sum()]

    def to_plain(self) -> dict[str, Any]:
        """Return rows, root mean square error with its interval, mean absolute error and R2, as JSON takes them."""
        from craftmaps.report.intervals import of_root_mean_square

        n = self._n_rows
        square, fourth, size, mean, square_of_y = self._sums / n
        variance = square_of_y - mean**2
        return {
            "rows": n,
            "rmse": float(np.sqrt(square)),
            "rmse_interval": of_root_mean_square(square, fourth, n),
            "mean_absolute_error": float(size),
            "r2": float(1 - square / variance) if variance > 0 else None,
        }


def score(model: Any, blocks: Any, progress: Any, source: str, missing: str = "none") -> dict[str, Any]:
    """Return the scores of a model on blocks (X, y); errors name the source of the labels, and what is missing."""
    scores = ClassScores(model) if hasattr(model, "predict_proba") else NumberScores(model)
    n_rows = 0
    for X, y in blocks:
        if y is None:
            raise ValueError(f"{source} must have labels to compare predictions with, got {missing}.")
        scores.add(X, y)
        n_rows += X.shape[0]
        progress.show(n_rows)
    if isinstance(scores, ClassScores):
        scores.refuse_strangers(source)
    return scores.to_plain()


def _written(label: Any) -> str:
    """Write a label for an error message."""
    from craftmaps.report.wording import shortened

    return shortened(repr(label), _LONGEST_NAME)
