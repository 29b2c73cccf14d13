"""Tallies of files whose parts workers read, and how the command line comes to its workers."""

import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import distributed
from dask.delayed import delayed

from craftmaps._system.errors import ArgumentError
from craftmaps.dask.cluster import Cluster, Listener
from craftmaps.learners.counting import Counting
from craftmaps.learners.tally import Tally
from craftmaps.streams.file_parts import FileRows

_PATIENCE = 10.0  # seconds


class DaskEngine:
    """The workers of a client, as the command line uses those of any cluster."""

    def __init__(self, client: distributed.Client, memory_limit: int | str | None = None):
        self._client, self._memory_limit = client, memory_limit
        self.n_workers = Cluster.of(client, memory_limit).n_chains

    def spread(self, function: Callable[[Any], Any], items: list[Any]) -> Iterable[Any]:
        """Map a function over items on the workers."""
        return self._client.gather(self._client.map(function, items, pure=False))  # type: ignore[return-value]

    def tally(self, counting: Counting, parts: Sequence[FileRows], listener: Listener | None = None) -> Tally:
        """Return the tally of all parts; the listener is told number and rows of each that is done."""
        cluster = Cluster.of(self._client, self._memory_limit, listener)
        blocks = {number: delayed(part, traverse=False) for number, part in enumerate(parts)}
        try:
            return cluster.tally(counting, blocks, count_file)
        except distributed.KilledWorker as error:
            raise RuntimeError(f"Workers died while they counted rows, perhaps for want of memory: {error}") from None


def count_file(counting: Counting, part: FileRows, name: str) -> Tally:
    """Return the tally of the rows of a part, which are read a block at a time."""
    return counting.tally_of(part, part.name)


@contextmanager
def connected(where: str) -> Iterator[DaskEngine]:
    """Connect to the scheduler at an address, or start worker processes here for "local" or "local:N"."""
    if where == "local" or where.startswith("local:"):
        n_workers = where.removeprefix("local").removeprefix(":") or str(os.cpu_count() or 1)
        if not re.fullmatch(r"[1-9]\d{0,3}", n_workers):
            raise ArgumentError("dask", f"must be local:N with 1 to 9999 worker processes, got {where!r}.")
        # A program that is interrupted ends at once. Python's own helper process then cleans up, and need not say so.
        quiet = ("ignore:resource_tracker:UserWarning", os.environ.get("PYTHONWARNINGS", ""))
        os.environ["PYTHONWARNINGS"] = ",".join(filter(None, quiet))
        with (
            distributed.LocalCluster(
                n_workers=int(n_workers),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield DaskEngine(client)
        return
    address = re.fullmatch(r"(?:[a-z]+://)?(.+):(\d{1,5})", where)
    if address is None:
        raise ArgumentError("dask", f"must be an address such as tcp://host:8786, or local:N, got {where!r}.")
    try:
        socket.create_connection((address[1].strip("[]"), int(address[2])), _PATIENCE).close()
        client = distributed.Client(where, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0] or type(error).__name__
        raise ConnectionError(f"No Dask scheduler answers at {where!r}: {reason.rstrip('.')}.") from None
    with client:
        yield DaskEngine(client)
