"""Confusion and calibration of a classifier on test rows."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

from craftmaps.kernels import Rows
from craftmaps.plots.canvas import ACCENT, INK, MUTED, axes_or_new, finish_axes
from craftmaps.scores import ClassScores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_WRITTEN = 20


def confusion(model: Any, X: Rows, y: Rows, ax: "Axes | None" = None) -> "Axes":
    """Plot the confusion matrix of test rows: true classes downwards, predicted ones to the right.

    Mistakes are coloured, the most frequent most strongly; the diagonal is grey, since it would outshine them. Counts
    are written into the cells of up to 20 classes.

    Parameters
    ----------
    model : fitted CraftClassifier
    X, y : test rows and their labels
    ax : matplotlib Axes, default=None
        New axes if None.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from craftmaps import CraftClassifier, Polynomial, datasets, plots
    >>> digits = datasets.load("digits")
    >>> model = CraftClassifier(Polynomial(3), 128, metric=None, random_state=0).fit(digits.X_train, digits.y_train)
    >>> ax = plots.confusion(model, digits.X_test, digits.y_test)
    >>> [label.get_text() for label in ax.get_xticklabels()][:3]
    ['0', '1', '2']
    """
    scores = _scored(model, X, y)
    ax, labels = axes_or_new(ax), scores.labels
    place = {label: i for i, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for (true, predicted), n in scores.confusion.items():
        counts[place[true], place[predicted]] = n
    mistakes = counts * ~np.eye(len(labels), dtype=bool)
    # The square root keeps rare mistakes visible beside frequent ones.
    shades = np.sqrt(mistakes / max(mistakes.max(), 1))
    ax.imshow(np.ma.masked_equal(shades, 0), cmap=_shades_of(ACCENT), vmin=0, vmax=1)
    ax.imshow(np.ma.masked_where(~np.eye(len(labels), dtype=bool), shades), cmap=_shades_of("#e4e4e1"), vmin=-1, vmax=0)
    if len(labels) <= _MOST_WRITTEN:
        for i, j in np.argwhere(counts):
            colour = "white" if shades[i, j] > 0.6 else INK
            ax.text(j, i, f"{counts[i, j]:,}", ha="center", va="center", color=colour, fontsize="small")
    turn = 90 if max(len(str(label)) for label in labels) > 4 else 0
    ax.set_xticks(range(len(labels)), labels, rotation=turn)
    ax.set_yticks(range(len(labels)), labels)
    ax.tick_params(length=0)
    finish_axes(ax, f"{scores.n_errors:,} of {scores.weight.n_rows:,} rows wrong", "predicted class", "true class")
    ax.spines[:].set_visible(False)
    return ax


def calibration(model: Any, X: Rows, y: Rows, ax: "Axes | None" = None) -> "Axes":
    """Plot the share of right predictions against the probability of the predicted class, in ten bins.

    Bars are 95 % intervals (Wilson). On the dashed line probabilities are calibrated. The expected calibration error is
    in the title.

    Parameters
    ----------
    model : fitted CraftClassifier
    X, y : test rows and their labels
    ax : matplotlib Axes, default=None
        New axes if None.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from craftmaps import CraftClassifier, Polynomial, datasets, plots
    >>> digits = datasets.load("digits")
    >>> model = CraftClassifier(Polynomial(3), 128, metric=None, random_state=0).fit(digits.X_train, digits.y_train)
    >>> ax = plots.calibration(model, digits.X_test, digits.y_test)
    >>> ax.get_ylabel()
    'share that is right'
    """
    table = _scored(model, X, y).calibration
    ax, bins = axes_or_new(ax), table.bins
    x, right = np.array([(found.probability, found.right) for found in bins]).T
    low, high = np.array([found.interval for found in bins]).T
    ax.plot([0, 1], [0, 1], "--", color=MUTED, linewidth=1, label="calibrated")
    # Rounding may put the end of an interval on the wrong side of a share of 0 or 1.
    ends = np.maximum([right - low, high - right], 0.0)
    ax.errorbar(x, right, ends, fmt="o", color=ACCENT, markersize=5, elinewidth=1, capsize=2, label="test rows")
    ax.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
    ax.legend(frameon=False, loc="lower right")
    title = f"Expected calibration error {100 * table.expected_error:.2g} %"
    return finish_axes(ax, title, "probability of the predicted class", "share that is right")


def _scored(model: Any, X: Rows, y: Rows) -> ClassScores:
    """Return the scores of a classifier on test rows."""
    if not is_classifier(model):
        raise TypeError(f"model must be a CraftClassifier, got {type(model).__name__}.")
    y = column_or_1d(y)
    probabilities = model.predict_proba(X)
    if probabilities.shape[0] != y.size:
        raise ValueError(f"y must have a label for each of {probabilities.shape[0]} rows, got {y.size}.")
    scores = ClassScores(model.classes_)
    scores.add(probabilities, y)
    return scores


def _shades_of(colour: str) -> Any:
    """Return a colour map from near white to a colour."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("shades", ["#eef3f9", colour])
