"""The mistakes that a classifier was surest of, as something to look at."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from craftmaps.report.column_moments import ColumnMoments

_MOST_PICTURES = 24
_MOST_ROWS = 12
_NARROWEST_PICTURE = 64
_COLUMNS_SHOWN = 5


class Mistake(NamedTuple):
    """A test row that was predicted wrong, the probability of the prediction, and the values of the row."""

    row: int
    true: Any
    predicted: Any
    probability: float
    values: NDArray[np.float64]


class SurestMistakes:
    """The surest mistakes so far, from rows that come block by block, and the moments of the columns of all rows.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        Labels that the classifier knows.
    """

    def __init__(self, classes: NDArray):
        self._classes = classes
        self._columns = ColumnMoments()
        self._kept: list[Mistake] = []
        self._n_rows = 0

    def add(self, X: Any, y: NDArray, probabilities: NDArray) -> None:
        """Add test rows with their labels and the probabilities of their classes."""
        X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), input_name="X_test")
        self._columns.add(X)
        best = probabilities.argmax(axis=1)
        confidence = np.minimum(probabilities.max(axis=1).astype(np.float64), 1.0)  # rounding may carry it past 1
        predicted = self._classes[best]
        wrong = np.flatnonzero(predicted != y)
        surest = wrong[np.argsort(-confidence[wrong], kind="stable")][:_MOST_PICTURES]
        self._kept += [
            Mistake(self._n_rows + int(i), y[i], predicted[i], float(confidence[i]), _dense(X[[i]])[0]) for i in surest
        ]
        self._kept = sorted(self._kept, key=lambda mistake: -mistake.probability)[:_MOST_PICTURES]
        self._n_rows += X.shape[0]

    def to_plain(self, names: list[str]) -> list[dict[str, Any]]:
        """Return the mistakes, the surest first, with what to show of each.

        Rows that are square pictures, as far as numbers tell, show their `picture`, in shades from 0 to 255. Other rows
        show the `columns` that are furthest from their mean, in standard deviations, by name.
        """
        side = int(np.sqrt(len(names)))
        if side * side == len(names) >= _NARROWEST_PICTURE and self._columns.lowest >= 0:
            return [_described(mistake) | {"picture": _shades(mistake.values, side)} for mistake in self._kept]
        return [
            _described(mistake) | {"columns": self._unusual_columns(mistake.values, names)}
            for mistake in self._kept[:_MOST_ROWS]
        ]

    def _unusual_columns(self, values: NDArray[np.float64], names: list[str]) -> list[list[Any]]:
        """Return name, value and distance from the mean of the most unusual columns of a row."""
        with np.errstate(all="ignore"):
            far = (values - self._columns.mean) / self._columns.deviation
        far = np.nan_to_num(far, nan=0.0, posinf=0.0, neginf=0.0)
        columns = np.argsort(-np.abs(far), kind="stable")[:_COLUMNS_SHOWN]
        return [[names[i], float(values[i]), float(far[i])] for i in columns]


def _described(mistake: Mistake) -> dict[str, Any]:
    """Return a mistake without the values of its row."""
    return {
        "row": mistake.row,
        "true": str(mistake.true),
        "predicted": str(mistake.predicted),
        "probability": mistake.probability,
    }


def _shades(values: NDArray[np.float64], side: int) -> list[list[int]]:
    """Return a row as a square of shades, brightest where it is largest."""
    largest = max(float(values.max()), np.finfo(float).tiny)
    return np.rint(values / largest * 255).astype(int).reshape(side, side).tolist()


def _dense(rows: Any) -> NDArray[np.float64]:
    """Return rows as a dense array of doubles."""
    return (rows.toarray() if issparse(rows) else rows).astype(np.float64)
