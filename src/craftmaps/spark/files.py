"""Tallies of files whose parts workers read, and how the command line comes to its workers."""

import logging
import os
import re
import shutil
import socket
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession

from craftmaps._system.errors import ArgumentError
from craftmaps.learners.counting import Counting
from craftmaps.learners.tally import Tally
from craftmaps.spark.messages import FIRST_GROUP, SCHEMA, pickled, received
from craftmaps.spark.passes import Passes
from craftmaps.spark.rows import BadRowsError
from craftmaps.spark.workers import on_workers, slots
from craftmaps.streams.file_parts import FileRows

_PATIENCE = 10.0
_PORTS = {"spark": 7077, "sc": 15002}


class SparkEngine:
    """The workers of a session, as the command line uses those of any cluster."""

    def __init__(self, session: SparkSession, memory_limit: int | None = None):
        self._session, self._slots = session, slots(session)
        self._memory = self._slots.memory if memory_limit is None else memory_limit
        self.n_workers = self._slots.n_tasks

    def spread(self, function: Callable[[Any], Any], items: list[Any]) -> Iterable[Any]:
        """Map a function over items on the workers."""
        n_tasks = max(1, min(self.n_workers, len(items)))
        rows = self._session.range(0, n_tasks, 1, n_tasks)
        answers = rows.mapInArrow(on_workers(_mapped, function, items, n_tasks), SCHEMA).collect()
        found = {message.source: message.value for message in received(answers)}
        return [found[i] for i in range(len(items))]

    def tally(self, counting: Counting, parts: Sequence[FileRows], listener: Any = None) -> Tally:
        """Return the tally of all parts. The listener is not called: tasks of Spark tell nothing before their end."""
        n_tasks = max(1, min(self.n_workers, len(parts)))
        rows = self._session.range(0, n_tasks, 1, n_tasks)
        return Passes(rows, n_tasks, PartReader(tuple(parts), n_tasks)).tally(counting, self._memory)


@dataclass(frozen=True)
class PartReader:
    """Reads the parts of the tasks whose numbers are the rows of a DataFrame: every n-th part each."""

    parts: tuple[FileRows, ...]
    n_tasks: int

    def __call__(self, batches: Iterable[pa.RecordBatch], n_bytes: int) -> "Iterator[FileBlock]":
        """Yield the blocks of all parts, of the size that the parts ask for."""
        for task in _numbers(batches):
            for part in self.parts[task :: self.n_tasks]:
                for block in part:
                    yield FileBlock(block[:3], part.name)


class FileBlock(NamedTuple):
    """Rows, labels and weights, and the file that they come from."""

    values: tuple[Any, ...]
    name: str

    def bad(self, error: Exception) -> BadRowsError:
        """Return an error that names the file."""
        return BadRowsError(f"{self.name}: {str(error).splitlines()[0]}")


@contextmanager
def connected(master: str) -> Iterator[SparkEngine]:
    """Start or find a session for a master such as local[2] or spark://host:7077, or for Spark Connect at sc://host."""
    if not re.match(r"(yarn|local(-cluster)?(\[.*\])?)$|(spark|k8s|sc)://.", master):
        raise ArgumentError(
            "spark", f"must be a master such as local[4], spark://host:7077 or yarn, or sc://host, got {master!r}."
        )
    for scheme, port in _PORTS.items():
        if master.startswith(f"{scheme}://"):
            _refuse_silent(master, port)
    if not master.startswith("sc://"):
        _refuse_without_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    settings: dict[str, Any] = {
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
    }
    try:
        if master.startswith("sc://"):
            session = SparkSession.builder.remote(master).getOrCreate()
        else:
            session = SparkSession.builder.master(master).appName("craftmaps").config(map=settings).getOrCreate()
    except Exception as error:  # of Java, of the gateway to it, or of gRPC
        raise ConnectionError(f"Spark cannot be used at {master!r}: {_reason(error)}.") from None
    try:
        yield SparkEngine(session)
    finally:
        session.stop()


def _mapped(batches: Iterator, function: Callable[[Any], Any], items: list[Any], n_tasks: int) -> Iterator:
    """Apply a function to the items of a task; the source of each message is the number of its item."""
    for task in _numbers(batches):
        for i in range(task, len(items), n_tasks):
            yield from pickled(FIRST_GROUP, i, function(items[i])).batches()


def _numbers(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    """Return the numbers in the only column of batches."""
    for batch in batches:
        yield from batch.column(0).to_pylist()


def _refuse_silent(master: str, usual_port: int) -> None:
    """Refuse a master of which no address answers: Spark itself would try for a minute."""
    addresses = master.split("://", 1)[1].split("/")[0].split(",")
    reason = "it has no address"
    for address in filter(None, addresses):
        host, _, port = address.partition(":")
        try:
            socket.create_connection((host, int(port or usual_port)), _PATIENCE).close()
            return
        except (OSError, ValueError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
    raise ConnectionError(f"No Spark master answers at {master!r}: {reason.rstrip('.')}.")


def _refuse_without_java() -> None:
    """Refuse to start Spark where there is no Java."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which(os.path.join(home, "bin", "java") if home else "java") is None:
        where = f"none is in JAVA_HOME, {home}" if home else "none was found"
        raise FileNotFoundError(
            f"Spark needs Java 17 or later, and {where}: install a package such as openjdk-17-jre-headless."
        )


def _reason(error: Exception) -> str:
    """Return the first line of an error that says something, without the kind that Spark puts first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = re.sub(r"^\[[A-Z_.]+\]\s*", "", lines[0] if lines else type(error).__name__)
    return text[:200].rstrip(".")
