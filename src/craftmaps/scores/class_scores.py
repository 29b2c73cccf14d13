"""Scores of a classifier, from rows that come block by block."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps.scores.calibration_table import CalibrationTable
from craftmaps.scores.intervals import wilson
from craftmaps.scores.ranking import MOST_KEPT, RankedProbabilities
from craftmaps.scores.weight_sum import WeightSum


class ClassLine(NamedTuple):
    """Scores of one class. A share of no rows is None, and so is the AUC of a class that no row or every row has."""

    label: Any
    n_rows: int
    precision: float | None
    recall: float | None
    auc: float | None


class ClassScores:
    """Error, confusion, AUC, log loss and calibration of a classifier.

    Shares and means are weighted; confusion counts rows. A label that the classifier does not know is a mistake like
    any other.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        Labels that the classifier knows, sorted.
    most_kept : int, default=2**22
        Probabilities to keep for an exact AUC; beyond, they are counted in bins.

    Attributes
    ----------
    weight : WeightSum
    confusion : Counter
        Rows by (true label, predicted label).
    calibration : CalibrationTable
    """

    def __init__(self, classes: NDArray, most_kept: int = MOST_KEPT):
        self.classes = classes
        self.weight = WeightSum()
        self.confusion: Counter[tuple[Any, Any]] = Counter()
        self.calibration = CalibrationTable()
        self._masses: Counter[tuple[Any, Any]] = Counter()  # as `confusion`, of weights
        self._ranked = RankedProbabilities(classes.size, most_kept)
        self._loss = 0.0

    def add(self, probabilities: NDArray, y: NDArray, weight: NDArray[np.float64] | None = None) -> None:
        """Add rows with the probabilities of their classes and their labels."""
        weight = self.weight.add(weight, y.size)
        best, rows = probabilities.argmax(axis=1), np.arange(y.size)
        labels = np.union1d(self.classes, y)
        places = np.searchsorted(labels, self.classes)
        true, predicted = np.searchsorted(labels, y), places[best]
        self._count_pairs(labels, true, predicted, weight)
        confidence = np.minimum(probabilities[rows, best].astype(np.float64), 1.0)  # rounding may carry it past 1
        self.calibration.add(confidence, true == predicted, weight)
        columns = np.full(labels.size, -1)
        columns[places] = np.arange(places.size)
        column = columns[true]
        given = np.where(column < 0, 0.0, probabilities[rows, column])
        self._loss -= float(weight @ np.log(np.clip(given, np.finfo(probabilities.dtype).eps, 1.0)))
        self._ranked.add(probabilities, column, weight)

    @property
    def labels(self) -> list[Any]:
        """All classes and all other labels seen, sorted."""
        return sorted({*self.classes.tolist(), *(true for true, _ in self.confusion)})

    @property
    def unknown_label(self) -> Any:
        """A label seen, if none of the labels seen is a class; else None."""
        seen = [true for true, _ in self.confusion]
        return seen[0] if seen and set(seen).isdisjoint(self.classes.tolist()) else None

    @property
    def n_errors(self) -> int:
        """The number of rows that are predicted wrong."""
        return sum(n for (true, predicted), n in self.confusion.items() if true != predicted)

    @property
    def error(self) -> float:
        """The weighted share of rows that are predicted wrong."""
        return self._wrong / self.weight.total

    @property
    def error_interval(self) -> list[float]:
        """Wilson's interval of the error, for the effective number of rows."""
        n_effective = self.weight.n_effective
        return wilson(self._wrong * (n_effective / self.weight.total), n_effective)

    @property
    def log_loss(self) -> float:
        """The mean of -log p of the true class."""
        return self._loss / self.weight.total

    def auc_by_class(self) -> dict[Any, float]:
        """Return the AUC of the second of two classes, else of each class against the rest.

        A class that no row or every row has is left out.
        """
        labels = self.classes.tolist()
        return {labels[k]: area for k, area in self._ranked.areas().items()}

    def by_class(self) -> list[ClassLine]:
        """Return rows, precision, recall and AUC of every class."""
        areas = self.auc_by_class()
        n_rows, masses, said = Counter[Any](), Counter[Any](), Counter[Any]()
        for (true, predicted), n in self.confusion.items():
            n_rows[true] += n
            masses[true] += self._masses[true, predicted]
            said[predicted] += self._masses[true, predicted]
        return [
            ClassLine(
                label,
                n_rows[label],
                self._masses[label, label] / said[label] if said[label] else None,
                self._masses[label, label] / masses[label] if masses[label] else None,
                areas.get(label),
            )
            for label in self.labels
        ]

    def to_plain(self) -> dict[str, Any]:
        """Return all scores as plain values that JSON can hold; `auc` is the mean over classes."""
        place = {label: i for i, label in enumerate(self.labels)}
        pairs = sorted(self.confusion.items(), key=lambda item: (place[item[0][0]], place[item[0][1]]))
        lines = self.by_class()
        areas = [line.auc for line in lines if line.auc is not None]
        return {
            "rows": self.weight.n_rows,
            **self.weight.to_plain(),
            "errors": self.n_errors,
            "error": self.error,
            "error_interval": self.error_interval,
            "auc": float(np.mean(areas)) if areas else None,
            "auc_is_exact": self._ranked.is_exact,
            "log_loss": self.log_loss,
            "confusion": [{"true": true, "predicted": predicted, "rows": n} for (true, predicted), n in pairs],
            "classes": [
                {
                    "label": line.label,
                    "rows": line.n_rows,
                    "precision": line.precision,
                    "recall": line.recall,
                    "auc": line.auc,
                }
                for line in lines
            ],
            "calibration": {
                "expected_calibration_error": self.calibration.expected_error,
                "bins": [
                    {"rows": place.n_rows, "probability": place.probability, "right": place.right}
                    for place in self.calibration.bins
                ],
            },
        }

    @property
    def _wrong(self) -> float:
        """The weight of the rows that are predicted wrong."""
        return sum(mass for (true, predicted), mass in self._masses.items() if true != predicted)

    def _count_pairs(self, labels: NDArray, true: NDArray, predicted: NDArray, weight: NDArray) -> None:
        """Add rows, given as places among labels, to the confusion."""
        codes, place, counts = np.unique(true * labels.size + predicted, return_inverse=True, return_counts=True)
        names, masses = labels.tolist(), np.bincount(place, weight)
        for code, n, mass in zip(codes.tolist(), counts.tolist(), masses.tolist(), strict=True):
            pair = names[code // labels.size], names[code % labels.size]
            self.confusion[pair] += n
            self._masses[pair] += mass
