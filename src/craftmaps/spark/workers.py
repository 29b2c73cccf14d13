"""Work on the workers of a cluster: refused where this library is not the same, on the threads of a task."""

import math
import pickle
import platform
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pyspark import TaskContext, cloudpickle
from pyspark.sql import SparkSession

import craftmaps
from craftmaps._system.memory import available_memory
from craftmaps.spark.messages import ERROR, FIRST_GROUP, SCHEMA, pickled, received


def on_workers(step: Callable[..., Iterator], *arguments: Any) -> Callable[[Iterator], Iterator]:
    """Return a function for `mapInArrow` that calls step(batches, *arguments), which returns batches of messages.

    A `ValueError` or a `TypeError` of the step travels as a message, and so does what is wrong with a worker. Other
    errors go to Spark, which tries again.
    """
    # As bytes, and with functions inside functions, which are sent as code and not by name: a worker without this
    # library must come to say so.
    payload, problem, key = cloudpickle.dumps((step, arguments)), problem_of_worker(craftmaps.__version__), ERROR

    def run(batches: Iterator) -> Iterator:
        found = problem()
        if found is None:
            from craftmaps.spark.workers import work

            yield from work(payload, batches)
            return
        import pickle

        import pyarrow as pa

        row = {"key": key, "source": 0, "piece": 0, "n_pieces": 1, "data": pickle.dumps(RuntimeError(found))}
        types = [pa.int32()] * 4 + [pa.binary()]
        yield pa.RecordBatch.from_pylist([row], schema=pa.schema(list(zip(row, types, strict=True))))

    return run


def problem_of_worker(version: str) -> Callable[[], str | None]:
    """Return a function that says what a worker lacks, if anything, to work for this version."""

    def problem() -> str | None:
        import platform
        import sys

        who = f"The worker on {platform.node()} ({sys.executable})"
        try:
            import numba  # noqa: F401 - it is the import that may fail
            import sklearn  # noqa: F401

            import craftmaps
        except ImportError as error:
            return f"{who} cannot import {error.name}: install craftmaps {version} there."
        if craftmaps.__version__ != version:
            return f"{who} has craftmaps {craftmaps.__version__}, the driver has {version}: install the same on both."
        return None

    return problem


def work(payload: bytes, batches: Iterator) -> Iterator:
    """Take a step on as many threads as Spark gives a task."""
    step, arguments = pickle.loads(payload)
    try:
        with craftmaps.threads(_context().cpus()):
            yield from step(batches, *arguments)
    except (ValueError, TypeError) as error:
        yield from pickled(ERROR, 0, error).batches()


def task_number() -> int:
    """Return the number of the task that this is called in."""
    return _context().partitionId()


class Slots(NamedTuple):
    """How many tasks a cluster runs at once, and the bytes that the tally of one may take."""

    n_tasks: int
    memory: float


def slots(spark: SparkSession) -> Slots:
    """Look at the workers of a cluster; refuse workers that cannot do the work.

    Half of the memory that is free on a machine is shared by the tasks that run there at once.
    """
    # A range comes in as many partitions as there are cores.
    answers = spark.range(1000).mapInArrow(on_workers(_greeting), SCHEMA).collect()
    found = [message.value for message in received(answers)]
    cpus = max(cpus for cpus, _, _ in found)
    cores = Counter(node for _, node, _ in found)
    free = {node: memory for _, node, memory in found if memory is not None}
    memory = min((memory / 2 / max(1, cores[node] // cpus) for node, memory in free.items()), default=math.inf)
    return Slots(max(1, len(found) // cpus), memory)


def _greeting(batches: Iterator) -> Iterator:
    """Tell how many cores a task has, and where it runs with how much free memory."""
    deque(batches, maxlen=0)  # a worker that leaves rows unread is not used again, and the next one imports everything
    about = _context().cpus(), platform.node(), available_memory()
    yield from pickled(FIRST_GROUP, task_number(), about).batches()


def _context() -> TaskContext:
    """Return the context of the task that this is called in."""
    context = TaskContext.get()
    if context is None:
        raise RuntimeError("This must be called in a task of Spark.")
    return context
