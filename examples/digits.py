"""Compare feature maps of one width on handwritten digits.

Every map gets the same kernel, (x.y + 1)^7, and the same number of columns E. For each one the script
measures how far the inner products of its features are from the kernel, how long a row takes, and how
well a linear classifier does on the features. For the maps of this library it also prints the error
that `craftmaps.plan.predicted_error` computes from closed forms. The data is what scikit-learn ships;
nothing is downloaded.
"""

import argparse
import base64
import csv
import html
import io
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

import craftmaps
from craftmaps import CraftMap, LandmarkMap, Polynomial, RandomMaclaurin, TensorSketch
from craftmaps.diagnostics import feature_log_scree, kernel_error, log_scree
from craftmaps.feature_map import KernelMap
from craftmaps.parallel import n_threads
from craftmaps.plan import predicted_error

KERNEL = Polynomial(degree=7, coef0=1.0)
UP_FACTOR = 8
PAPERS_MAP = "RandomMaclaurin, geometric"
ALPHAS = np.logspace(-5, 3, 9)
REPEATS = 3
# Colours of Okabe and Ito, which colour-blind people can tell apart.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
PAGE = Template("""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Feature maps on digits</title>
<style>
:root { --ink: #1b1b1b; --paper: #fff; --line: #d5d5d5; --soft: #f3f5f7; --mark: #0072b2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --paper: #000; --line: #3a3a3a; --soft: #161616; --mark: #56b4e9; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; background: var(--paper); color: var(--ink);
       font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.2; }
p, dl { max-width: 46rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: .35rem .8rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; padding-left: .4rem; }
thead th { border-bottom: 2px solid var(--mark); }
tbody tr:nth-child(even) { background: var(--soft); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; }
img { display: block; width: 100%; height: auto; }
dt { font-weight: 600; }
dd { margin: 0 0 .5rem; }
@media (max-width: 40rem) {
  table { font-size: .75rem; line-height: 1.3; white-space: normal; }
  th, td { padding: .3rem; }
  th:first-child, td:first-child { padding-left: .1rem; }
}
</style>
<h1>Feature maps on digits</h1>
<p>$summary</p>
<div class="scroll"><table>
<thead><tr>$head</tr></thead>
<tbody>
$body
</tbody>
</table></div>
<p>$baseline</p>
<div class="plots">
$plots
</div>
<dl>
<dt>kernel error</dt>
<dd>Frobenius norm of (ZZ' - K) over that of K on the test rows: mean and standard deviation over the seeds.</dd>
<dt>predicted</dt>
<dd>The same error from closed forms, without mapping a row: the root mean square over all draws of the
map. Single draws scatter around it; with a high degree and few columns most do better and a few much worse.</dd>
<dt>us/row</dt>
<dd>Microseconds to map one row, in double precision, median of several warm calls on all rows.</dd>
<dt>test error</dt>
<dd>Of a ridge classifier on the features, its penalty chosen on the training rows. It need not follow the
kernel error: a map that keeps the pixels as columns can classify well and estimate the kernel badly.</dd>
<dt>log-scree</dt>
<dd>Eigenvalues of the kernel matrix of the test rows and of its estimates (cf. Figure 2a of "Compact random
feature maps", 2014). Where a curve drops away from the exact one, columns are wasted; a
compact map, made of $up columns and projected down to $width, wastes fewer.</dd>
</dl>
</html>
""")
EXAMPLE = """example:
  python examples/digits.py --out demo --components 512 --seeds 5

writes demo/digits.csv, demo/digits.png and demo/index.html."""


