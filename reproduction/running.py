"""Running an experiment: estimate every cell, order them by cost, measure what is missing.

An experiment is a module with `NAME`, `cells(settings)`, `cost(cell, rates)` and `measure(cell)`. One whose
cells build on each other sets `IN_ORDER = True`: they are run as they come, by `measure(cell, folder)` with a folder
beside the results for what is kept between them.
"""

import argparse
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from craftmaps._system.memory import available_memory
from craftmaps.datasets import DataNotFound
from reproduction.cells import HERE, Cell, Results, untimed
from reproduction.costs import Cost, Rates

LEVELS = ("tiny", "hour", "all")


def settings_of(name: str, level: str = "all", seeds: int | None = None) -> dict[str, Any]:
    """Return the settings of an experiment: what is common, its own, and what the level changes.

    Levels choose which cells are run; only "tiny" may change what a cell is, and writes elsewhere.
    """
    config = tomllib.loads((HERE / "config.toml").read_text())
    settings = _merged(config["common"], config[name])
    settings = _merged(settings, settings.get(level, {}))
    if seeds is not None:
        settings["seeds"] = seeds
    return {key: value for key, value in settings.items() if key not in LEVELS}


def results_folder(level: str) -> Path:
    """Return where results of a level go; trials are kept apart."""
    return HERE / ("tiny" if level == "tiny" else "") / "results"


def run(experiment: Any, arguments: argparse.Namespace, rates: Rates, missing: set[str]) -> None:
    """Measure the cells of an experiment that are not finished yet, but for those of data sets that are missing."""
    settings = settings_of(experiment.NAME, arguments.level, arguments.seeds)
    results = Results(arguments.results or results_folder(arguments.level), experiment.NAME)
    results.folder.mkdir(parents=True, exist_ok=True)
    wanted = [cell for cell in experiment.cells(settings) if _is_chosen(cell, arguments.only)]
    finished = [cell for cell in wanted if cell in results]
    todo = wanted if arguments.again else [cell for cell in wanted if cell not in results]
    costs = [_cost(experiment, cell, results, rates) for cell in todo]
    order, kept = list(range(len(todo))), ()
    if getattr(experiment, "IN_ORDER", False):
        kept = (results.folder.parent / "state",)
    else:
        order.sort(key=lambda i: costs[i].seconds)
    total = sum(cost.seconds for cost in costs)
    _say(
        f"{experiment.NAME}: {len(wanted)} cells, {len(finished)} finished, "
        f"{len(todo)} to run in about {duration(total)}"
    )
    if arguments.list:
        for i in order:
            print(f"{duration(costs[i].seconds):>9} {costs[i].bytes / 2**30:6.1f} GB  {describe(todo[i])}")
        return
    progress = _Progress(len(order), total)
    for i in order:
        source = todo[i].get("dataset", todo[i].get("source"))
        if source in missing:
            progress.skip(costs[i].seconds)
            continue
        obstacle = _obstacle(costs[i], arguments.deadline)
        if obstacle is not None:
            progress.skip(costs[i].seconds, f"{describe(todo[i])} {obstacle}: not run")
            continue
        progress.begin(describe(todo[i]), costs[i].seconds)
        started = time.perf_counter()
        before = results.values(todo[i])
        try:
            values = experiment.measure(todo[i], *kept)
        except DataNotFound as error:
            missing.add(source)
            progress.skip(costs[i].seconds, f"{source}: not run: no data ({error})")
            continue
        seconds = time.perf_counter() - started
        results.add(todo[i], values, seconds)
        progress.end(costs[i].seconds, seconds)
        if before is not None:
            _say(f"  {_difference(before, values)}")


