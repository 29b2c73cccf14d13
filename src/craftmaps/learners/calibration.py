"""Calibration: scores of classes become log-odds, fitted on rows that were left out.

Temperature scaling has one factor, and the class with the highest score keeps it. Matrix scaling also mixes
the scores: least squares fits every class alone, so a class can be masked by others, and a matrix of
k x k numbers learned from left-out rows corrects that, for classes and for probabilities.

References
----------
C. Guo, G. Pleiss, Y. Sun, K. Weinberger, "On Calibration of Modern Neural Networks", ICML 2017.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, softmax

from craftmaps._system.fields import Fields
from craftmaps._system.threads import serial_blas

CALIBRATIONS = ("auto", "temperature", "matrix")
_UNCALIBRATED = 4.0  # a factor for scores of -1 to 1
_PENALTY = 10.0  # a matrix is expected within 1 / sqrt(10) of the identity
_DOUBT = 1e-3  # of labels: a few rows without an error prove no certainty
# To tell whether a matrix is better.
_FEWEST_MATRIX_ROWS, _ROWS_A_NUMBER = 500, 2
_MOST_CLASSES = 256  # beyond, a matrix has more numbers than the usual sample of rows can tell
_MOST_STEPS = 200
_SAVED = (np.float64, np.float32, np.float16)


class Calibration(NamedTuple):
    """Log-odds are factor * (scores @ matrix + offset), or factor * scores, up to what all classes share.

    A correction by matrix and offset changes which class is predicted, the factor only how sure it is.
    """

    factor: float = _UNCALIBRATED
    matrix: NDArray[np.float64] | None = None
    offset: NDArray[np.float64] | None = None

    @property
    def name(self) -> str:
        """Name of the calibration."""
        return "temperature" if self.matrix is None else "matrix"

    def corrected(self, scores: NDArray) -> NDArray:
        """Return scores, corrected where there is a matrix."""
        if self.matrix is None or self.offset is None:
            return scores
        return scores @ self.matrix.astype(scores.dtype) + self.offset.astype(scores.dtype)

    def probabilities(self, corrected: NDArray) -> NDArray:
        """Return the probabilities of the classes from corrected scores."""
        return softmax(corrected * corrected.dtype.type(self.factor), axis=1)

    def to_plain(self, dtype: Any) -> dict[str, Any]:
        """Return the factor, and the arrays in a precision."""
        return {
            "factor": self.factor,
            "matrix": None if self.matrix is None else self.matrix.astype(dtype),
            "offset": None if self.offset is None else self.offset.astype(dtype),
        }

    @classmethod
    def from_plain(cls, fields: Fields, n_classes: int) -> Self:
        """Make it again from its numbers and arrays."""
        factor = fields.number("factor", above=0.0)
        if fields.value("matrix") is None and fields.value("offset") is None:
            return cls(factor)
        matrix, offset = fields.array("matrix", (n_classes,) * 2, _SAVED), fields.array("offset", (n_classes,), _SAVED)
        return cls(factor, matrix.astype(np.float64), offset.astype(np.float64))


def calibrate(
    scores: NDArray,
    labels: NDArray[np.int64],
    weight: NDArray[np.float64],
    calibration: str,
    *,
    n_rows: int | None = None,
    aside: NDArray[np.bool_] | None = None,
    most_classes: int = _MOST_CLASSES,
) -> Calibration:
    """Fit a calibration to the scores of rows that were left out.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
    labels : ndarray of shape (n_rows,)
        The classes by their numbers.
    weight : ndarray of shape (n_rows,)
    calibration : {"auto", "temperature", "matrix"}
        "auto" takes a matrix where one learned on some of the rows makes the others more likely.
    n_rows : int, optional
        How many rows there are if copies are counted; a row that stands for several has their weight.
    aside : ndarray of shape (n_rows,), dtype bool, optional
        The others; by default every fourth row.
    most_classes : int
        With more, "auto" fits no matrix.
    """
    total = scores.shape[0] if n_rows is None else n_rows
    scores, weight = scores.astype(np.float64), weight * (total / weight.sum())
    aside = np.arange(scores.shape[0]) % 4 == 0 if aside is None else aside
    can_tell = total >= max(_FEWEST_MATRIX_ROWS, _ROWS_A_NUMBER * scores.shape[1] ** 2)
    can_tell = can_tell and scores.shape[1] <= most_classes
    with serial_blas:  # the same on any number of threads
        if calibration == "auto" and not (can_tell and _is_better(scores, labels, weight, aside)):
            calibration = "temperature"
        if calibration == "temperature":
            return Calibration(_temperature(scores, labels, weight, _DOUBT))
        return _matrix_scaling(scores, labels, weight, _temperature(scores, labels, weight))


def tempered_losses(
    scores: NDArray[np.float64], labels: NDArray[np.int64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return minus the logarithm of the probability of each label, at the factor that makes them most likely."""
    with serial_blas:
        factor = _temperature(scores, labels, weight, _DOUBT)
    return -log_softmax(factor * scores, axis=1)[np.arange(labels.size), labels]


