"""Make the picture and the table of README.md from the results on MNIST.

    python docs/scoreboard.py    # writes docs/pictures/scoreboard.png, and the table between two marks of README.md

The results are those of the scoreboard, or of the panel as long as there is no scoreboard. Both have a line for each
method and seed. Of craftmaps and of the best other methods the picture has all widths, joined by a line; the table has
all widths of craftmaps, and the best one of others.
"""

import hashlib
import json
import re
import sys
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))  # `benchmarks` is found when this file is run by its path, too
FILES = ("scoreboard", "panel")
PICTURE = ROOT / "docs" / "pictures" / "scoreboard.png"
BEGIN, END = "<!-- scoreboard -->\n", "<!-- /scoreboard -->"
OURS = "craftmaps"
MOST = 8  # other methods
# What the methods of a result file are called here, where their names say too little.
NAMES = {"panel": {"SVC": "SVC, 20,000 rows"}}
ACCENT, INK = "#1a5aa5", "#5f6368"


class Line(NamedTuple):
    """One method, over its seeds."""

    method: str
    error: float  # in percent
    seconds: float  # processor seconds of a fit
    row: float  # processor microseconds to predict one row
    size: float | None  # bytes of the model, where they were measured

    @property
    def family(self) -> str:
        """Return the method without its width."""
        return re.sub(r" \d+$", "", self.method)

    def cells(self, has_sizes: bool) -> list[str]:
        """Return the line as cells of a table."""
        name = re.sub(r" (\d+)$", r", E = \1", self.method)
        row = f"{self.row:.2g}" if self.row < 10 else f"{self.row:,.0f}"
        cells = [name, f"{self.error:.2f}", f"{self.seconds:,.0f}", row]
        return [*cells, f"{self.size / 1e3:,.0f}" if self.size else ""] if has_sizes else cells


def result_file() -> Path:
    """Return the file of the scoreboard, or else of the panel."""
    paths = [ROOT / "benchmarks" / "results" / f"{name}.jsonl" for name in FILES]
    return next(path for path in paths if path.exists())


def lines() -> list[Line]:
    """Return the methods that finished, the best first."""
    found: dict[str, list[dict[str, Any]]] = {}
    names = NAMES.get(result_file().stem, {})
    for text in result_file().read_text().splitlines():
        record = json.loads(text)
        if record["data"] == "mnist" and record["status"] == "finished" and record["threads"] == 1:
            found.setdefault(names.get(record["method"], record["method"]), []).append(record)
    return sorted((_line(method, records) for method, records in found.items()), key=lambda line: line.error)


def families() -> dict[str, list[Line]]:
    """Return the lines of our family and of the best other ones, the best first."""
    found: dict[str, list[Line]] = {}
    for line in lines():
        found.setdefault(line.family, []).append(line)
    others = [family for family in found if family != OURS][:MOST]
    return {family: members for family, members in found.items() if family == OURS or family in others}


def _line(method: str, records: list[dict[str, Any]]) -> Line:
    """Return the mean error and the median costs of a method."""
    sizes = [record["model_bytes"] for record in records if "model_bytes" in record]
    return Line(
        method,
        100 * mean(record["error"] for record in records),
        median(record["fit_cpu_seconds"] for record in records),
        1e6 * median(record["predict_cpu_seconds"] / record["n_test"] for record in records),
        median(sizes) if sizes else None,
    )


def table() -> str:
    """Return a table in Markdown: all widths of ours, and the best of the others."""
    best = [members[0] for family, members in families().items() if family != OURS]
    shown = [line for line in lines() if line.family == OURS or line in best]
    has_sizes = any(line.size for line in shown)
    heads = ["MNIST, one thread", "error in %", "training s", "a row in µs", *(["model KB"] if has_sizes else [])]
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)], *(line.cells(has_sizes) for line in shown)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def filled(text: str) -> str:
    """Return README.md with the table between its marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md must have the marks {BEGIN.strip()} and {END}.")
    return before + begin + table() + end + after


def fingerprint() -> str:
    """Return a hash of what the picture shows; it is in the metadata of the file."""
    return hashlib.sha256(repr(lines()).encode()).hexdigest()


def draw(path: Path) -> None:
    """Save the picture, with a hash of what it shows."""
    picture().savefig(path, metadata={"Description": fingerprint()})


def picture() -> "Figure":
    """Draw error against training time, and the widths of a method as one line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 4.6), dpi=130, layout="constrained")
    ax = figure.subplots()
    for family, members in families().items():
        points = sorted((line.seconds, line.error) for line in members)
        colour, width, size, order = (ACCENT, 2, 6, 4) if family == OURS else (INK, 0.6, 5, 3)
        ax.plot(*zip(*points, strict=True), "o-", color=colour, linewidth=width, markersize=size, zorder=order)
    ax.set_title("craftmaps (blue) and others on MNIST: lower and further left is better", fontsize=11)
    ax.set(xscale="log", yscale="log", xlabel="processor seconds of training, choices included, one thread")
    ax.set(ylabel="test error on MNIST")
    _label_ticks(ax)
    ax.margins(x=0.1, y=0.12)
    ax.grid(color="#e4e6e8", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    figure.draw_without_rendering()  # fixes where points are, so that names can keep clear of them
    figure.set_layout_engine("none")
    _write_names(ax)
    return figure


def _label_ticks(ax: "Axes") -> None:
    """Write seconds and percent as plain numbers."""
    from matplotlib.ticker import LogLocator, NullLocator

    for axis, steps, unit in ((ax.xaxis, (1, 2, 5), "s"), (ax.yaxis, (1, 1.5, 2, 3, 5, 7), "%")):
        axis.set_major_locator(LogLocator(subs=steps))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(lambda value, _, unit=unit: f"{value:g} {unit}")


def _write_names(ax: "Axes") -> None:
    """Write the widths of craftmaps below its line, and the names of the best of others beside them."""
    from benchmarks.labels import Label, write_labels

    found = families()
    labels = [
        Label(line.method.replace(f"{OURS} ", "E = "), (line.seconds, line.error), _style(ACCENT), toward=270)
        for line in found.pop(OURS, [])
    ]
    labels += [
        Label(name, (members[0].seconds, members[0].error), _style(INK), toward=0) for name, members in found.items()
    ]
    if left_out := write_labels(ax, labels):
        raise ValueError(f"There is no room for the names {', '.join(left_out)}: draw a larger picture.")


def _style(colour: str) -> dict[str, Any]:
    """Return how a name is written."""
    return {"color": colour, "fontsize": 9}


def main() -> None:
    """Write the picture and the table."""
    draw(PICTURE)
    readme = ROOT / "README.md"
    readme.write_text(filled(readme.read_text()))


if __name__ == "__main__":
    main()