def main(*experiments: Any, argv: Sequence[str] | None = None) -> None:
    """Run experiments from the command line."""
    about = " ".join((experiments[0].__doc__ or "").split("\n\n")[0].split()) if len(experiments) == 1 else None
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=about)
    parser.add_argument("--level", choices=LEVELS, default="all", help="how much to run; tiny writes to tiny/")
    parser.add_argument("--seeds", type=int, help="how many seeds, instead of what the configuration says")
    parser.add_argument("--only", nargs="*", default=[], metavar="KEY=VALUE", help="run these cells only")
    parser.add_argument(
        "--again", action="store_true", help="run finished cells too, and say which numbers differ; the new ones count"
    )
    parser.add_argument("--minutes", type=float, help="start no cell that would end later than this")
    parser.add_argument("--list", action="store_true", help="print the cells to run and their cost, run none")
    parser.add_argument("--results", type=Path, help="folder of the results")
    arguments = parser.parse_args(argv)
    if arguments.seeds is not None and arguments.seeds < 1:
        parser.error(f"--seeds must be at least 1, got {arguments.seeds}")
    for choice in arguments.only:
        if "=" not in choice:
            parser.error(f"--only must be of the form KEY=VALUE, got {choice!r}")
    arguments.deadline = None if arguments.minutes is None else time.monotonic() + 60 * arguments.minutes
    rates, missing = Rates.measure(), set()
    for experiment in experiments:
        run(experiment, arguments, rates, missing)


def describe(cell: Cell) -> str:
    """Name a cell by what tells it from its neighbours."""
    names = "part dataset split method components columns axes length degree rows change seed".split()
    return ", ".join(f"{name} {cell[name]}" for name in names if name in cell)


def _difference(before: dict[str, Any], values: dict[str, Any]) -> str:
    """Say what is not as it was, but for times."""
    before, values = untimed(before), untimed(values)
    names = [name for name in before | values if before.get(name) != values.get(name)]
    return "; ".join(f"{name} {before.get(name)} before, {values.get(name)} now" for name in names) or "as before"


def duration(seconds: float) -> str:
    """Write a time for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class _Progress:
    """A bar on a terminal, plain lines elsewhere."""

    def __init__(self, n_cells: int, seconds: float):
        self.n_cells, self.left = n_cells, seconds
        self.n_done = 0
        self.is_terminal = sys.stderr.isatty()

    def begin(self, what: str, estimate: float) -> None:
        """Say which cell is being measured."""
        self.what = what
        if self.is_terminal:
            filled = 24 * self.n_done // max(self.n_cells, 1)
            bar = "#" * filled + "." * (24 - filled)
            text = f"[{bar}] {self.n_done}/{self.n_cells}, {duration(self.left)} left | {what} ({duration(estimate)})"
            print(f"\r{text[:150]:<150}", end="", file=sys.stderr, flush=True)

    def end(self, estimate: float, seconds: float) -> None:
        """Count a cell."""
        self.n_done += 1
        self.left = max(0.0, self.left - estimate)
        if not self.is_terminal:
            _say(
                f"{self.n_done}/{self.n_cells} {self.what}: {seconds:.1f} s, estimated {estimate:.1f} s; "
                f"{duration(self.left)} left"
            )
        elif self.n_done == self.n_cells:
            print(file=sys.stderr)

    def skip(self, estimate: float, why: str | None = None) -> None:
        """Count a cell that is not run, and say why where it has not been said."""
        self.n_done += 1
        self.left = max(0.0, self.left - estimate)
        if why is not None:
            _say(why)


def _obstacle(cost: Cost, deadline: float | None) -> str | None:
    """Say why a cell cannot be run now, or return None."""
    memory = available_memory() or cost.bytes
    if cost.bytes > memory:
        return f"needs {cost.bytes / 2**30:.0f} GB, {memory / 2**30:.0f} GB are free"
    if deadline is not None and time.monotonic() + cost.seconds > deadline:
        return f"would take {duration(cost.seconds)}"
    return None


def _cost(experiment: Any, cell: Cell, results: Results, rates: Rates) -> Cost:
    """Return the cost of a cell, with the time that it took for another seed where that is known."""
    cost = experiment.cost(cell, rates)
    seconds = results.seconds_like(cell)
    return cost if seconds is None else cost._replace(seconds=seconds)


def _is_chosen(cell: Cell, choices: Sequence[str]) -> bool:
    """Tell whether a cell is among those asked for; a key given several times allows any of its values."""
    allowed: dict[str, set[str]] = {}
    for choice in choices:
        key, value = choice.split("=", 1)
        allowed.setdefault(key, set()).add(value)
    return all(str(cell.get(key)) in values for key, values in allowed.items())


def _merged(settings: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return settings with changes; tables are merged, all else is replaced."""
    merged = dict(settings)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _say(text: str) -> None:
    """Print to standard error."""
    print(text, file=sys.stderr, flush=True)
