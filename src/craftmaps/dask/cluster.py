"""The workers of a Dask cluster, and how they add up, or keep, what partitions come to.

Every worker adds up its own partitions, one after another, and the sums of the workers are added up in a tree. So one
tally a worker is moved, and rows stay where they are read. All tasks are functional: if a worker is lost, Dask runs
its tasks again elsewhere, and no row counts twice. A worker that has nothing left to do may read rows for another one.
"""

import logging
import math
import pickle
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple, Self
from uuid import uuid4

import cloudpickle
import dask.config
from dask import annotate, persist  # type: ignore[attr-defined]
from dask.core import get_dependencies, toposort
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.sizeof import sizeof
from dask.utils import parse_bytes
from distributed import get_client, get_worker

from craftmaps import __version__
from craftmaps._system.memory import available_memory
from craftmaps._system.threads import n_threads, threads
from craftmaps.learners.counting import Counting, assembled, n_owners_for
from craftmaps.learners.partitions import added, of_block
from craftmaps.learners.prepass import Prepass
from craftmaps.learners.tally import Tally

_LOG = logging.getLogger("craftmaps.dask")
_LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"


Listener = Callable[[int, int], None]  # the number of a part, and of its rows


def count_block(counting: Counting, block: tuple, name: str) -> Tally:
    """Return the tally of a block (X, y) or (X, y, sample_weight)."""
    return of_block(counting.tally, block, name)


class Worker(NamedTuple):
    """The threads of a worker, and the bytes that its tallies may take."""

    n_threads: int
    memory: float

    def chains(self, n_bytes: float) -> tuple[int, int]:
        """Return how many chains of so many bytes the worker can have, and how many threads each."""
        n_chains = int(max(1, min(self.n_threads, self.memory / n_bytes))) if n_bytes else self.n_threads
        return n_chains, self.n_threads // n_chains


@dataclass(frozen=True)
class Cluster:
    """The workers of a client by their addresses, or without a client the threads of this process."""

    client: Any
    workers: dict[Any, Worker]
    listener: Listener | None = None

    @classmethod
    def of(cls, client: Any, memory_limit: Any, listener: Listener | None = None) -> Self:
        """Look at the workers of a client, and refuse workers that cannot do the work."""
        limit = None if memory_limit is None else parse_bytes(memory_limit)
        try:
            client = get_client() if client is None else client
        except ValueError:
            worker = Worker(1, limit or (available_memory() or math.inf) / 2 / n_threads())
            return cls(None, dict.fromkeys(range(n_threads()), worker))
        workers = {}
        for address, (version, cores, memory) in client.run(_looking_around()).items():
            if version != __version__:
                raise RuntimeError(f"Workers must have craftmaps {__version__} as here, but {address} has {version}.")
            workers[address] = Worker(cores, limit or (memory or math.inf) / 2)
        if not workers:
            raise RuntimeError(f"client must have at least one worker, got none at {client.scheduler.address}.")
        return cls(client, workers, listener)

    @property
    def n_chains(self) -> int:
        """How many parts are counted at once at the most."""
        return sum(worker.n_threads for worker in self.workers.values())

    @property
    def memory(self) -> float:
        """The bytes that the tallies of all workers may take."""
        return sum(worker.memory for worker in self.workers.values())

    def tally(self, counting: Counting, blocks: dict[int, Delayed], count: Callable = count_block) -> Tally:
        """Return the tally of all blocks, in several passes where no worker can hold all columns.

        `count(counting, block, name)` returns that of one block.
        """
        n_bytes = 2 * sys.getsizeof(counting.settled.tally_)  # that of a block, and that of the blocks before it
        n_owners = n_owners_for(counting.settled, n_bytes, min(worker.memory for worker in self.workers.values()))
        _LOG.info("Tallying %d partitions on %d workers, in %d passes.", len(blocks), len(self.workers), n_owners)
        if n_owners == 1:
            return self.added_up("tally", partial(count, counting), blocks, n_bytes)
        works = [partial(count, owner) for owner in counting.owners(n_owners)]
        return assembled(self.added_up("tally_columns", work, blocks, n_bytes / n_owners) for work in works)

    def added_up(self, name: str, work: Callable, blocks: dict[int, Delayed], n_bytes: float = 0) -> Any:
        """Return the sum of `work(block, name)` over blocks, of which a chain takes so many bytes.

        Every worker has as many chains as it has threads, or as fit its memory. Their sums are added up in a tree.
        """
        name, tasks, owners, n_own_bytes = self._begun(name, work, blocks)
        shares, sums = defaultdict(list), []
        for number, block in blocks.items():
            shares[owners[block.key]].append(number)
        for address, share in shares.items():
            n_chains, n_threads = self.workers[address].chains(n_bytes)
            ends: dict[int, str] = {}
            for i, number in enumerate(share):
                key, before = f"{name}-{number}", ends.get(i % n_chains)
                topic = None if self.listener is None else name
                tasks[key] = (_step, f"{name}-what", before, number, blocks[number].key, n_threads, topic)
                ends[i % n_chains], owners[key] = key, address
            sums.append(_add_tree(tasks, f"{name}-worker{len(sums)}", list(ends.values())))
        (total,) = _results([_add_tree(tasks, f"{name}-sum", sums)], tasks)
        with self._listening(name), self._placed(owners, n_own_bytes):
            if self.client is None:
                return total.compute()
            return self.client.compute(total, optimize_graph=False).result()

    def kept(self, name: str, work: Callable, blocks: dict[int, Delayed]) -> dict[int, Delayed]:
        """Return `work(block, name)` of every block, kept in memory where it was computed, as blocks themselves.

        What is lost with a worker is computed again.
        """
        name, tasks, owners, n_own_bytes = self._begun(name, work, blocks)
        for number, block in blocks.items():
            key = f"{name}-{number}"
            tasks[key] = (_step, f"{name}-what", None, number, block.key, 1, None)
            owners[key] = owners[block.key]
        results = _results([f"{name}-{number}" for number in blocks], tasks)
        with self._placed(owners, n_own_bytes):
            kept = persist(*results) if self.client is None else self.client.persist(results, optimize_graph=False)
        return dict(zip(blocks, kept, strict=True))

    def owners(self, tasks: dict[Any, Any], blocks: list[Any]) -> dict[Any, Any]:
        """Return the workers of blocks and of all that these need: a worker that holds some of it, or each in turn.

        What several workers need has no owner.
        """
        held = {} if self.client is None else {key: who[0] for key, who in self.client.who_has().items() if who}
        known = dict.fromkeys(held) | tasks
        needs = {key: get_dependencies(known, key) - {key} for key in known}  # a block in memory stands for itself
        order, homes, turns = toposort(known, needs), dict(held), cycle(self.workers)
        for key in order:
            homes.setdefault(key, next((homes[need] for need in needs[key] if need in homes), None))
        owners = {key: homes[key] if homes[key] in self.workers else next(turns) for key in blocks}
        for key in reversed(order):
            for need in needs[key] if key in owners else ():
                if owners.setdefault(need, owners[key]) != owners[key]:
                    owners[need] = None
        return owners

    @contextmanager
    def _listening(self, topic: str) -> Iterator[None]:
        """Tell the listener of every part that is done."""
        listener = self.listener
        if listener is None or self.client is None:
            yield
            return
        self.client.subscribe_topic(topic, lambda event: listener(*event[1]))
        try:
            yield
        finally:
            self.client.unsubscribe_topic(topic)

    def _begun(
        self, name: str, work: Callable, blocks: dict[int, Delayed]
    ) -> tuple[str, dict[Any, Any], dict[Any, Any], int]:
        """Return a name of its own, the tasks of blocks and of work for them, their owners, and the bytes of work."""
        tasks = dict(HighLevelGraph.merge(*(block.__dask_graph__() for block in blocks.values())))
        owners = self.owners(tasks, [block.key for block in blocks.values()])
        name, data = f"craftmaps_{name}-{uuid4().hex}", cloudpickle.dumps(work)
        tasks = {key: task for key, task in tasks.items() if key in owners} | {f"{name}-what": (pickle.loads, data)}
        return name, tasks, owners, len(data)

    @contextmanager
    def _placed(self, owners: dict[Any, Any], n_bytes: int) -> Iterator[None]:
        """Send each task to its owner, as long as that lives; so many bytes of the graph are our own."""
        if self.client is None:
            yield
            return
        places = defaultdict(list, {key: [owner] for key, owner in owners.items() if owner is not None})
        # An estimator may be large for a graph, but what is kept elsewhere is lost with a worker.
        settings = {_LARGE_GRAPH: parse_bytes(dask.config.get(_LARGE_GRAPH)) + n_bytes}
        with dask.config.set(settings), annotate(workers=places.__getitem__, allow_other_workers=True):
            yield


