"""How good predictions are, from rows that come block by block: counts and sums, never the rows themselves."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.cli.ranking import RankedScores

_BINS = 10
_MOST_NAMED = 5
_LONGEST_NAME = 40


class ClassScores:
    """Confusion, ranking, log loss and calibration of a classifier.

    Shares are of the weights of rows, which are 1 where there are none.

    Parameters
    ----------
    model : CraftClassifier
    """

    def __init__(self, model: Any):
        self._model = model
        self._pairs: Counter[tuple[Any, Any]] = Counter()
        self._masses: Counter[tuple[Any, Any]] = Counter()
        self._bins = np.zeros((4, _BINS))  # rows; weights of rows, of right ones, times probabilities
        self._ranked = RankedScores(model.classes_.size)
        self._loss, self.weight = 0.0, _Weight()

    def add(self, X: Any, y: NDArray, weight: NDArray[np.float64] | None) -> None:
        """Count the rows of a block."""
        mass = self.weight.add(weight, y.size)
        probabilities = self._model.predict_proba(X)
        best, rows = probabilities.argmax(axis=1), np.arange(y.size)
        confidence = np.minimum(probabilities[rows, best].astype(np.float64), 1.0)
        classes = self._model.classes_
        # A label that the model has never seen is a mistake like any other, and is shown.
        labels = np.union1d(classes, y)
        true, predicted = np.searchsorted(labels, y), np.searchsorted(labels, classes)[best]
        codes, place, counts = np.unique(true * labels.size + predicted, return_inverse=True, return_counts=True)
        names, masses = labels.tolist(), np.bincount(place, mass)
        for code, n, m in zip(codes.tolist(), counts.tolist(), masses.tolist(), strict=True):
            pair = names[code // labels.size], names[code % labels.size]
            self._pairs[pair] += n
            self._masses[pair] += m
        bins = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
        for line, weights in zip(self._bins, (None, mass, mass * (true == predicted), mass * confidence), strict=True):
            line += np.bincount(bins, weights, _BINS)
        columns = np.full(labels.size, -1)
        columns[np.searchsorted(labels, classes)] = np.arange(classes.size)
        known = columns[true]
        given = np.where(known < 0, 0.0, probabilities[rows, known])
        self._loss -= float(mass @ np.log(np.clip(given, np.finfo(probabilities.dtype).eps, 1.0)))
        self._ranked.add(probabilities, known, mass)

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
        """Return rows, error with its interval, AUC, log loss, confusion, classes and calibration, as JSON takes them.

        The AUC is that of the second of two classes, else the mean of each class against the rest, without classes
        that no row or every row has.
        """
        from craftmaps.report.intervals import wilson

        rows, masses, said = Counter[Any](), Counter[Any](), Counter[Any]()
        for (true, predicted), n in self._pairs.items():
            rows[true] += n
            masses[true] += self._masses[true, predicted]
            said[predicted] += self._masses[true, predicted]
        labels = np.union1d(self._model.classes_, np.array(list(rows))).tolist()
        place = {label: i for i, label in enumerate(labels)}
        errors = sum(rows.values()) - sum(self._pairs[label, label] for label in labels)
        wrong = sum(mass for (true, predicted), mass in self._masses.items() if true != predicted)
        n_effective = self.weight.n_effective
        areas = {self._model.classes_[k].item(): area for k, area in self._ranked.areas().items()}
        return {
            "rows": sum(rows.values()),
            **self.weight.to_plain(),
            "errors": errors,
            "error": wrong / self.weight.total,
            "error_interval": wilson(wrong * (n_effective / self.weight.total), n_effective),
            "auc": float(np.mean(list(areas.values()))) if areas else None,
            "auc_is_exact": self._ranked.is_exact,
            "log_loss": self._loss / self.weight.total,
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
                    "precision": self._masses[label, label] / said[label] if said[label] else None,
                    "recall": self._masses[label, label] / masses[label] if masses[label] else None,
                    "auc": areas.get(label),
                }
                for label in labels
            ],
            "calibration": self._calibration(),
        }

    def _calibration(self) -> dict[str, Any]:
        """Return how often predictions of about equal probability are right, and by how much the two differ."""
        bins = [
            {"rows": int(n), "probability": total / mass, "right": right / mass}
            for n, mass, right, total in self._bins.T
            if mass
        ]
        gap = float(np.abs(self._bins[2] - self._bins[3]).sum() / self.weight.total)
        return {"expected_calibration_error": gap, "bins": bins}


class NumberScores:
    """Errors of a regressor; means are over the weights of rows, which are 1 where there are none.

    Parameters
    ----------
    model : CraftRegressor
    """

    def __init__(self, model: Any):
        self._model = model
        self.weight = _Weight()
        self._origin: float | None = None
        self._sums = np.zeros(4)  # of weights times errors squared, their size; targets, and squared
        self._squares = np.zeros(3)  # of squared weights times 1, errors squared, to the fourth power

    def add(self, X: Any, y: NDArray, weight: NDArray[np.float64] | None) -> None:
        """Count the rows of a block."""
        mass = self.weight.add(weight, y.size)
        y = np.asarray(y, dtype=np.float64)
        error = y - self._model.predict(X)
        if self._origin is None:
            self._origin = float(y.mean())  # so that no digits are lost to a large mean
        y = y - self._origin
        self._sums += [mass @ error**2, mass @ np.abs(error), mass @ y, mass @ y**2]
        self._squares += [mass @ mass, mass**2 @ error**2, mass**2 @ error**4]

    def to_plain(self) -> dict[str, Any]:
        """Return rows, root mean square error with its interval, mean absolute error and R2, as JSON takes them."""
        from craftmaps.report.intervals import of_root_mean_square

        square, size, mean, square_of_y = self._sums / self.weight.total
        # The variance of a weighted mean of squared errors: sum w^2 (e^2 - mean)^2 / (sum w)^2.
        spread = float(self._squares @ [square**2, -2 * square, 1.0]) / self.weight.total**2
        variance = square_of_y - mean**2
        return {
            "rows": self.weight.n_rows,
            **self.weight.to_plain(),
            "rmse": float(np.sqrt(square)),
            "rmse_interval": of_root_mean_square(square, spread, self.weight.n_rows),
            "mean_absolute_error": float(size),
            "r2": float(1 - square / variance) if variance > 0 else None,
        }


class _Weight:
    """Sums of the weights of rows."""

    def __init__(self) -> None:
        self.n_rows, self.total, self._of_squares, self._is_given = 0, 0.0, 0.0, False

    def add(self, weight: NDArray[np.float64] | None, n_rows: int) -> NDArray[np.float64]:
        """Count some rows; return their weights."""
        self._is_given = self._is_given or weight is not None
        weight = np.ones(n_rows) if weight is None else weight
        self.n_rows += n_rows
        self.total += float(weight.sum())
        self._of_squares += float(weight @ weight)
        return weight

    @property
    def n_effective(self) -> int:
        """The number of rows of equal weight that tell as much (Kish)."""
        return max(round(self.total**2 / self._of_squares), 1)

    def to_plain(self) -> dict[str, float]:
        """Return the sum of the weights, where there are any."""
        return {"weight": self.total} if self._is_given else {}


def score(model: Any, blocks: Any, progress: Any, source: str, missing: str = "none") -> dict[str, Any]:
    """Return the scores of a model on blocks of rows; errors name the source of the labels, and what is missing."""
    scores = ClassScores(model) if hasattr(model, "predict_proba") else NumberScores(model)
    n_rows = 0
    for block in blocks:
        if block.y is None:
            raise ValueError(f"{source} must have labels to compare predictions with, got {missing}.")
        scores.add(block.X, block.y, block.weight)
        n_rows += block.X.shape[0]
        progress.show(n_rows)
    if not scores.weight.total:
        raise ValueError("--weight must name a column with some weights above zero, got none.")
    if isinstance(scores, ClassScores):
        scores.refuse_strangers(source)
    return scores.to_plain()


def _written(label: Any) -> str:
    """Write a label for an error message."""
    from craftmaps.report.wording import shortened

    return shortened(repr(label), _LONGEST_NAME)