@dataclass
class Digits:
    """The rows, of unit length, and one fixed split into training and test rows."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    train: NDArray[np.int64]
    test: NDArray[np.int64]

    @classmethod
    def load(cls) -> "Digits":
        """Load the rows and keep a third of them for testing."""
        X, y = load_digits(return_X_y=True)
        train, test = train_test_split(np.arange(y.size), test_size=1 / 3, stratify=y, random_state=0)
        return cls(normalize(X), y, train, test)

    def test_error(self, Z: NDArray[np.float64]) -> float:
        """Return the test error of a ridge classifier on features Z; alpha is chosen on the training rows."""
        classifier = RidgeClassifierCV(ALPHAS).fit(Z[self.train], self.y[self.train])
        return 1 - classifier.score(Z[self.test], self.y[self.test])


@dataclass
class Result:
    """What was measured of one map, one number a seed."""

    name: str
    errors: list[float] = field(default_factory=list)
    predictions: list[float] = field(default_factory=list)
    microseconds: list[float] = field(default_factory=list)
    test_errors: list[float] = field(default_factory=list)
    features: list[NDArray[np.float64]] = field(default_factory=list)  # of the test rows

    @property
    def error(self) -> float:
        """Mean of the measured errors."""
        return statistics.mean(self.errors)

    @property
    def spread(self) -> float | None:
        """Standard deviation of the measured errors over the seeds; none for a single seed."""
        return statistics.stdev(self.errors) if len(self.errors) > 1 else None

    @property
    def prediction(self) -> float | None:
        """Predicted error; none for a map of another library."""
        return statistics.mean(self.predictions) if self.predictions else None

    @property
    def time(self) -> float:
        """Median time of a row, in microseconds."""
        return statistics.median(self.microseconds)

    @property
    def test_error(self) -> float:
        """Mean test error of the classifier."""
        return statistics.mean(self.test_errors)


def makers(width: int) -> dict[str, Callable[[int], Any]]:
    """Return what to compare: names, and how to make the map for a seed."""
    up = UP_FACTOR * width
    theirs = {"degree": KERNEL.degree, "coef0": KERNEL.coef0, "gamma": KERNEL.gamma, "n_components": width}
    return {
        PAPERS_MAP: lambda s: RandomMaclaurin(KERNEL, width, degrees="geometric", random_state=s),
        "RandomMaclaurin": lambda s: RandomMaclaurin(KERNEL, width, random_state=s),
        "RandomMaclaurin, complex": lambda s: RandomMaclaurin(KERNEL, width, complex_weights=True, random_state=s),
        "TensorSketch": lambda s: TensorSketch(KERNEL, width, random_state=s),
        "CraftMap over TensorSketch": lambda s: CraftMap(
            KERNEL, width, up="tensorsketch", up_components=up, random_state=s
        ),
        "CraftMap": lambda s: CraftMap(KERNEL, width, up_components=up, random_state=s),
        "LandmarkMap": lambda s: LandmarkMap(KERNEL, width, random_state=s),
        "sklearn PolynomialCountSketch": lambda s: PolynomialCountSketch(**theirs, random_state=s),
        "sklearn Nystroem": lambda s: Nystroem(kernel="polynomial", **theirs, random_state=s),
    }


def measure(name: str, make: Callable[[int], Any], digits: Digits, n_seeds: int) -> Result:
    """Fit a map on the training rows for every seed; measure it on the test rows."""
    result, rows = Result(name), digits.X[digits.test]
    for seed in range(n_seeds):
        # Matrices this small are fastest on one thread, and that leaves the other cores alone.
        with craftmaps.threads(1):
            feature_map = make(seed).fit(digits.X[digits.train])
        Z = feature_map.transform(digits.X)  # compiles on the first call
        for _ in range(REPEATS):
            started = time.perf_counter()
            feature_map.transform(digits.X)
            result.microseconds.append(1e6 * (time.perf_counter() - started) / digits.y.size)
        with craftmaps.threads(1):
            result.features.append(Z[digits.test])
            result.errors.append(kernel_error(Z[digits.test], KERNEL(rows)))
            result.test_errors.append(digits.test_error(Z))
            if isinstance(feature_map, KernelMap):
                result.predictions.append(predicted_error(feature_map, rows))
    return result


def spectra(results: dict[str, Result], digits: Digits, width: int) -> dict[str, NDArray[np.float64]]:
    """Return the log-scree of the kernel matrix of the test rows, and of what four maps make of it."""
    rows = digits.X[digits.test]
    up = RandomMaclaurin(KERNEL, UP_FACTOR * width, degrees="geometric")
    compact = CraftMap(KERNEL, width, up=up, random_state=0).fit(digits.X[digits.train]).transform(rows)
    with craftmaps.threads(1):
        return {
            "exact kernel": log_scree(KERNEL(rows)),
            PAPERS_MAP: feature_log_scree(results[PAPERS_MAP].features[0]),
            "CraftMap over geometric": feature_log_scree(compact),
            "TensorSketch": feature_log_scree(results["TensorSketch"].features[0]),
            "CraftMap over TensorSketch": feature_log_scree(results["CraftMap over TensorSketch"].features[0]),
        }


def table(results: list[Result]) -> list[list[str]]:
    """Return header and rows of the table as text."""
    rows = [["map", "kernel error", "predicted", "us/row", "test error"]]
    for r in results:
        predicted = "-" if r.prediction is None else f"{r.prediction:.3f}"
        measured = f"{r.error:.3f}" + ("" if r.spread is None else f" +- {r.spread:.3f}")
        rows.append([r.name, measured, predicted, f"{r.time:.1f}", f"{100 * r.test_error:.1f} %"])
    return rows


def aligned(rows: list[list[str]]) -> str:
    """Lay a table out: names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells))
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def write_csv(path: Path, results: list[Result], width: int) -> None:
    """Write the numbers of the table, unrounded."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        names = "map n_components n_seeds kernel_error kernel_error_sd predicted_error microseconds_per_row test_error"
        writer.writerow(names.split())
        for r in results:
            # None is written as an empty cell.
            row = [r.name, width, len(r.errors), r.error, r.spread, r.prediction, round(r.time, 3), r.test_error]
            writer.writerow(row)


def draw_errors(axes: Axes, results: list[Result]) -> None:
    """Draw the measured error of every seed, their mean, and the prediction."""
    ink = matplotlib.rcParams["text.color"]
    for place, r in enumerate(reversed(results)):
        color = BLUE if r.predictions else ORANGE
        axes.plot(r.errors, [place] * len(r.errors), "o", color=color, alpha=0.6, markersize=5, markeredgewidth=0)
        axes.plot(r.error, place, "o", color=color, markersize=9)
        if r.prediction is not None:
            axes.plot(r.prediction, place, "D", color=ink, markersize=9, fillstyle="none", markeredgewidth=1.5)
    axes.set_yticks(range(len(results)), [r.name for r in reversed(results)])
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("relative kernel error")
    axes.set_title("Error: measured and predicted")
    axes.grid(axis="both", alpha=0.25)
    handles = [
        axes.plot([], [], "o", color=BLUE, markersize=9, label="mean, craftmaps")[0],
        axes.plot([], [], "o", color=ORANGE, markersize=9, label="mean, scikit-learn")[0],
        axes.plot([], [], "o", color="gray", markersize=5, markeredgewidth=0, label="one seed")[0],
        axes.plot([], [], "D", color=ink, fillstyle="none", markersize=9, label="predicted")[0],
    ]
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.4, -0.14), ncols=2, frameon=False)


def draw_screes(axes: Axes, screes: dict[str, NDArray[np.float64]], width: int) -> None:
    """Draw the logarithms of the eigenvalues, the largest first, as Figure 2a of the paper does."""
    styles = ((matplotlib.rcParams["text.color"], "-"), (ORANGE, "-"), (ORANGE, "--"), (GREEN, "-"), (GREEN, ":"))
    for (label, scree), (color, line) in zip(screes.items(), styles, strict=True):
        shown = np.flatnonzero(np.isfinite(scree[: int(1.3 * width)]))
        axes.plot(shown + 1, scree[shown], line, color=color, linewidth=2, label=label)
    axes.set_xlabel("eigenvalue number")
    axes.set_ylabel("log10 of the eigenvalue")
    axes.set_title("Log-scree of the kernel matrix")
    axes.grid(alpha=0.25)
    axes.legend(loc="lower left", frameon=False)


def draw(panels: list[Callable[[Axes], None]], dark: bool = False) -> bytes:
    """Draw panels side by side and return the PNG."""
    style = ["dark_background"] if dark else []
    # A Figure made without pyplot is drawn by Agg and needs no display.
    with matplotlib.style.context(style), matplotlib.rc_context({"font.size": 11, "axes.titlesize": 13}):
        figure = Figure(figsize=(5.8 * len(panels), 5), layout="constrained")
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            panel(axes)
        image = io.BytesIO()
        figure.savefig(image, format="png", dpi=150)
    return image.getvalue()


def write_page(path: Path, results: list[Result], width: int, notes: dict[str, str], panels: list) -> None:
    """Write one page with the table and the panels in it, for light and dark screens, wide and narrow."""
    head, *body = [[html.escape(cell).replace("+- ", "&plusmn;&nbsp;") for cell in row] for row in table(results)]
    plots = [
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{data_url(draw([panel], dark=True))}">'
        f'<img src="{data_url(draw([panel]))}" alt="{alt}"></picture>'
        for panel, alt in zip(panels, ("Measured and predicted kernel error", "Log-scree plot"), strict=True)
    ]
    page = PAGE.substitute(
        {name: html.escape(text) for name, text in notes.items()},
        head="".join(f"<th>{cell}</th>" for cell in head),
        body="\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in body),
        plots="\n".join(plots),
        up=UP_FACTOR * width,
        width=width,
    )
    path.write_text(page, encoding="utf-8")


def data_url(png: bytes) -> str:
    """Return an image as an address that holds it."""
    return "data:image/png;base64," + base64.b64encode(png).decode()


def counted(n: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{n} {noun}" + "s" * (n != 1)


def say(text: str) -> None:
    """Report progress."""
    print(text, file=sys.stderr, flush=True)


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Compare feature maps of one width on handwritten digits: kernel error, speed, test error.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="folder to write to (demo)")
    parser.add_argument("--components", type=int, default=256, metavar="E", help="width of every map, 16 to 512 (256)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="number of seeds, 1 to 20 (3)")
    arguments = parser.parse_args()
    for name, low, high in (("components", 16, 512), ("seeds", 1, 20)):
        if not low <= getattr(arguments, name) <= high:
            parser.error(f"--{name} must be from {low} to {high}, got {getattr(arguments, name)}")
    return arguments


def main() -> None:
    """Measure, print and write everything."""
    arguments = parse_arguments()
    width, digits = arguments.components, Digits.load()
    say(f"Mapping {digits.y.size} digits to {width} columns. The first run compiles the loops, for up to a minute.")
    results = {}
    for name, make in makers(width).items():
        say(f"  {name} ...")
        results[name] = measure(name, make, digits, arguments.seeds)
    rows = list(results.values())
    with craftmaps.threads(1):
        pixels = 100 * digits.test_error(digits.X)
    baseline = f"The same classifier on the pixels themselves: {pixels:.1f} % test error."
    print(f"\n{aligned(table(rows))}\n\n{baseline}")

    say("Drawing ...")
    summary = (
        f"{digits.y.size} digits of 8 x 8 pixels, rows of unit length, kernel (x.y + 1)^{KERNEL.degree}, "
        f"E = {width} columns, D = {UP_FACTOR * width} for the compact maps, {counted(arguments.seeds, 'seed')}, "
        f"{counted(n_threads(), 'thread')}. Maps are fitted on {digits.train.size} rows; errors are those on the "
        f"other {digits.test.size}."
    )
    screes = spectra(results, digits, width)
    panels = [lambda axes: draw_errors(axes, rows), lambda axes: draw_screes(axes, screes, width)]
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    python, here = Path(sys.executable), Path.cwd()
    python = python.relative_to(here) if python.is_relative_to(here) else "python"
    other = 2 * width if width <= 256 else width // 2
    write_csv(out / "digits.csv", rows, width)
    (out / "digits.png").write_bytes(draw(panels))
    write_page(out / "index.html", rows, width, {"summary": summary, "baseline": baseline}, panels)
    print(
        f"\nWrote {out / 'index.html'} (open it in a browser), {out / 'digits.png'} and {out / 'digits.csv'}.\n"
        f"Next: {python} {sys.argv[0]} --components {other} --seeds 5, or the examples in README.md."
    )


if __name__ == "__main__":
    main()
