"""Run the cells that have no result yet, one at a time."""

import json
import sys
import tempfile
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measuring import environment, say
from benchmarks.panel import records
from benchmarks.panel.cell import write_rows
from benchmarks.panel.processes import result_of
from benchmarks.panel.splits import panel_split
from benchmarks.scoreboard.board import Board, Cell
from benchmarks.scoreboard.data_sets import DATA_SETS, STREAMS


class Plan(NamedTuple):
    """Which cells to run, with which interpreters, and where results go."""

    board: Board
    cells: list[Cell]
    interpreters: dict[str, str]
    results: Path


def run(plan: Plan) -> None:
    """Run cells data set by data set, so that rows are written once for a seed."""
    done = {records.key(record) for record in records.read(plan.results) if record["status"] != "failed"}
    cells = [cell for cell in plan.cells if _key(plan.board, cell) not in done]
    here = environment()
    for (data, seed), group in groupby(cells, lambda cell: (cell.data, cell.seed)):
        if not DATA_SETS[data].is_found:
            say(f"{data}: skipped, CRAFTMAPS_DATA has no folder {DATA_SETS[data].folder}")
            continue
        with tempfile.TemporaryDirectory(prefix="scoreboard-") as folder:
            split = panel_split(DATA_SETS[data].read(seed), seed)
            write_rows(Path(folder), split)
            sizes = {"n_train": len(split.y_train), "n_test": len(split.y_test), "n_columns": split.X_train.shape[1]}
            del split
            for cell in group:
                record = _named(plan.board, cell) | {"task": "classes"} | sizes
                record |= _skipped(plan, cell) or _measured(plan, cell, folder)
                records.append(plan.results, record, here)
                say(_line(record))


def _key(board: Board, cell: Cell) -> tuple[str, str, int, int]:
    return records.key(_named(board, cell))


def _named(board: Board, cell: Cell) -> dict[str, Any]:
    """Return what a cell is identified by."""
    return {"data": cell.data, "method": cell.method.name, "seed": cell.seed, "threads": board.threads}


def _skipped(plan: Plan, cell: Cell) -> dict[str, Any] | None:
    """Return a result without a run if a method has no interpreter, or exceeded a limit with another seed."""
    name = cell.method.interpreter
    if name and name not in plan.interpreters:
        return {"status": "not run", "reason": f"needs --interpreter {name}=PATH with {cell.method.packages}"}
    for record in records.read(plan.results):
        same = record["data"] == cell.data and record["method"] == cell.method.name
        if same and record["status"] in ("timed out", "out of memory") and record["seed"] != cell.seed:
            seconds = cell.method.seconds
            return {"status": record["status"], "reason": f"with seed {record['seed']}", "limit_seconds": seconds}
    return None


def _measured(plan: Plan, cell: Cell, folder: str) -> dict[str, Any]:
    """Measure a cell in a process; return its values or why there are none."""
    method = cell.method
    order = {
        "adapter": method.adapter,
        "settings": method.settings_on(cell.data),
        "packages": method.packages,
        "scaling": plan.board.scalings[cell.data],
        "is_stream": cell.data in STREAMS,
        "threads": plan.board.threads,
        "seed": cell.seed,
        "seconds": method.seconds,
        "folder": folder,
    }
    python = plan.interpreters.get(method.interpreter, sys.executable)
    command = [python, "-W", "ignore", "-m", "benchmarks.scoreboard.cell", json.dumps(order)]
    settings = {"settings": order["settings"]}
    return settings | result_of(command, plan.board.threads, method.seconds, plan.board.memory_gb)


def _line(record: dict[str, Any]) -> str:
    """Describe a cell; errors on test rows are for `collect`, and are not shown on the way."""
    line = f"{record['data']}, {record['method']}, seed {record['seed']}: {record['status']}"
    if record["status"] != "finished":
        return f"{line} {record.get('reason', '')}".rstrip()
    return f"{line}, {record['fit_cpu_seconds']:.2f} s of processor, {record['fit_seconds']:.2f} s"
