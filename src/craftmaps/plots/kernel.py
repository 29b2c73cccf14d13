"""How well a map estimates its kernel: errors over widths, and spectra."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array, check_scalar
from sklearn.utils.validation import check_is_fitted

from craftmaps import diagnostics
from craftmaps.kernels import Rows
from craftmaps.learners import CraftClassifier, CraftRegressor
from craftmaps.maps.feature_map import KernelMap
from craftmaps.plan import predicted_error
from craftmaps.plan.predicted_error import estimated_kernel
from craftmaps.plots.canvas import ACCENT, INK, MUTED, as_percent, axes_or_new, finish_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def kernel_error(
    feature_map: Any,
    X: Rows,
    widths: Sequence[int] = (64, 128, 256, 512, 1024),
    *,
    n_draws: int = 5,
    ax: "Axes | None" = None,
) -> "Axes":
    """Plot the relative kernel error |ZZ' - K| / |K| over the width, predicted as a line and measured as dots.

    A dot is the error of one draw of the map, with the seeds 0 to `n_draws` - 1. The line is the root mean square over
    all draws (`craftmaps.plan.predicted_error`), for which no feature is computed. Costs `n_draws` transforms for each
    width, and the exact kernel of the rows: a few hundred rows are enough.

    Parameters
    ----------
    feature_map : map of this library, or fitted learner with one
        Rows go through the metric and the length of a learner first.
    X : rows to compare kernel values of
    widths : sequence of int
        Values of `n_components`.
    n_draws : int, default=5
    ax : matplotlib Axes, default=None
        New axes if None.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from craftmaps import CraftMap, Polynomial, datasets, plots
    >>> from sklearn.preprocessing import normalize
    >>> X = normalize(datasets.load("digits").X_test[:100])
    >>> ax = plots.kernel_error(CraftMap(Polynomial(3)), X, widths=(64, 256), n_draws=3)
    >>> [line.get_label() for line in ax.lines]
    ['measured', 'predicted']
    """
    check_scalar(n_draws, "n_draws", int, min_val=1)
    feature_map, X = _map_and_rows(feature_map, X)
    ax, widths = axes_or_new(ax), sorted(widths)
    measured, predicted = [], []
    for width in widths:
        draws = [clone(feature_map).set_params(n_components=width, random_state=seed).fit(X) for seed in range(n_draws)]
        K = np.asarray(estimated_kernel(draws[0])(X), dtype=np.float64)
        measured += [(width, diagnostics.kernel_error(draw.transform(X), K)) for draw in draws]
        predicted.append(predicted_error(draws[0], X))
    ax.plot(*zip(*measured, strict=True), "o", color=INK, alpha=0.45, markersize=5, markeredgewidth=0, label="measured")
    ax.plot(widths, predicted, "-", color=ACCENT, label="predicted")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(widths, [f"{width:,}" for width in widths])
    ax.xaxis.set_minor_locator(_no_ticks())
    as_percent(ax.yaxis)
    ax.yaxis.set_minor_locator(_some_ticks())
    ax.yaxis.set_minor_formatter(ax.yaxis.get_major_formatter())
    ax.legend(frameon=False)
    return finish_axes(ax, type(feature_map).__name__, "features", "relative kernel error")


def scree(feature_map: Any, X: Rows, ax: "Axes | None" = None) -> "Axes":
    """Plot log10 of the eigenvalues of the exact kernel matrix and of its estimate, largest first (Figure 2a).

    Eigenvalues at or below rounding error are left out. Costs the eigenvalues of a matrix of as many rows and columns
    as X has rows.

    Parameters
    ----------
    feature_map : fitted map of this library, or fitted learner with one
        Rows go through the metric and the length of a learner first.
    X : rows
    ax : matplotlib Axes, default=None
        New axes if None.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from craftmaps import CraftMap, Polynomial, datasets, plots
    >>> from sklearn.preprocessing import normalize
    >>> X = normalize(datasets.load("digits").X_test[:100])
    >>> ax = plots.scree(CraftMap(Polynomial(3), 64, random_state=0).fit(X), X)
    >>> [line.get_label() for line in ax.lines]
    ['exact kernel', 'CraftMap, 64 features']
    """
    feature_map, X = _map_and_rows(feature_map, X)
    check_is_fitted(feature_map)
    ax = axes_or_new(ax)
    Z = np.asarray(feature_map.transform(X), dtype=np.float64)
    exact = diagnostics.log_scree(np.asarray(estimated_kernel(feature_map)(X), dtype=np.float64))
    estimate = diagnostics.feature_log_scree(Z)
    name = f"{type(feature_map).__name__}, {Z.shape[1]:,} features"
    for values, colour, label in ((exact, MUTED, "exact kernel"), (estimate, ACCENT, name)):
        is_shown = np.isfinite(values)
        ax.plot(1 + np.flatnonzero(is_shown), values[is_shown], color=colour, label=label)
    ax.legend(frameon=False)
    return finish_axes(ax, "Log-scree", "place of the eigenvalue", "log10 of the eigenvalue")


def _map_and_rows(feature_map: Any, X: Rows) -> tuple[Any, Any]:
    """Return a map, given as one or as that of a learner, and the rows as it sees them."""
    X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), input_name="X")
    if isinstance(feature_map, CraftClassifier | CraftRegressor):
        features = feature_map.features_
        feature_map, X = features.feature_map, features.shape_rows(X)
        if feature_map is None:
            raise ValueError("feature_map must be a learner with a map, got a linear model.")
    if not isinstance(feature_map, KernelMap):
        raise TypeError(
            f"feature_map must be a map of this library that has a kernel, got {type(feature_map).__name__}."
        )
    return feature_map, X


def _no_ticks() -> Any:
    """Return a locator of no ticks."""
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _some_ticks() -> Any:
    """Return a locator of ticks between powers of ten whose labels do not overlap."""
    from matplotlib.ticker import LogLocator

    return LogLocator(subs=(2, 3, 5))
