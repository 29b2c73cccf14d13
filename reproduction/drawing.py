"""Figures, made from the results alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imsave
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray

from craftmaps import datasets
from reproduction import figure2, illustrations, supported
from reproduction.claims import Pair, by_seed
from reproduction.infinite_digits import SIDE, InfiniteDigits
from reproduction.methods import METHODS, OURS
from reproduction.table_section import TITLES
from reproduction.text import width_text

matplotlib.use("Agg")
# Colours of Okabe and Ito, which colour-blind people can tell apart; compact maps are dashed, as in the paper.
STYLES: dict[str, dict[str, Any]] = {
    figure2.EXACT: {"color": "black"},
    "RFM": {"color": "#D55E00"},
    "TS": {"color": "#009E73"},
    "CM RFM": {"color": "#D55E00", "linestyle": "--"},
    "CM TS": {"color": "#009E73", "linestyle": "--"},
    OURS: {"color": "#0072B2"},
}


def draw_illustrations(folder: Path) -> None:
    """Draw Figures 1 and 3, which need no results."""
    _save(illustrations.draw(*illustrations.independent_signs()), folder / "figure1.png")
    _save(illustrations.draw(*illustrations.hadamard_blocks()), folder / "figure3.png")


def draw_figure2(pairs: list[Pair], path: Path) -> None:
    """Draw the spectra of the first seed, and the weights of RFM and of the compact map over it."""
    first = {cell["method"]: values for cell, values in pairs if cell["seed"] == 0}
    figure, axes = _axes(1, 3)
    for method, values in first.items():
        heights = [np.nan if value is None else value for value in values["log_scree"]]
        axes[0].plot(np.arange(1, len(heights) + 1), heights, label=method, **STYLES[method])
    _label(axes[0], "(a) log-scree", "rank of the eigenvalue", "log10 of the eigenvalue")
    for axis, letter, method in zip(axes[1:], "bc", ("RFM", "CM RFM"), strict=True):
        if method in first:
            counts = first[method]["counts"]
            edges = np.linspace(-1, 1, len(counts) + 1)
            axis.stairs(counts, edges, fill=True, color=STYLES[method]["color"])
        _label(axis, f"({letter}) weights, {method}", "weight / largest", "features")
    _save(figure, path)


def draw_figure4(pairs: list[Pair], path: Path) -> None:
    """Draw a panel for each data set."""
    names = list(dict.fromkeys(cell["dataset"] for cell, _ in pairs))
    figure, axes = _axes(2, 3)
    for axis, name in zip(axes, names, strict=False):
        _curves(axis, [pair for pair in pairs if pair[0]["dataset"] == name], "components", "kernel_error")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        _label(axis, name.upper(), "E", "relative kernel error")
    _save(figure, path)


def draw_figure5(pairs: list[Pair], path: Path) -> None:
    """Draw the error against the degree."""
    figure, (axis,) = _axes(1, 1)
    _curves(axis, pairs, "degree", "kernel_error")
    axis.set_yscale("log")
    _label(axis, "MNIST", "degree", "relative kernel error")
    _save(figure, path)


def draw_figure6(pairs: list[Pair], path: Path) -> None:
    """Draw a panel for each width."""
    widths = sorted({cell["components"] for cell, _ in pairs})
    figure, axes = _axes(1, max(len(widths), 1), share_x=True)
    for axis, width in zip(axes, widths, strict=False):
        own = [pair for pair in pairs if pair[0]["components"] == width]
        _curves(axis, own, "rows", "error")
        axis.set_xscale("log")
        _label(axis, f"E = {width_text(width)}", "training rows", "test error, %")
        numbers = sorted({cell["rows"] for cell, _ in pairs})
        axis.set_xticks(numbers, [f"{n / 1e6:g}M" if n >= 10**6 else f"{n // 1000}k" for n in numbers])
        axis.minorticks_off()
    _save(figure, path)


def draw_figure7(pairs: list[Pair], path: Path) -> None:
    """Draw a point for each width and seed, and a line through the means."""
    figure, (axis,) = _axes(1, 1, size=(6.5, 4.5))
    for method in METHODS:
        own = [pair for pair in pairs if pair[0]["method"] == method]
        style = STYLES[method] | {"markerfacecolor": "none" if method.startswith("CM") else STYLES[method]["color"]}
        if own:
            _timed(axis, own, lambda values: values["pass_seconds"], method, **style)
        if method == OURS and all("choice_seconds" in values for _, values in own):
            whole = style | {"marker": "s", "markerfacecolor": "none", "linestyle": ":"}
            _timed(axis, own, lambda v: v["pass_seconds"] + v["choice_seconds"], f"{OURS}, with its choices", **whole)
    axis.set_xscale("log")
    axis.set_yscale("log")
    _label(axis, "MNIST", "projection + Hessian, seconds (without penalty and solution)", "test error, %")
    _save(figure, path)


def draw_support(pairs: list[Pair], path: Path) -> None:
    """Draw a panel for each part: test errors against errors on left-out training rows, a point for a candidate."""
    parts = supported.parts_of(pairs)
    figure, axes = _axes(1, max(len(parts), 1), size=(5, 4))
    for axis, part in zip(axes, parts, strict=True):
        support = supported.support_of(pairs, part, "errors")
        look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 5, "color": STYLES[OURS]["color"]}
        hollow: dict[str, Any] = look | {"markerfacecolor": "none"}
        x = np.array([values["left_out_error"] for _, values in support.pairs])
        is_equal = support.is_equal
        axis.plot(x[~is_equal], support.errors[~is_equal], label="told from the best", **hollow)
        axis.plot(x[is_equal], support.errors[is_equal], label="not told from the best", **look)
        chosen: dict[str, Any] = look | {"marker": "*", "markersize": 11, "color": STYLES["RFM"]["color"]}
        best = [(values["left_out_error"], values["error"]) for _, values in support.chosen]
        axis.plot(*np.array(best).T, label="best on left-out rows", **chosen)
        for i, (width, best) in enumerate(supported.paper_bests(part).items()):
            label = "paper's best, by E" if i == 0 else None
            axis.axhline(best, color="black", linestyle=":", linewidth=1, label=label, zorder=0)
            place = axis.get_yaxis_transform()
            side = "top" if i % 2 else "bottom"  # lines may be too close for text between them
            axis.text(0.995, best, width_text(width), transform=place, fontsize=7, ha="right", va=side)
        axis.set_xscale("log")
        axis.set_yscale("log")
        _label(axis, TITLES[part], "error on left-out training rows, %", "test error, %")
    _save(figure, path)


def draw_digits(path: Path) -> None:
    """Draw ten digits, each with nine deformations of it."""
    data = datasets.load("mnist")
    stream = InfiniteDigits(data.X_train, data.y_train)
    canvas = np.zeros((10 * (SIDE + 2), 10 * (SIDE + 2)), np.uint8)
    for digit in range(10):
        for version in range(10):
            index = digit + version * len(data.y_train)
            rows, columns = (slice(k * (SIDE + 2), k * (SIDE + 2) + SIDE) for k in (digit, version))
            canvas[rows, columns] = stream.rows(index, index + 1)[0].reshape(SIDE, SIDE)
    path.parent.mkdir(parents=True, exist_ok=True)
    imsave(path, _enlarged(255 - canvas), cmap="gray", vmin=0, vmax=255)


def _enlarged(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return an image with every pixel doubled along both axes."""
    return np.kron(image, np.ones((2, 2), np.uint8))


