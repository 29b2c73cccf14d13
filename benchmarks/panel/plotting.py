"""Draw error against processor seconds of a fit, a small panel for each data set."""

import math
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from benchmarks.labels import Label, write_labels
from benchmarks.panel import records
from benchmarks.panel.methods import GROUPS, METHODS
from benchmarks.panel.summaries import Summary, compared, summaries, thread_counts

N_COLUMNS = 4
MIN_SECONDS = 1e-3  # below, a clock of processors tells little
MAX_RATIO = 4.0  # errors beyond this multiple of the smallest are drawn at the upper edge
MARKERS = "osD^vPX*"
OURS = "black"


def plot(path: Path, picture: Path) -> None:
    """Save the picture of a file of results."""
    panels(path).savefig(picture)


def panels(path: Path) -> Figure:
    """Draw the results of the smallest number of threads that occurs."""
    found = records.read(path)
    counts = thread_counts(found)
    if not counts:
        raise SystemExit(f"{path} has no results.")
    groups = {
        data: {name: own for name, own in group.items() if own.status == "finished"}
        for data, group in compared(summaries(found, counts[0])).items()
    }
    groups = {data: group for data, group in groups.items() if group}
    n_rows = math.ceil(len(groups) / N_COLUMNS)
    figure = Figure(figsize=(3.4 * N_COLUMNS, 2.7 * n_rows + 0.9), dpi=110, layout="constrained")
    axes = figure.subplots(n_rows, N_COLUMNS, squeeze=False).ravel()
    for axis, (data, group) in zip(axes, groups.items(), strict=False):
        _draw(axis, data, group)
    for axis in axes[len(groups) :]:
        axis.set_axis_off()
    _legend(figure, {name for group in groups.values() for name in group})
    threads = f"{counts[0]} thread{'s' * (counts[0] > 1)}"
    kind = "Validation" if any(record["development"] for record in found) else "Test"
    figure.suptitle(f"{kind} error against processor seconds of a fit, {threads}; lower and further left is better")
    figure.draw_without_rendering()  # fixes where points are, so that labels can keep clear of them
    figure.set_layout_engine("none")
    for axis, group in zip(axes, groups.values(), strict=False):
        _label_cut(axis, group)
    return figure


def _draw(axis: Any, data: str, group: dict[str, Summary]) -> None:
    """Draw one data set: a mark for a method, a line through the widths of craftmaps."""
    top = _top(group)
    for name, own in group.items():
        axis.errorbar(
            max(own.seconds, MIN_SECONDS),
            min(own.error, top),
            yerr=None if own.error > top else own.spread,
            zorder=3,
            **_style(name),
        )
    ours = [group[name] for name in GROUPS["craftmaps"] if name in group]
    axis.plot([max(own.seconds, MIN_SECONDS) for own in ours], [min(own.error, top) for own in ours], color=OURS, lw=1)
    n_train = next(iter(group.values())).records[0]["n_train"]
    axis.set_title(f"{data} ({n_train:,} rows)", fontsize=10)
    seconds = [max(own.seconds, MIN_SECONDS) for own in group.values()]
    axis.set_xscale("log")
    # Whole decades: there are at least two labels, and none between them.
    axis.set_xlim(10 ** math.floor(math.log10(0.8 * min(seconds))), 10 ** math.ceil(math.log10(1.25 * max(seconds))))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_ylabel("% wrong" if _has_classes(group) else "rmse", fontsize=8)
    axis.tick_params(labelsize=8)
    axis.grid(alpha=0.3)


def _has_classes(group: dict[str, Summary]) -> bool:
    """Return whether a data set has classes rather than numbers to predict."""
    return next(iter(group.values())).task == "classes"


def _top(group: dict[str, Summary]) -> float:
    """Return the error at which larger ones are drawn."""
    return MAX_RATIO * max(min(own.error for own in group.values()), 0.05 if _has_classes(group) else 0.0)


def _label_cut(axis: Any, group: dict[str, Summary]) -> None:
    """Write the errors of what is drawn at the upper edge, from left to right."""
    top = _top(group)
    cut = sorted((own for own in group.values() if own.error > top), key=lambda own: own.seconds)
    labels = [Label(f"{own.error:.3g}", (max(own.seconds, MIN_SECONDS), top), {"fontsize": 7}, 270) for own in cut]
    write_labels(axis, labels)


def _style(name: str) -> dict[str, Any]:
    """Return the mark of a method: black circles that grow with the width for craftmaps, colours for the others."""
    if name in GROUPS["craftmaps"]:
        size = 3.5 + 1.2 * GROUPS["craftmaps"].index(name)
        return {"color": OURS, "marker": "o", "markersize": size, "linestyle": "none"}
    place = GROUPS["competitors"].index(name)
    colours = mpl.colormaps["tab10"].colors
    return {"color": colours[place], "marker": MARKERS[place], "markersize": 6, "linestyle": "none"}


def _legend(figure: Figure, drawn: set[str]) -> None:
    """Add one legend for all panels."""
    names = [name for name in METHODS if name in drawn]
    marks = [Line2D([], [], **_style(name)) for name in names]
    figure.legend(marks, names, loc="outside lower center", ncols=6, fontsize=9, frameon=False)
