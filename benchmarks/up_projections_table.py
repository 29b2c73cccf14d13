"""Tables and picture of the ways up, from benchmarks/results/up_projections.json.

python benchmarks/up_projections_table.py     # writes benchmarks/up_projections.png; table.py writes the tables
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean, mean, stdev
from typing import Any

FOLDER = Path(__file__).parent
KINDS = ("auto", "D=32E", "direct", "tree, D=4E, leaves of 4", "tree, D=8E, leaves of 1")
PICTURE_WIDTH = 1024


def sizes(setting: str) -> tuple[int, int]:
    """Return the degree and the width that "degree 3, E = 256" names."""
    degree, width = (int(text.split()[-1]) for text in setting.split(","))
    return degree, width


def root_mean_square(errors: Sequence[float]) -> float:
    """Return the root of the mean of squares."""
    return mean(error**2 for error in errors) ** 0.5


def cells(results: dict[str, Any]) -> Iterator[tuple[str, int, int, dict[str, Any]]]:
    """Yield data set, degree, width and the maps there, each with its root mean squared error and time, or None."""
    for key, part in results.items():
        if not key.startswith("errors, "):
            continue
        for setting in sorted(part["result"].keys() - {"columns"}, key=sizes):
            lines, (degree, width) = part["result"][setting], sizes(setting)
            times = results.get(key.replace("errors", "times"), {"result": {}})["result"].get(setting, {})
            measured = {
                kind: {
                    "error": root_mean_square(line["error"]),
                    "draws": line["error"],
                    "microseconds": times.get(kind),
                }
                for kind, line in lines.items()
            }
            yield key.removeprefix("errors, "), degree, width, measured


def summary(results: dict[str, Any]) -> list[list[str]]:
    """Return, for every degree, errors and times over those of the default: geometric means over data sets and E."""
    found = list(cells(results))
    rows = []
    for degree in sorted({degree for _, degree, _, _ in found}):
        row = [str(degree)]
        for kind in KINDS:
            own = [
                measured
                for _, d, width, measured in found
                if d == degree and width <= PICTURE_WIDTH
                if kind in measured
            ]
            row.append(" in ".join(f"{geometric_mean(ratios):.2f}" for ratios in _ratios(own, kind)) if own else "")
        rows.append(row)
    return rows


def _ratios(measured: list[dict[str, Any]], kind: str) -> tuple[list[float], list[float]]:
    """Return errors, of the draws that both have, and times over those of the default."""
    errors, times = [], []
    for maps in measured:
        own, default = zip(*zip(maps[kind]["draws"], maps["default"]["draws"], strict=False), strict=True)
        errors.append(root_mean_square(own) / root_mean_square(default))
        times.append(maps[kind]["microseconds"] / maps["default"]["microseconds"])
    return errors, times


def narrow(results: dict[str, Any]) -> list[list[str]]:
    """Return default and "auto" where "auto" chose something else: errors and microseconds a row."""
    rows = []
    for data, degree, width, measured in cells(results):
        default, auto = measured["default"], measured["auto"]
        if auto["error"] != default["error"]:
            columns = results[f"errors, {data}"]["result"]["columns"]
            numbers = [
                f"{m[what]:.3g}" if m[what] else "" for what in ("error", "microseconds") for m in (default, auto)
            ]
            rows.append([f"{data} ({columns})", str(degree), str(width), *numbers])
    return rows


def learned(results: dict[str, Any]) -> list[list[str]]:
    """Return test errors in percent over the default and over "auto"."""
    rows = []
    for key, part in results.items():
        if key.startswith("learning, "):
            for setting in sorted(part["result"], key=sizes):
                lines = part["result"][setting]
                numbers = [[100 * error for error in lines[kind]] for kind in ("default", "auto")]
                texts = [f"{mean(own):.2f} ± {stdev(own):.2f}" for own in numbers]
                rows.append([key.removeprefix("learning, "), setting, *texts])
    return rows


def draw(results: dict[str, Any], picture: Path) -> None:
    """Draw error against time of a row at one width, a panel for each data set."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import LogLocator, NullFormatter

    found = [cell for cell in cells(results) if cell[2] == PICTURE_WIDTH]
    names, degrees = list(dict.fromkeys(cell[0] for cell in found)), sorted({cell[1] for cell in found})
    marks = dict(zip(("default", *KINDS), "oP^vsD", strict=True))
    figure = Figure(figsize=(12, 7.4), layout="constrained")
    for axis, name in zip(figure.subplots(2, 3).ravel(), names, strict=False):
        for data, degree, _, measured in found:
            if data != name:
                continue
            colour = f"C{degrees.index(degree)}"
            front = [measured[kind] for kind in ("direct", "default", "D=32E")]
            axis.plot([m["microseconds"] for m in front], [m["error"] for m in front], color=colour, lw=0.8)
            for kind, own in measured.items():
                hollow = {"markerfacecolor": "none"} if kind.startswith("tree") else {}
                axis.plot(own["microseconds"], own["error"], marks[kind], color=colour, ms=6, **hollow)
        axis.set(title=name, xscale="log", yscale="log", xlabel="microseconds a row", ylabel="relative kernel error")
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.grid(alpha=0.3)
    handles = [Line2D([], [], color=f"C{i}", label=f"degree {degree}") for i, degree in enumerate(degrees)]
    handles += [
        Line2D(
            [],
            [],
            color="black",
            linestyle="none",
            marker=mark,
            markerfacecolor="none" if kind.startswith("tree") else "black",
            label=f"{kind} (time estimated)" if kind.startswith("tree") else kind,
        )
        for kind, mark in marks.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    figure.suptitle(f"Ways up at E = {PICTURE_WIDTH}: lower and further left is better")
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    draw(json.loads((FOLDER / "results" / "up_projections.json").read_text()), FOLDER / "up_projections.png")