def _results(keys: list[str], tasks: dict[Any, Any]) -> list[Delayed]:
    """Return the results of some of the tasks."""
    graph = HighLevelGraph.from_collections("craftmaps", tasks, dependencies=())
    return [Delayed(key, graph, layer="craftmaps") for key in keys]


def _step(work: Callable, total: Any, number: int, block: Any, n_threads: int, topic: str | None) -> Any:
    """Return what a block and those before it come to, on the threads that other chains leave."""
    with threads(n_threads):
        part = work(block, f"Partition {number}")
    if topic is not None:
        with suppress(ValueError):  # there is no worker without a cluster
            get_worker().log_event(topic, (number, part.n_rows))
    return added(part, total)


def _add_tree(tasks: dict[Any, Any], name: str, keys: list[str]) -> str:
    """Add tasks that add up results two by two, and return the key of the sum."""
    while len(keys) > 1:
        pairs = [keys[i : i + 2] for i in range(0, len(keys), 2)]
        keys = [f"{name}-{len(keys)}-{i}" if pair[1:] else pair[0] for i, pair in enumerate(pairs)]
        tasks |= {key: (_plus, *pair) for key, pair in zip(keys, pairs, strict=True) if pair[1:]}
    return keys[0]


def _plus(one: Any, other: Any) -> Any:
    """Add surveys or tallies and leave them as they are: Dask may need them again."""
    return added(one, other) if one is None or other is None else one + other


def _looking_around() -> Callable[..., tuple]:
    """Return a function that describes a worker, which may not have this library: it is sent by value."""

    def look(dask_worker: Any) -> tuple:
        try:
            import numba  # noqa: F401 - rows are mapped by it

            import craftmaps

            version = craftmaps.__version__
        except ImportError as error:
            version = f"an error: {error}"
        return version, dask_worker.state.nthreads, dask_worker.memory_manager.memory_limit

    return look


@sizeof.register(Prepass)
def _size_of_prepass(prepass: Prepass) -> int:
    """Return the bytes of the rows and hashes that are kept."""
    return sizeof(tuple(prepass.survey.entries)) + (0 if prepass.lowest is None else prepass.lowest.hashes.nbytes)
