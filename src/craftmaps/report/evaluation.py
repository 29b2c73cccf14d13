"""A model on test rows that come block by block: its scores, and examples for the page."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

from craftmaps.report.mistakes import SurestMistakes
from craftmaps.report.residuals import Residuals
from craftmaps.scores import ClassScores, NumberScores

_BLOCK_ROWS, _BLOCK_PROBABILITIES = 8192, 2**22


class Evaluation:
    """Scores of a model on test rows. Every row is predicted once, and only a few examples of rows are kept.

    Parameters
    ----------
    model : fitted CraftClassifier or CraftRegressor
    keeps_examples : bool, default=False
        Whether to keep the mistakes, or the points and residuals, that the page shows.

    Attributes
    ----------
    scores : ClassScores or NumberScores
    examples : SurestMistakes, Residuals or None
    """

    def __init__(self, model: Any, keeps_examples: bool = False):
        self.scores: ClassScores | NumberScores
        self.examples: SurestMistakes | Residuals | None
        if is_classifier(model):
            self._predict = model.predict_proba
            self.scores, self.examples = ClassScores(model.classes_), SurestMistakes(model.classes_)
        else:
            self._predict = model.predict
            self.scores, self.examples = NumberScores(), Residuals()
        if not keeps_examples:
            self.examples = None

    def add(self, X: Any, y: NDArray, weight: NDArray[np.float64] | None = None) -> None:
        """Predict rows and compare with their labels or targets."""
        outputs = self._predict(X)
        self.scores.add(outputs, y, weight)
        if self.examples is not None:
            self.examples.add(X, y, outputs)


def evaluate(model: Any, X: Any, y: NDArray) -> Evaluation:
    """Evaluate a model on test rows in memory, with examples for the page."""
    if is_classifier(model):
        y, n_outputs = _checked_labels(y, model.classes_), model.classes_.size
    else:
        y, n_outputs = _checked_targets(y, (X.shape[0], *np.shape(model.intercept_))), 1
    evaluation = Evaluation(model, keeps_examples=True)
    step = max(1, min(_BLOCK_ROWS, _BLOCK_PROBABILITIES // n_outputs))
    for start in range(0, X.shape[0], step):
        evaluation.add(X[start : start + step], y[start : start + step])
    return evaluation


def _checked_labels(y: NDArray, classes: NDArray) -> NDArray:
    """Return labels; refuse labels that cannot be compared with the classes."""
    y = column_or_1d(y)
    is_text = classes.dtype.kind in "OUS"
    if y.dtype.kind == "O" and not is_text:
        y = np.array(y.tolist())  # numbers that came as objects, e.g. out of a data frame
    if (y.dtype.kind in "OUS") != is_text or (y.dtype.kind == "O" and not all(isinstance(v, str) for v in y)):
        wanted = "text" if is_text else "numbers"
        raise ValueError(f"y_test must have labels that are {wanted}, as the model's are, got {y[:3].tolist()}.")
    return y


def _checked_targets(y: NDArray, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return targets as finite numbers of a shape."""
    try:
        targets = np.asarray(y, dtype=np.float64).reshape(shape)
    except (TypeError, ValueError):
        raise ValueError(f"y_test must be numbers of shape {shape}, got {y.dtype} of shape {y.shape}.") from None
    if not np.isfinite(targets).all():
        raise ValueError("y_test must be finite, got NaN or infinity.")
    return targets
