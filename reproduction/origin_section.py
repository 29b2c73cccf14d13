"""The last section of the page: how to run it again, where the numbers come from, and what they depend on."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from reproduction.cells import Cell, environment_of, measured_on_processors, repetitions
from reproduction.classification import CHOICES
from reproduction.methods import OURS
from reproduction.text import counted, listed, width_text

_HOW = """## Where the numbers come from

```
make reproduce        # what fits in an hour, measured anew: results and a page in reproduction/own
make reproduce-all    # all cells of this page that are not finished
python -m reproduction.table1 --only part=e --seeds 3    # a part alone; --list shows cells and their cost
python -m reproduction.table1 --only part=e --again      # once more: which numbers differ?
```

The data sets are read from the folder that `CRAFTMAPS_DATA` names: {datasets}, each in a
folder of its name. What is not there is fetched where that can be done; cells whose data cannot be had are left out.

Every line of `results/*.jsonl` is a cell: its parameters, what was measured, its seconds and threads, and
the name of a file in `results/environments/`, which has the machine, the versions and the commit. Cells of
this page by machine and commit (-dirty: with changes not committed yet, often only other results):
"""
_THREADS = """- On other numbers of threads: the tests of the library hold maps, metrics, choices, statistics and
  solutions, each by itself, to the same bits (`tests/laws/test_blocks_and_threads.py`, and `test_gradient_metric.py`,
  `test_exact_choices.py` and `test_conjugate_gradients.py` in `tests/learner`)."""


def origin_section(folder: Path, origins: Counter[str], wanted: dict[str, list[Cell]], findings: dict[str, str]) -> str:
    """Write it from the environments of the finished cells, from the cells of all experiments and from findings."""
    names = dict.fromkeys(cell["dataset"] for cells in wanted.values() for cell in cells if "dataset" in cell)
    commits: dict[str, Counter[str]] = {}
    environments = [(environment_of(folder, name), n_cells) for name, n_cells in origins.items()]
    for where, n_cells in sorted(environments, key=lambda found: (found[0]["date"], found[0]["commit"])):
        versions = ", ".join(f"{package} {number}" for package, number in where["versions"].items())
        machine = f"{where['cpu']}, {where['cores']} cores, Python {where['python']}, {versions}"
        commits.setdefault(machine, Counter())[where["commit"]] += n_cells
    lines = [
        _HOW.format(datasets=listed(sorted(names))),
        *(
            f"- {machine}: {', '.join(f'{n_cells} of {commit}' for commit, n_cells in counts.items())}"
            for machine, counts in commits.items()
        ),
        "",
        "The same cell again:",
        "",
        *_at_one_commit(folder, wanted),
        _THREADS,
        *_on_processors(folder, findings.get("processors", "")),
    ]
    return "\n".join(lines)


def _at_one_commit(folder: Path, names: Iterable[str]) -> list[str]:
    """Say which cells were measured more than once at one commit, and how often they came out the same."""
    found = {name: again for name in names if (again := repetitions(folder, name))}
    if not found:
        return ["- At one commit: none was measured twice. `--again` does it."]
    everything = [repetition for again in found.values() for repetition in again]
    n_same = sum(repetition.is_same for repetition in everything)
    threads = sorted({n for repetition in everything for n in repetition.threads})
    places = []
    for name, again in found.items():
        widths = sorted({repetition.cell["components"] for repetition in again if "components" in repetition.cell})
        at = f", E = {' to '.join(dict.fromkeys(map(width_text, (widths[0], widths[-1]))))}" if widths else ""
        places.append(f"{name} ({len(again)}{at})")
    return [
        f"- At one commit, on {' or '.join(counted(n, 'thread') for n in threads)}: "
        f"{len(everything)} cells were measured more than once, {n_same} came out the same, "
        f"{len(everything) - n_same} not. They are of {listed(places)}."
    ]


def _on_processors(folder: Path, finding: str) -> list[str]:
    """Say how the choices and errors of *ours* in Table 1 differ between processors, and what was found about it."""
    found = [
        measured
        for cell, measured in measured_on_processors(folder, "table1")
        if cell["method"] == OURS and all(name in values for _, values in measured for name in CHOICES)
    ]
    if not found:
        return []
    n_at_one = sum(len({commit for commit, _ in measured}) == 1 for measured in found)
    apart: dict[bool, list[float]] = {True: [0.0], False: [0.0]}  # errors, by whether choices are the same
    for measured in found:
        errors = [values["error"] for _, values in measured]
        choices = {tuple(values[name] for name in CHOICES) for _, values in measured}
        apart[len(choices) == 1].append(max(errors) - min(errors))
    return [
        "- On another processor sums are rounded otherwise, and a choice of *ours* can fall otherwise. Of "
        f"{len(found)} cells of *ours* in Table 1 that were measured on several processors, {n_at_one or 'none'} of "
        f"them at one commit, {len(apart[False]) - 1} have another kernel, metric or normalisation, with errors up to "
        f"{max(apart[False]):.2f} apart. Those of the other {len(apart[True]) - 1} are up to {max(apart[True]):.2f} "
        f"apart: what commits changed and what processors did is not told apart here. {finding}".rstrip()
    ]
