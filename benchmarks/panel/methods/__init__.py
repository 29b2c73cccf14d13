"""Learners of the panel: an adapter each, a function of a `Problem` that returns an estimator with `fit` and `predict`.

An adapter that cannot take a problem raises `NotRun` with the reason. Settings are the defaults of each library
except where its docstring says otherwise.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.panel.methods import boosting, craft, linear, nystroem, support_vectors, xrfm_trees


class Method(NamedTuple):
    """A learner, and what has to happen in a process before it is timed."""

    make: Callable[..., Any]
    warm_up: Callable[..., None] | None = None
    own_error: Callable[..., dict[str, Any]] | None = None


CRAFT_WIDTHS = (512, 1024, 2048, 4096, 8192, 16384)

METHODS = {
    "RidgeCV": Method(linear.ridge),
    "LogisticRegressionCV": Method(linear.logistic),
    "LinearSVC": Method(linear.support_vectors),
    "Nystroem + Ridge": Method(nystroem.nystroem_ridge),
    "SVC": Method(support_vectors.kernel_machine),
    "LightGBM": Method(boosting.lightgbm),
    "HistGradientBoosting": Method(boosting.hist_gradient_boosting),
    "xRFM": Method(xrfm_trees.xrfm),
} | {
    f"craftmaps {width}": Method(craft.learner_of_width(width), craft.warm_up, craft.own_error)
    for width in CRAFT_WIDTHS
}
GROUPS = {
    "craftmaps": [name for name in METHODS if name.startswith("craftmaps")],
    "competitors": [name for name in METHODS if not name.startswith("craftmaps")],
}
