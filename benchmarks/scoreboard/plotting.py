"""Draw fronts of error against training time, prediction time and bytes, and times against rows and width."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter, NullLocator

from benchmarks.labels import Label, write_labels
from benchmarks.panel import records
from benchmarks.scoreboard.board import Board
from benchmarks.scoreboard.data_sets import STREAMS
from benchmarks.scoreboard.scores import OURS, Score, Scores, finished, is_ours, scores

MAIN = "mnist"
MAX_RATIO = 6.0  # errors beyond this multiple of the smallest are left out, and counted
TICKS = (1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
MIN_RATIO = 1.7  # errors within it are drawn on a linear scale
# Colour tells the kind of a method, the mark the method.
STYLES = {
    OURS: ("black", "o"),
    "Nystroem + Ridge": ("tab:blue", "s"),
    "Nystroem + SGD": ("tab:cyan", "s"),
    "RBFSampler + Ridge": ("tab:blue", "D"),
    "RBFSampler + SGD": ("tab:cyan", "D"),
    "RBFSampler + intelex IncrementalRidge": ("tab:blue", "x"),
    "PolynomialCountSketch + Ridge": ("tab:blue", "^"),
    "PolynomialCountSketch + SGD": ("tab:cyan", "^"),
    "SVC": ("tab:red", "v"),
    "SVC(degree=7)": ("tab:red", "P"),
    "ThunderSVM-CPU": ("tab:red", "<"),
    "EigenPro": ("tab:orange", ">"),
    "xRFM": ("tab:orange", "X"),
    "HistGradientBoosting": ("tab:green", "h"),
    "LightGBM": ("tab:green", "*"),
    "MLPClassifier": ("tab:purple", "p"),
    "Vowpal Wabbit": ("tab:brown", "d"),
    "river": ("tab:brown", "1"),
}


class Cost(NamedTuple):
    """An axis that is smaller the better."""

    label: str
    of: Callable[[Score], float]


COSTS = (
    Cost("training, processor seconds", lambda score: score.seconds),
    Cost("prediction, processor µs a row", lambda score: score.microseconds),
    Cost("model, bytes", lambda score: score.model_bytes),
)


def plot(path: Path, board: Board, folder: Path) -> None:
    """Draw all pictures of a file of results."""
    groups = {data: group for data, own in scores(records.read(path), board).items() if (group := finished(own))}
    if not groups:
        raise SystemExit(f"{path} has no results.")
    longest = max((data for data in groups if data in STREAMS), key=STREAMS.__getitem__, default=None)
    others = [data for data in groups if data != MAIN and (data not in STREAMS or data == longest)]
    for name, chosen in (("front_mnist", [MAIN] if MAIN in groups else []), ("fronts", others)):
        if chosen:
            fronts({data: groups[data] for data in chosen}, board).savefig(folder / f"{name}.png")
    growth(groups, board).savefig(folder / "growth.png", dpi=110)


def fronts(groups: Scores, board: Board) -> Figure:
    """Draw a row of panels for each data set."""
    figure = Figure(figsize=(12, 3.3 * len(groups) + 1.5), dpi=90, layout="constrained")
    rows = figure.subplots(len(groups), len(COSTS), squeeze=False)
    for axes, (data, group) in zip(rows, groups.items(), strict=True):
        for axis, cost in zip(axes, COSTS, strict=True):
            _draw(axis, data, group, cost, board)
    _legend(figure, {board.methods[name].family for group in groups.values() for name in group})
    figure.suptitle(f"Test error against cost, {board.threads} thread: lower and further left is better", fontsize=12)
    figure.draw_without_rendering()  # fixes where points are, so that labels can keep clear of them
    figure.set_layout_engine("none")
    for axes, group in zip(rows, groups.values(), strict=True):
        for axis, cost in zip(axes, COSTS, strict=True):
            _label_ends(axis, group, cost, board)
    return figure


def growth(groups: Scores, board: Board) -> Figure:
    """Draw training time against rows of the stream, and against the width on MNIST."""
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    by_rows, by_width = figure.subplots(1, 2)
    drawn = set()
    for name, method in board.methods.items():
        points = [(n, groups[data][name].seconds) for data, n in STREAMS.items() if name in groups.get(data, {})]
        if points:
            by_rows.plot(*zip(*points, strict=True), **_style(method.family) | {"linewidth": 1.2})
            drawn.add(method.family)
    for name, score in groups.get(MAIN, {}).items():
        width = board.methods[name].settings.get("n_components")
        if width is not None:
            by_width.plot(width, score.seconds, **_style(board.methods[name].family))
            drawn.add(board.methods[name].family)
    _join_widths(by_width, groups.get(MAIN, {}), board)
    by_rows.set(title="generated stream", xlabel="training rows", ylabel="training, processor seconds")
    by_width.set(title=MAIN, xlabel="features E", ylabel="training, processor seconds")
    for axis in (by_rows, by_width):
        axis.set(xscale="log", yscale="log")
        axis.grid(alpha=0.3)
    widths = sorted(
        {method.settings["n_components"] for method in board.methods.values() if "n_components" in method.settings}
    )
    _fixed_ticks(by_width.xaxis, widths)
    _legend(figure, drawn)
    return figure


def _draw(axis: Any, data: str, group: dict[str, Score], cost: Cost, board: Board) -> None:
    """Draw one data set against one cost; a line joins the widths of this library."""
    limit, shown = _shown(group)
    for name, score in shown.items():
        style = _style(board.methods[name].family)
        axis.errorbar(cost.of(score), score.error, yerr=score.spread, zorder=3, **style)
    ours = [score for name, score in shown.items() if is_ours(name, board)]
    axis.plot([cost.of(score) for score in ours], [score.error for score in ours], color="black", linewidth=1.2)
    n_left_out = len(group) - len(shown)
    note = f"; {n_left_out} more above {limit:.2g} %" if n_left_out else ""
    axis.set(xscale="log", xlabel=cost.label, ylabel="% wrong")
    axis.set_title(f"{data}{note}", fontsize=10)
    axis.margins(0.08, 0.14)
    _whole_decades(axis, [cost.of(score) for score in shown.values()])
    errors = [score.error for score in shown.values()]
    if max(errors) > MIN_RATIO * min(errors):
        axis.set_yscale("log")
        low, high = axis.get_ylim()
        _fixed_ticks(axis.yaxis, [tick for tick in TICKS if low <= tick <= high])
    axis.grid(alpha=0.3)


def _shown(group: dict[str, Score]) -> tuple[float, dict[str, Score]]:
    """Return the largest error that is drawn, and what is drawn."""
    limit = MAX_RATIO * min(score.error for score in group.values())
    return limit, {name: score for name, score in group.items() if score.error <= limit}


def _label_ends(axis: Any, group: dict[str, Score], cost: Cost, board: Board) -> None:
    """Write the smallest and the largest width of this library beside their points."""
    ours = [score for name, score in _shown(group)[1].items() if is_ours(name, board)]
    labels = []
    for score, toward in zip((ours[0], ours[-1]) if len(ours) > 1 else ours, (90, 270), strict=False):
        text = f"E = {board.methods[score.method].settings['n_components']}"
        labels.append(Label(text, (cost.of(score), score.error), {"fontsize": 7}, toward))
    write_labels(axis, labels)


def _whole_decades(axis: Any, values: list[float]) -> None:
    """Let an axis begin and end at powers of ten, so that it has labels, and none that overlap."""
    axis.set_xlim(10 ** math.floor(math.log10(0.9 * min(values))), 10 ** math.ceil(math.log10(1.1 * max(values))))
    axis.xaxis.set_minor_formatter(NullFormatter())


def _fixed_ticks(axis: Any, ticks: list[float]) -> None:
    """Label these places and no others."""
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in ticks]))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def _join_widths(axis: Any, group: dict[str, Score], board: Board) -> None:
    """Join the widths of every family by a line."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for name, score in group.items():
        method = board.methods[name]
        if "n_components" in method.settings:
            lines.setdefault(method.family, []).append((method.settings["n_components"], score.seconds))
    for family, points in lines.items():
        axis.plot(*zip(*points, strict=True), color=STYLES[family][0], linewidth=1.2)


def _style(family: str) -> dict[str, Any]:
    """Return colour and mark of a family."""
    colour, mark = STYLES[family]
    size = 8 if mark in "*P1" else 6
    return {"color": colour, "marker": mark, "markersize": size, "linewidth": 0, "clip_on": False}


def _legend(figure: Figure, families: set[str]) -> None:
    """Add one legend for all panels."""
    names = [family for family in STYLES if family in families]
    marks = [Line2D([], [], **_style(family)) for family in names]
    figure.legend(marks, names, loc="outside lower center", ncols=4, fontsize=8.5, frameon=False)
