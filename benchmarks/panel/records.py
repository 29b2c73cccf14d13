"""Results as JSON lines: a line for a cell (data set, method, seed, threads); the last line of a cell counts."""

import hashlib
import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def read(path: Path) -> list[Record]:
    """Return the last record of every cell, without a line that was cut off."""
    found: dict[tuple, Record] = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        found.pop(key(record), None)
        found[key(record)] = record
    return list(found.values())


def key(record: Record) -> tuple[str, str, int, int]:
    """Return what a cell is identified by."""
    return record["data"], record["method"], record["seed"], record["threads"]


def append(path: Path, record: Record, environment: dict[str, Any]) -> None:
    """Add a record, with the key of the environment, which is written to a file beside the results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(environment, sort_keys=True)
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    known = environments(path)
    if name not in known:
        _environments_path(path).write_text(json.dumps(known | {name: environment}, indent=1, sort_keys=True) + "\n")
    is_cut = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    with path.open("a") as file:
        file.write("\n" * is_cut + json.dumps(record | {"environment": name}) + "\n")


def environments(path: Path) -> dict[str, dict[str, Any]]:
    """Return the environments of a file of results by their keys."""
    beside = _environments_path(path)
    return json.loads(beside.read_text()) if beside.exists() else {}


def _environments_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}_environments.json")
