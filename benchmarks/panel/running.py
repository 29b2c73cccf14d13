"""Run cells, each in a process of its own with the same threads and limits of processor time and memory."""

import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measuring import environment, say
from benchmarks.panel import records
from benchmarks.panel.cell import write_rows
from benchmarks.panel.data_sets import DATA_SETS
from benchmarks.panel.methods import METHODS
from benchmarks.panel.processes import result_of
from benchmarks.panel.splits import Split, development_split, panel_split

COMPETITORS = ("lightgbm", "xrfm", "torch")


class Plan(NamedTuple):
    """What to run, and within which limits."""

    data: list[str]
    methods: list[str]
    seeds: list[int]
    threads: int
    seconds: float
    own_seconds: dict[str, float]
    memory_gb: float
    is_development: bool
    results: Path

    def seconds_of(self, method: str) -> float:
        """Return the time limit of a method."""
        return min(self.seconds, self.own_seconds.get(method, self.seconds))


def run(plan: Plan) -> None:
    """Run all cells that have no result yet, data set by data set."""
    _check_mode(plan)
    here = environment(*COMPETITORS)
    for name in plan.data:
        data_set = DATA_SETS[name]
        if not data_set.is_found:
            say(f"{name}: skipped, CRAFTMAPS_DATA has no folder {data_set.folder}")
            continue
        if data_set.is_pooled and plan.is_development:
            say(f"{name}: skipped, its test rows are open rows of another data set")
            continue
        for seed in plan.seeds:
            missing = _missing(plan, name, seed)
            if not missing:
                continue
            with tempfile.TemporaryDirectory(prefix="panel-") as folder:
                split = split_of(name, seed, plan.is_development)
                write_rows(Path(folder), split)
                sizes = {"n_train": len(split.y_train), "n_test": len(split.y_test)}
                del split
                for method in missing:
                    cell = {"data": name, "method": method, "seed": seed, "threads": plan.threads}
                    record = cell | {"task": data_set.task, **sizes, "development": plan.is_development}
                    record |= _skipped(plan, cell) or _measured(plan, record, Path(folder))
                    records.append(plan.results, record, here)
                    say(_line(record))


def split_of(name: str, seed: int, is_development: bool) -> Split:
    """Return the rows of a data set for a seed; rows for development contain no test row."""
    table = DATA_SETS[name].read(seed)
    return development_split(table, seed) if is_development else panel_split(table, seed)


def _check_mode(plan: Plan) -> None:
    """Refuse to add results of development to those of the panel, and the other way round."""
    if any(record["development"] != plan.is_development for record in records.read(plan.results)):
        raise SystemExit(f"--results must not hold both development and panel, got {plan.results}.")


def _missing(plan: Plan, name: str, seed: int) -> list[str]:
    """Return the methods without a result, or that failed; on pooled rows, the ones that report their own error."""
    methods = [m for m in plan.methods if not DATA_SETS[name].is_pooled or METHODS[m].own_error is not None]
    done = {records.key(record) for record in records.read(plan.results) if record["status"] != "failed"}
    return [method for method in methods if (name, method, seed, plan.threads) not in done]


def _skipped(plan: Plan, cell: dict[str, Any]) -> dict[str, Any] | None:
    """Return a result without a run if the method ran out of time or memory with another seed."""
    limit = plan.seconds_of(cell["method"])
    for record in records.read(plan.results):
        same = all(record[name] == cell[name] for name in ("data", "method", "threads"))
        ended = record["status"] == "timed out" and record["limit_seconds"] >= limit
        if same and (ended or record["status"] == "out of memory"):
            return {"status": record["status"], "reason": f"with seed {record['seed']}", "limit_seconds": limit}
    return None


def _measured(plan: Plan, record: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Measure a cell in a process; return its values or why there are none."""
    seconds = plan.seconds_of(record["method"])
    arguments = (record["method"], record["task"], record["threads"], record["seed"], seconds, folder)
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.panel.cell", *map(str, arguments)]
    return result_of(command, plan.threads, seconds, plan.memory_gb)


def _line(record: dict[str, Any]) -> str:
    """Describe a finished cell; errors on test rows are for `collect`, and are not shown on the way."""
    line = f"{record['data']}, {record['method']}, seed {record['seed']}: {record['status']}"
    if record["status"] != "finished":
        return f"{line} {record.get('reason', '')}".rstrip()
    if record["development"]:
        line += f", error {record['error']:.4g}"
    return f"{line}, {record['fit_cpu_seconds']:.2f} s of processor, {record['fit_seconds']:.2f} s"
