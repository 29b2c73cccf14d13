"""The page `README.md` and its figures, made from the results with `python -m reproduction.page`."""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from craftmaps import datasets
from reproduction import (
    drawing,
    exact,
    figure2,
    figure4,
    figure5,
    figure6,
    figure7,
    figure_section,
    table1,
    table_section,
)
from reproduction.cells import Results, environments
from reproduction.claims import OUTCOMES, Pair, verdicts
from reproduction.costs import SQUARE_BYTES, TRIANGLE_BYTES
from reproduction.methods import RIVALS
from reproduction.running import LEVELS, results_folder, settings_of
from reproduction.table_section import width_text

EXPERIMENTS = (table1, exact, figure2, figure4, figure5, figure6, figure7)
TITLES = {"table1": "Table 1: test errors", **figure_section.TITLES}
PLACES = {"table1": table_section.PLACE, **figure_section.PLACES}


def write(level: str, folder: Path | None = None) -> Path:
    """Draw all figures, write the page beside the folder of results, and return its path."""
    folder = folder or results_folder(level)
    finished, n_wanted = {}, {}
    for experiment in EXPERIMENTS:
        results = Results(folder, experiment.NAME)
        wanted = list(experiment.cells(settings_of(experiment.NAME, level)))
        n_wanted[experiment.NAME] = len(wanted)
        finished[experiment.NAME] = [(cell, values) for cell in wanted if (values := results.values(cell)) is not None]
    _draw(finished, folder.parent / "figures")
    parts = [
        _introduction(level),
        _glance(finished, n_wanted),
        table_section.table_section(finished["table1"], finished["exact"], level),
        figure_section.figure_section(finished),
        _settings(level),
        _origins(folder),
    ]
    path = folder.parent / "README.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text("\n\n".join(part.strip() for part in parts) + "\n")
    new.replace(path)
    return path


def _draw(finished: dict[str, list[Pair]], folder: Path) -> None:
    """Draw the figures that there are results for, and remove those that there are none for."""
    drawing.draw_illustrations(folder)
    for name in figure_section.TITLES:
        if finished[name]:
            getattr(drawing, f"draw_{name}")(finished[name], folder / f"{name}.png")
        else:
            (folder / f"{name}.png").unlink(missing_ok=True)
    if finished["figure6"] and datasets.found("mnist"):  # else the picture that is there stays
        drawing.draw_digits(folder / "digits.png")


def _introduction(level: str) -> str:
    """Say what the page is."""
    note = "\n**A trial with tiny sizes: nothing here can be compared with the paper.**\n" if level == "tiny" else ""
    return f"""# The paper's tables and figures, measured again
{note}
R. Hamid, Y. Xiao, A. Gittens, D. DeCoste, "Compact Random Feature Maps", 2014. RFM is Random Maclaurin, TS is
TensorSketch, CM is a compact map over either (up to D dimensions, down to E), and *ours* is
`CraftClassifier(n_components=E)` with its automatic choices. Errors are test errors in percent, mean ± standard
deviation over seeds. Nothing is chosen by looking at test rows. This page is made from `results/` by
`python -m reproduction.page`."""


def _glance(finished: dict[str, list[Pair]], n_wanted: dict[str, int]) -> str:
    """Count how often each claim of the paper holds."""
    lines = [
        "## At a glance",
        "",
        "The paper claims that a compact map beats the map that it is made from. Maps are compared seed by seed;",
        "what is inside the 95 % interval of the difference over the seeds is noise.",
        "",
        f"| where | cells finished | claim | {' | '.join(OUTCOMES)} |",
        "|---|---|---|" + "---|" * len(OUTCOMES),
    ]
    for name, title in TITLES.items():
        done = f"{len(finished[name])} of {n_wanted[name]}"
        if name not in PLACES:
            lines.append(f"| {title} | {done} | see below |{' |' * len(OUTCOMES)}")
            continue
        value = "kernel_error" if name in ("figure4", "figure5") else "error"
        found = list(verdicts(finished[name], value, *PLACES[name]))
        for challenger, rival in RIVALS:
            counts = Counter(v.outcome for v in found if (v.challenger, v.rival) == (challenger, rival))
            numbers = " | ".join(str(counts[outcome]) for outcome in OUTCOMES)
            lines.append(f"| {title} | {done} | {challenger} beats {rival} | {numbers} |")
    return "\n".join([*lines, "", table_section.ours_against_paper(finished["table1"])])


