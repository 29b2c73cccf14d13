"""The trials of the search for kernel, metric and length."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_scalar

from craftmaps.learners.trial_rounds import has_overflowed, label_of, rounds_of
from craftmaps.plots.canvas import ACCENT, INK, MUTED, as_percent, axes_or_new, error_name, finish_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST_LINE = 36


def search(model: Any, ax: "Axes | None" = None, *, which: int = -1, most: int = 20) -> "Axes":
    """Plot the candidates of a round of the search by their error, with one standard error; the taken one is marked.

    Candidates that were compared on the same rows at the same width form a round; the last round decides. Errors are
    those of rows that a candidate was not fitted to.

    Parameters
    ----------
    model : CraftClassifier or CraftRegressor that has chosen its kernel, metric or length
    ax : matplotlib Axes, default=None
        New axes if None.
    which : int, default=-1
        Place of the round, the first being 0.
    most : int, default=20
        Number of candidates, best first; the one that was taken is always among them.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from craftmaps import CraftClassifier, datasets, plots
    >>> digits = datasets.load("digits")
    >>> model = CraftClassifier(n_components=64, random_state=0).fit(digits.X_train, digits.y_train)
    >>> ax = plots.search(model)
    >>> len(ax.get_yticks()) <= 20
    True
    """
    check_scalar(most, "most", int, min_val=1)
    rounds = rounds_of(model.choices_.trials)
    if not rounds:
        raise ValueError("model must have made a search, but nothing was left to choose or it was loaded from a file.")
    if not -len(rounds) <= which < len(rounds):
        raise ValueError(f"which must be a place among {len(rounds)} rounds, got {which}.")
    found = rounds[which]
    known = [trial for trial in found.trials if not has_overflowed(trial)]
    shown = [trial for i, trial in enumerate(known) if i < most or trial.is_taken]
    ax = axes_or_new(ax, (7.5, 1.4 + 0.36 * len(shown)))
    for place, trial in enumerate(shown):
        colour, bar, size = (ACCENT, ACCENT, 8) if trial.is_taken else (INK, MUTED, 5)
        xerr = trial.standard_error
        ax.errorbar(trial.error, place, xerr=xerr, fmt="o", color=colour, ecolor=bar, markersize=size, elinewidth=2)
    names = [_in_two_lines(f"{label_of(trial)} (taken)" if trial.is_taken else label_of(trial)) for trial in shown]
    ax.set_yticks(np.arange(len(shown)), names, fontsize="small")
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    if is_classifier(model):
        as_percent(ax.xaxis)
    n, where = len(found.trials), f" at E = {found.width:,}" if found.width else " with the exact kernel"
    some = f"{len(shown)} of {n} candidates" if len(shown) < n else f"{n} candidates"
    title = f"{some} on {found.n_rows:,} rows{where}" if found.n_rows else some
    return finish_axes(ax, title, f"{error_name(model)} of rows left out", "")


def _in_two_lines(name: str) -> str:
    """Break a long name after the comma that is nearest to its middle."""
    commas = [i for i in range(len(name)) if name.startswith(", ", i)]
    if len(name) <= _LONGEST_LINE or not commas:
        return name
    middle = min(commas, key=lambda i: abs(2 * i - len(name)))
    return f"{name[: middle + 1]}\n{name[middle + 2 :]}"
