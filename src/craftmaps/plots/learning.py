"""The learning curve of a model, from tallies."""

from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

from craftmaps.kernels import Rows
from craftmaps.learners.partitions import to_ship
from craftmaps.learners.tally import Tally
from craftmaps.plots.canvas import ACCENT, as_percent, axes_or_new, finish_axes
from craftmaps.scores import held_out_error
from craftmaps.scores.intervals import wilson

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def learning_curve(
    model: Any, tallies: Iterable[Tally], X: Rows | None = None, y: Rows | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Plot the error of the models of the first tally, of the first two, and so on, against their rows.

    No row is mapped again: the curve costs one sum and one solution for each tally, and one prediction of the test
    rows. Bars are 95 % intervals of the shares of test rows that classifiers get wrong (Wilson).

    Parameters
    ----------
    model : settled or fitted CraftClassifier or CraftRegressor
        It does not change.
    tallies : iterable of Tally
        Tallies by `model.tally` of blocks of rows, in order.
    X, y : test rows and their labels or targets, default=None
        None plots the error of the rows that the tallies hold out, `cv_results_["error"]`.
    ax : matplotlib Axes, default=None
        New axes if None.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from craftmaps import CraftClassifier, Polynomial, datasets, plots
    >>> digits = datasets.load("digits")
    >>> X, y = digits.X_train, digits.y_train
    >>> model = CraftClassifier(Polynomial(3), 128, metric=None, random_state=0).settle(X, y)
    >>> tallies = [model.tally(X[part::8], y[part::8]) for part in range(8)]
    >>> ax = plots.learning_curve(model, tallies, digits.X_test, digits.y_test)
    >>> ax.get_ylabel()
    'error of 359 test rows'
    """
    if (X is None) != (y is None):
        raise ValueError(f"X and y must both be given or both be None, got None for {'X' if X is None else 'y'} only.")
    is_share, points = is_classifier(model), []
    for total in accumulate(tallies):
        solved = to_ship(model).finish(total)
        points.append((total.n_rows, *(_held_out(solved) if X is None else _on_test_rows(solved, X, y, is_share))))
    if not points:
        raise ValueError("tallies must not be empty.")
    ax = axes_or_new(ax)
    n_rows, errors, low, high = np.array(points, dtype=float).T
    ends = np.maximum([errors - low, high - errors], 0.0) if np.isfinite([low, high]).all() else None
    ax.errorbar(n_rows, errors, ends, color=ACCENT, marker="o", markersize=4, linewidth=1.2, capsize=2)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    if is_share:
        as_percent(ax.yaxis)
    name = "error" if is_share else "root mean squared error"
    where = "held-out rows" if X is None else f"{len(np.asarray(y)):,} test rows"
    return finish_axes(ax, "Learning curve", "rows learned", f"{name} of {where}")


def _held_out(model: Any) -> tuple[float, float, float]:
    """Return the error of held-out rows and its interval."""
    found = held_out_error(model)
    if found is None:
        raise ValueError("X and y must be given if the model holds no rows out, got None.")
    error = found.error if found.is_share else float(np.sqrt(found.error))
    low, high = (np.nan, np.nan) if found.interval is None else found.interval
    return error, low, high


def _on_test_rows(model: Any, X: Any, y: Any, is_share: bool) -> tuple[float, float, float]:
    """Return the error on test rows and, of a share, its interval."""
    predicted = model.predict(X)
    if not is_share:
        return float(np.sqrt(np.mean((predicted - np.asarray(y, dtype=np.float64)) ** 2))), np.nan, np.nan
    wrong = int(np.count_nonzero(predicted != column_or_1d(y)))
    low, high = wilson(wrong, predicted.size)
    return wrong / predicted.size, low, high
