"""Threads: the one place where work is shared out.

The loops are serial and release the interpreter lock; blocks of rows go to a pool of threads and the one that calls.
BLAS has threads of its own, which follow the same number. But after every product they spin for some
25 ms and take the cores from our loops, so products that take turns with loops are cut up here
and go to the same pool, with BLAS held to one thread.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.blas import blas_limit, serial_blas, threaded_blas

_VARIABLE = "CRAFTMAPS_NUM_THREADS"
_requested: ContextVar[int | None] = ContextVar("craftmaps_threads", default=None)
_worker = threading.local()
PRODUCT_ROWS = 256
_WIDTH_FOR_THREADS = 1024


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Use n threads inside the `with` block, for the loops of this library and for BLAS.

    Examples
    --------
    >>> import craftmaps
    >>> with craftmaps.threads(1):
    ...     pass
    """
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n must be an integer of at least 1, got {n!r}.")
    token = _requested.set(int(n))
    try:
        with blas_limit(int(n)):
            yield
    finally:
        _requested.reset(token)


def n_threads() -> int:
    """Return how many threads to use here: as requested, else as the environment says, else all cores."""
    if getattr(_worker, "busy", False):
        return 1
    return _requested.get() or _from_environment() or _n_cores()


@contextmanager
def blas_threads(width: int | None = None) -> Iterator[None]:
    """Hold BLAS to the number of threads that this library was told to use, or to one for a small width.

    Small matrices gain nothing by more threads, and on a busy machine they lose much: BLAS waits for them all.
    """
    if width is not None and width < _WIDTH_FOR_THREADS:
        with serial_blas:
            yield
        return
    # In a task BLAS has one thread, and the thread that waits for the task may hold forks up already.
    with nullcontext() if getattr(_worker, "busy", False) else threaded_blas:
        if _requested.get() is not None or _from_environment() is None:
            yield  # threads() has set the limit already, or there is none
            return
        with blas_limit(n_threads()):
            yield


def for_row_blocks(task: Callable[[int, int], None], n_rows: int, block_rows: int) -> None:
    """Call task(start, stop) for consecutive blocks of rows, on as many threads as there are.

    A short input is cut finer than `block_rows` so that every thread gets some, but in multiples
    of 16 rows, the lanes of a tile.
    """
    share = -(-n_rows // (16 * n_threads())) * 16
    block_rows = max(16, min(block_rows, share))
    _share_out(task, [(start, min(start + block_rows, n_rows)) for start in range(0, n_rows, block_rows)])


def for_each(task: Callable[[Any], None], items: Iterable[Any]) -> None:
    """Call task(item), which may use BLAS, for every item, on as many threads as there are."""
    with serial_blas:
        _share_out(task, [(item,) for item in items])


def multiply(A: NDArray, B: NDArray, out: NDArray | None = None) -> NDArray:
    """Return A @ B, a block of rows at a time, whose bounds do not depend on the number of threads."""
    out = np.empty((A.shape[0], B.shape[1]), np.result_type(A, B)) if out is None else out

    def block(rows: slice) -> None:
        np.matmul(A[rows], B, out=out[rows])

    for_products_of_rows(block, A.shape[0])
    return out


def for_products_of_rows(task: Callable[[slice], None], n_rows: int) -> None:
    """Call task(rows), which may use BLAS, for consecutive blocks of rows, on as many threads as there are."""
    if n_rows <= PRODUCT_ROWS:
        with blas_threads():  # to hold BLAS to one thread takes longer than the product
            task(slice(0, n_rows))
    else:
        for_each(task, cut(n_rows, PRODUCT_ROWS))


def cut(length: int, size: int) -> list[slice]:
    """Cut a length into parts of a size, the last one perhaps smaller."""
    return [slice(first, min(first + size, length)) for first in range(0, length, size)]


def _share_out(task: Callable[..., None], calls: list[tuple]) -> None:
    """Make the calls on as many threads as there are, this one among them, and wait for all of them."""
    n_others = min(n_threads(), len(calls)) - 1
    if n_others < 1:
        for arguments in calls:
            task(*arguments)
        return
    left = iter(calls)  # a free thread takes the next one

    def work() -> None:
        was_busy, _worker.busy = getattr(_worker, "busy", False), True  # nothing inside asks for threads again
        try:
            for arguments in left:
                task(*arguments)
        except BaseException:
            list(left)  # the others need not go on
            raise
        finally:
            _worker.busy = was_busy

    pool, others = _pool(n_threads() - 1), []
    try:
        others += [pool.submit(work) for _ in range(n_others)]
        work()
    finally:
        # Tasks that have not begun have nothing left to do; the others may write to arrays that the caller frees.
        others = [future for future in others if not future.cancel()]
        wait(others)
    for future in others:
        future.result()


@cache
def _pool(n: int) -> ThreadPoolExecutor:
    """Return the pool of n threads."""
    return ThreadPoolExecutor(n, thread_name_prefix="craftmaps")


def _n_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _from_environment() -> int | None:
    """Return the number that the environment variable gives, if any."""
    value = os.environ.get(_VARIABLE)
    if not value:
        return None
    if not value.isdecimal() or int(value) < 1:
        raise ValueError(f"{_VARIABLE} must be an integer of at least 1, got {value!r}.")
    return int(value)


def _after_fork_in_child() -> None:
    """Forget the threads of the parent."""
    _pool.cache_clear()
    _worker.busy = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
