"""Run cells, each in a process of its own with the same threads and limits of processor time and memory."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measuring import ROOT, environment, say
from benchmarks.panel import records
from benchmarks.panel.cell import write_rows
from benchmarks.panel.data_sets import DATA_SETS
from benchmarks.panel.splits import Split, development_split, panel_split

COMPETITORS = ("lightgbm", "xrfm", "torch")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
    "CRAFTMAPS_NUM_THREADS",
)
STARTING_SECONDS = 20.0  # beyond the time limit: imports, reading rows, warming up
PATIENCE = 4.0  # wall seconds for a processor second, on a busy machine
POLL_SECONDS = 0.2


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
    """Return the methods that have no result yet, or that failed."""
    done = {records.key(record) for record in records.read(plan.results) if record["status"] != "failed"}
    return [method for method in plan.methods if (name, method, seed, plan.threads) not in done]


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
    variables = dict.fromkeys(THREAD_VARIABLES, str(plan.threads))
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.panel.cell", *map(str, arguments)],
            cwd=ROOT,
            env=os.environ | variables,
            stdout=output,
            stderr=errors,
        )
        status = _watched(process, plan.threads * seconds + STARTING_SECONDS, plan.memory_gb)
        output.seek(0)
        errors.seek(0)
        if status is not None:
            return {"status": status, "limit_seconds": seconds}
        if process.returncode:
            last = (errors.read().strip().splitlines() or ["no message"])[-1]
            return {"status": "failed", "reason": last[:300], "limit_seconds": seconds}
        return json.loads(output.read().strip().splitlines()[-1]) | {"limit_seconds": seconds}


def _watched(process: subprocess.Popen, seconds: float, memory_gb: float) -> str | None:
    """Wait for a process; end it if it takes too many processor seconds or too much memory, and say which."""
    started = time.monotonic()
    try:
        while process.poll() is None:
            if _processor_seconds(process.pid) > seconds or time.monotonic() - started > PATIENCE * seconds:
                return "timed out"
            if _resident_gb(process.pid) > memory_gb:
                return "out of memory"
            time.sleep(POLL_SECONDS)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return None


def _processor_seconds(pid: int) -> float:
    """Return user and system time of a process; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_gb(pid: int) -> float:
    """Return the memory of a process; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**30


def _line(record: dict[str, Any]) -> str:
    """Describe a finished cell; errors on test rows are for `collect`, and are not shown on the way."""
    line = f"{record['data']}, {record['method']}, seed {record['seed']}: {record['status']}"
    if record["status"] != "finished":
        return f"{line} {record.get('reason', '')}".rstrip()
    if record["development"]:
        line += f", error {record['error']:.4g}"
    return f"{line}, {record['fit_cpu_seconds']:.2f} s of processor, {record['fit_seconds']:.2f} s"