def _settings(level: str) -> str:
    """State what is the paper's and what is ours."""
    settings = settings_of("table1", level)
    degrees = ", ".join(str(settings[part]["degree"]) for part in table_section.TITLES)
    large = "; ".join(
        f"from {step['components']:,} dimensions on {step['cv']} folds and {_powers(step)}"
        for step in settings["large"]
    )
    square, triangle = (
        ", ".join(f"{entry * w**2 / 2**30:.0f} GB at {width_text(w)}" for w in (2**14, 2**15, 2**16))
        for entry in (SQUARE_BYTES, TRIANGLE_BYTES)
    )
    return f"""## What was done as in the paper, and what was not

- As in the paper: rows of unit length, coef0 = {settings["coef0"]}, D = {settings["up_factor"]} E in Table 1, degrees
  sampled as P[N = n] = 2^-(n+1), Hadamard projections up and down, random codes of {settings["code_size"]} bits, and
  one penalty for all bits from cross-validation on training rows. The kernel has degree {degrees} in the five parts
  of Table 1; the paper gives four degrees, for its data sets in order.
- H0/1 (exact constant and linear terms) is used in classifiers wherever it fits: RFM needs E > d + 1 for it, a compact
  map D > d + 1. Figures 2, 4 and 5 are Algorithm 1 to the letter, without it.
- The Hadamard up-projection draws each factor of a feature from blocks of its own: two factors that share a block, as
  the paper allows, bias the estimate.
- Cross-validation takes {settings["cv"]} folds of up to 10,000 training rows and penalties of {_powers(settings)} times
  trace(G) / E; {large}.
- Where there are fewer training rows than features (USPS, COIL100), the same ridge regression is solved in the space of
  rows, with folds of all training rows; for *ours* too, whose choices and map are the library's as everywhere. The
  library itself would come to the same, up to the choice of the penalty on other folds, by way of an E x E matrix.
- "The kernel itself" below a table is the same classifier with exact kernel values, solved in the space of rows, and
  penalties in units of trace(K) / n: what the four maps of the paper approach as E grows (*ours* has kernels of its own
  and is not bound by it). The 60,000 rows of MNIST are too many for it.
- Not in the paper, so ours: the split of COIL100 (two are shown), the values of E in Figure 4, the degrees in Figure 5,
  and the two sets of classes in Figure 2 (digits 0-4 and 5-9).
- Learning takes {square} in double precision, and where that does not
  fit {triangle} in single precision; cells that need more than is free are not run.
- At the same commit the same seed gives the same numbers again, on one thread or several, and `--again` shows whether
  it does. On another processor sums may be rounded otherwise, and a test row or an automatic choice that stands on the
  edge can fall to the other side."""


def _powers(settings: dict[str, Any]) -> str:
    """Write a range of penalties."""
    low, high = settings["log10_alphas"]
    return f"10^{low} to 10^{high}"


def _origins(folder: Path) -> str:
    """Say how to run it again, and where the numbers come from."""
    lines = [
        "## Where the numbers come from",
        "",
        "```",
        "make reproduce        # what fits in an hour",
        "make reproduce-all    # everything",
        "python -m reproduction.table1 --only part=e --seeds 3    # a part alone; --list shows cells and their cost",
        "python -m reproduction.table1 --only part=e --again      # once more: which numbers differ?",
        "```",
        "",
        "Every line of `results/*.jsonl` is a cell: its parameters, what was measured, its seconds and threads, and",
        "the name of a file in `results/environments/`, which has the machine, the versions and the commit:",
        "",
    ]
    commits: dict[str, list[str]] = {}
    for where in sorted(environments(folder), key=lambda where: (where["date"], where["commit"])):
        versions = ", ".join(f"{package} {number}" for package, number in where["versions"].items())
        machine = f"{where['cpu']}, {where['cores']} cores, Python {where['python']}, {versions}"
        commits.setdefault(machine, []).append(where["commit"])
    return "\n".join([*lines, *(f"- {machine}; commits {', '.join(names)}" for machine, names in commits.items())])


def main() -> None:
    """Write the page from the command line."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.page", description="Make the figures and the page.")
    parser.add_argument("--level", choices=LEVELS, default="all")
    parser.add_argument("--results", type=Path, help="folder of the results; the page goes beside it")
    arguments = parser.parse_args()
    print(write(arguments.level, arguments.results))


if __name__ == "__main__":
    main()