def _axes(
    n_rows: int, n_columns: int, share_x: bool = False, size: tuple[float, float] = (4, 3.2)
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a grid of panels."""
    figure = Figure(figsize=(size[0] * n_columns, size[1] * n_rows), layout="constrained")
    return figure, list(np.ravel(figure.subplots(n_rows, n_columns, sharex=share_x)))


def _timed(axis: Axes, pairs: list[Pair], seconds: Callable[[dict[str, Any]], float], label: str, **style: Any) -> None:
    """Draw the errors of a method against its seconds, and a line through the means of the widths."""
    style = {"marker": "o", "markersize": 4, **style}
    widths = sorted({cell["components"] for cell, _ in pairs})
    points = [[(seconds(v), v["error"]) for cell, v in pairs if cell["components"] == width] for width in widths]
    axis.plot(*np.array([np.mean(group, axis=0) for group in points]).T, label=label, **style)
    faint = style | {"linestyle": "none", "alpha": 0.3, "markersize": 3}
    axis.plot(*np.array([point for group in points for point in group]).T, **faint)


def _curves(axis: Axes, pairs: list[Pair], along: str, value: str) -> None:
    """Draw mean and standard deviation of every method; markers are hollow where there are fewer seeds, or one."""
    groups = by_seed(pairs, value, "method", along)
    for i, method in enumerate(METHODS):
        own = {place: groups[name, place] for name, place in sorted(groups) if name == method}
        if own:
            look: dict[str, Any] = {"capsize": 2, "marker": "o", "markersize": 3, **STYLES[method]}
            hollow = look | {"markerfacecolor": "white"}
            shift = 1 + 0.02 * (i - 1.5)  # so that whiskers stand side by side
            first, rest = _at_fewer_seeds(own)
            _curve(axis, first, shift, label=method, **(hollow if max(map(len, own.values())) == 1 else look))
            if rest:
                _curve(axis, rest, shift, **hollow | {"linewidth": 0.8})


def _at_fewer_seeds(own: dict[Any, dict[int, float]]) -> tuple[dict[Any, dict[int, float]], ...]:
    """Cut a curve where it goes on with fewer seeds: a mean over others would look like a rise or a fall.

    The second part begins where the first one ends, with the seeds that all of its places have.
    """
    places = list(own)
    most = max(map(len, own.values()))
    last = max(i for i, place in enumerate(places) if len(own[place]) == most)
    seeds = set.intersection(*(set(own[place]) for place in places[last:]))
    if last == len(places) - 1 or not seeds:
        return own, {}
    first = {place: own[place] for place in places[: last + 1]}
    return first, {place: {seed: own[place][seed] for seed in sorted(seeds)} for place in places[last:]}


def _curve(axis: Axes, own: dict[Any, dict[int, float]], shift: float, **look: Any) -> None:
    """Draw one curve: means, and whiskers of one standard deviation."""
    columns = [list(group.values()) for group in own.values()]
    means = np.array([np.mean(column) for column in columns])
    above = np.array([np.std(column, ddof=1) if len(column) > 1 else 0.0 for column in columns])
    # By the same factor downwards: on a logarithmic axis a mean less its deviation may be nowhere.
    below = means - means / (1 + above / means)
    axis.errorbar(np.array(list(own)) * shift, means, (below, above), **look)


def _label(axis: Axes, title: str, x: str, y: str) -> None:
    """Write what is shown."""
    axis.set(title=title, xlabel=x, ylabel=y)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25)
    for direction in (axis.xaxis, axis.yaxis):
        if direction.get_scale() == "log" and not (direction is axis.xaxis and x == "E"):
            direction.set_major_locator(LogLocator(subs=(1, 2, 5)))
            direction.set_major_formatter(StrMethodFormatter("{x:g}"))
            direction.set_minor_formatter(NullFormatter())


def _save(figure: Figure, path: Path) -> None:
    """Write a picture that is the same, byte for byte, for the same results."""
    shown = _shown(figure)
    if shown:
        figure.legend(
            shown.values(), shown.keys(), loc="outside lower center", ncols=len(shown), frameon=False, fontsize=8
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def _shown(figure: Figure) -> dict[str, Any]:
    """Return the lines of a legend by their labels; the first panel has most seeds, and so the usual markers."""
    shown: dict[str, Any] = {}
    for axis in figure.axes:
        for line, label in zip(*axis.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, line)
    return shown