def _is_better(
    scores: NDArray[np.float64], labels: NDArray[np.int64], weight: NDArray[np.float64], aside: NDArray[np.bool_]
) -> bool:
    """Tell whether by a matrix rows that were set aside are more likely than by a factor, and no more of them wrong.

    A matrix of many classes that few rows tell can make labels likelier and yet more of them wrong.
    """
    rest = (scores[~aside], labels[~aside], weight[~aside])
    factor = _temperature(*rest)

    def judged(calibration: Calibration) -> tuple[float, float]:
        corrected = calibration.corrected(scores[aside])
        wrong = corrected.argmax(axis=1) != labels[aside]
        return _surprise(factor * corrected, labels[aside], weight[aside]), float(weight[aside] @ wrong)

    (surprise, wrong), (usual, usually_wrong) = judged(_matrix_scaling(*rest, factor)), judged(Calibration(factor))
    return surprise < usual and wrong <= usually_wrong


def _temperature(
    scores: NDArray[np.float64], labels: NDArray[np.int64], weight: NDArray[np.float64], doubt: float = 0.0
) -> float:
    """Return the factor that makes the labels most likely, if a share of them, the doubt, could be any other."""

    def surprise(log_factor: float) -> float:
        log_odds = scores * np.exp(log_factor)
        of_any = -float(np.average(log_softmax(log_odds, axis=1).mean(axis=1), weights=weight))
        return (1 - doubt) * _surprise(log_odds, labels, weight) + doubt * of_any

    return float(np.exp(minimize_scalar(surprise, bounds=(-3, 8 + np.log(scores.shape[1])), method="bounded").x))


def _matrix_scaling(
    scores: NDArray[np.float64], labels: NDArray[np.int64], weight: NDArray[np.float64], factor: float
) -> Calibration:
    """Return the matrix and offset that make the labels most likely, drawn towards the identity and zero."""
    n_rows, n_classes = scores.shape
    inputs = np.column_stack([factor * scores, np.ones(n_rows)])
    rows = np.arange(n_rows)
    # In units of the curvature at the start, which rows that are not sure make, few steps are enough.
    unsure = weight * (1 - np.square(softmax(inputs[:, :-1], axis=1)).sum(axis=1)) / n_classes
    curvature = inputs.T @ (unsure[:, None] * inputs) + _PENALTY * np.eye(n_classes + 1)
    try:
        unit = linalg.inv(linalg.cholesky(curvature))
    except (linalg.LinAlgError, ValueError):  # scores so large that no matrix can be learned from them
        return Calibration(factor)

    def objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        change = unit @ flat.reshape(n_classes + 1, n_classes)
        powers = inputs @ change
        powers += inputs[:, :-1]
        powers -= powers.max(axis=1, keepdims=True)
        chosen = powers[rows, labels]
        np.exp(powers, out=powers)
        totals = powers.sum(axis=1)
        surplus = powers * (weight / totals)[:, None]
        surplus[rows, labels] -= weight
        value = weight @ (np.log(totals) - chosen) + 0.5 * _PENALTY * np.square(change).sum()
        return value, (unit.T @ (inputs.T @ surplus + _PENALTY * change)).ravel()

    start = np.zeros((n_classes + 1) * n_classes)
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": _MOST_STEPS, "ftol": 1e-8})
    change = unit @ found.x.reshape(n_classes + 1, n_classes)
    return Calibration(factor, np.eye(n_classes) + change[:-1], change[-1] / factor)


def _surprise(log_odds: NDArray[np.float64], labels: NDArray[np.int64], weight: NDArray[np.float64]) -> float:
    """Return the mean of minus the logarithms of the probabilities of the labels."""
    chosen = log_softmax(log_odds, axis=1)[np.arange(labels.size), labels]
    return -float(np.average(chosen, weights=weight))
