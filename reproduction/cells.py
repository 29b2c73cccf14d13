"""Cells: the smallest results. Each is measured once, written at once, and skipped when the experiment is run again.

A cell is a dictionary of all parameters that its numbers depend on. Results are JSON lines, one file for
each experiment; a line holds a cell, its values, the seconds and threads it took and the environment it ran in,
by the name of a file in `environments/`. Of two lines of the same cell the later one counts.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measuring import environment
from craftmaps._system.threads import n_threads

Cell = dict[str, Any]
HERE = Path(__file__).resolve().parent


class Repetition(NamedTuple):
    """A cell that was measured more than once at one commit."""

    cell: Cell
    threads: set[int]
    is_same: bool  # all that was measured but times


class Results:
    """The finished cells of one experiment.

    Parameters
    ----------
    folder : Path
        Where the file of the experiment is, or will be.
    name : str
        Name of the experiment.
    """

    def __init__(self, folder: Path, name: str):
        self.folder = folder
        self.path = folder / f"{name}.jsonl"
        self._lines: dict[str, dict[str, Any]] = {}
        self._seconds: dict[str, float] = {}  # of the last run, by the cell without its seed
        self._environment: str | None = None
        for record in _records(self.path):
            self._take(record)

    def __contains__(self, cell: Cell) -> bool:
        return _key(cell) in self._lines

    def values(self, cell: Cell) -> dict[str, Any] | None:
        """Return what was measured for a cell, or None."""
        record = self._lines.get(_key(cell))
        return None if record is None else record["values"]

    def seconds(self, cell: Cell) -> float:
        """Return the time that a finished cell took."""
        return self._lines[_key(cell)]["seconds"]

    def environment(self, cell: Cell) -> str:
        """Return the name of the environment in which a cell was measured."""
        return self._lines[_key(cell)]["environment"]

    def seconds_like(self, cell: Cell) -> float | None:
        """Return the time that this cell took with another seed, the last that was run."""
        return self._seconds.get(_key(cell | {"seed": None}))

    def add(self, cell: Cell, values: dict[str, Any], seconds: float) -> None:
        """Append a finished cell to the file, in one write that has reached the disk on return."""
        if self._environment is None:
            self._environment = _write_environment(self.folder)
        record = {
            "cell": cell,
            "values": values,
            "seconds": round(seconds, 3),
            "threads": n_threads(),
            "environment": self._environment,
        }
        line = json.dumps(record, sort_keys=True).encode() + b"\n"
        if self.path.exists() and not _ends_a_line(self.path):
            line = b"\n" + line
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(file, line)
            os.fsync(file)
        finally:
            os.close(file)
        self._take(record)

    def _take(self, record: dict[str, Any]) -> None:
        """Hold a record."""
        self._lines[_key(record["cell"])] = record
        self._seconds[_key(record["cell"] | {"seed": None})] = record["seconds"]


def environment_of(folder: Path, name: str) -> dict[str, Any]:
    """Return the environment of a result by the name that its line has."""
    return json.loads((folder / "environments" / f"{name}.json").read_text())


def repetitions(folder: Path, name: str) -> list[Repetition]:
    """Return the cells of an experiment that were measured again at the same commit."""
    measured: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record, where in _records_with_environments(folder, name):
        if not where["commit"].endswith("dirty"):
            measured.setdefault((_key(record["cell"]), where["commit"]), []).append(record)
    return [
        Repetition(
            group[0]["cell"],
            {record["threads"] for record in group},
            all(untimed(record["values"]) == untimed(group[0]["values"]) for record in group),
        )
        for group in measured.values()
        if len(group) > 1
    ]


def measured_on_processors(folder: Path, name: str) -> list[tuple[Cell, list[tuple[str, dict[str, Any]]]]]:
    """Return the cells that were measured on several processors: commit and values of the last time on each."""
    measured: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {}
    for record, where in _records_with_environments(folder, name):
        measured.setdefault(_key(record["cell"]), {})[where["cpu"]] = where["commit"], record["values"]
    return [(json.loads(key), list(own.values())) for key, own in measured.items() if len(own) > 1]


def untimed(values: dict[str, Any]) -> dict[str, Any]:
    """Return what does not depend on how busy the machine was."""
    return {name: value for name, value in values.items() if not name.endswith("seconds")}


def _records_with_environments(folder: Path, name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the lines of an experiment, each with the environment that it was measured in."""
    environments: dict[str, dict[str, Any]] = {}
    for record in _records(folder / f"{name}.jsonl"):
        where = record["environment"]
        if where not in environments:
            environments[where] = environment_of(folder, where)
        yield record, environments[where]


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file of results."""
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue  # a run was killed while it wrote this line: the cell is measured again


def _key(cell: Cell) -> str:
    """Return a cell as a key."""
    return json.dumps(cell, sort_keys=True)


def _write_environment(folder: Path) -> str:
    """Write machine, versions and commit to a file named by its content; return the name."""
    text = json.dumps(environment(), indent=1, sort_keys=True) + "\n"
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    path = folder / "environments" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(text)
        new.replace(path)
    return name


def _ends_a_line(path: Path) -> bool:
    """Tell whether the last byte of a file ends a line."""
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        if not file.tell():
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
