"""The curve that alpha was chosen from."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from craftmaps.plots.canvas import ACCENT, INK, as_percent, axes_or_new, error_name, finish_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def penalty_curve(model: Any, ax: "Axes | None" = None) -> "Axes":
    """Plot held-out error against alpha, with one standard deviation of the folds; the chosen alpha is marked.

    Alphas are relative, in units of trace(G) / E, as in `cv_results_`. A penalty of zero, which has no place on a
    logarithmic axis, is drawn to the left of the others.

    Parameters
    ----------
    model : fitted CraftClassifier or CraftRegressor
        With `cv_results_`: `cv` was not None, and the model was not loaded from a file.
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
    >>> ax = plots.penalty_curve(model)
    >>> ax.get_xscale()
    'log'
    """
    results = model.cv_results_
    ax = axes_or_new(ax)
    alphas, means = np.array(results["alpha"], dtype=float), np.array(results["mean_error"], dtype=float)
    # An alpha that left the race early was tried on some folds only, perhaps on one, which has no spread.
    n_folds = np.isfinite(results["fold_errors"]).sum(axis=1)
    spreads = np.where(n_folds > 1, results["std_error"], 0.0)
    positive = alphas[alphas > 0]
    alphas[alphas == 0] = positive.min() / 10 if positive.size else 1.0
    order, chosen = np.argsort(alphas), results["chosen"]
    ax.errorbar(
        alphas[order], means[order], spreads[order], color=INK, marker="o", markersize=4, linewidth=1, capsize=2
    )
    label = f"chosen: {results['alpha'][chosen]:.3g}"
    ax.plot(alphas[chosen], means[chosen], "o", color=ACCENT, markersize=9, zorder=3, label=label)
    ax.set_xscale("log")
    if is_classifier(model):
        as_percent(ax.yaxis)
    ax.legend(frameon=False)
    return finish_axes(ax, "Choice of alpha", "alpha, in units of trace(G) / E", f"held-out {error_name(model)}")
