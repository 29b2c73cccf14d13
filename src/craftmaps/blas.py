"""How many threads BLAS may use, a number of the whole process, and forks, which must not meet it half changed.

A forked child has the thread that forked and no other. What the others held at that moment stays held for ever. So a
fork waits until no other thread sets the number, compiles a loop or, with `threaded_blas`, computes on the threads
of BLAS; the child then forgets the other threads.
"""

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_PATIENCE = 2.0
_settings = threading.RLock()  # held while the number changes, and during a fork
_own = threading.local()


@contextmanager
def blas_limit(n: int) -> Iterator[None]:
    """Hold BLAS to n threads."""
    with _settings:
        limit = _controller().limit(limits=n, user_api="blas").__enter__()
    try:
        yield
    finally:
        with _settings:
            limit.__exit__(None, None, None)


class _Section:
    """A part of the program that several threads may be in at once; counts them."""

    def __init__(self) -> None:
        self.n_inside = 0
        self._name = type(self).__name__

    @property
    def n_own(self) -> int:
        """How many times this thread is inside."""
        return getattr(_own, self._name, 0)

    def count(self, change: int) -> None:
        """Note that this thread enters or leaves."""
        self.n_inside += change
        setattr(_own, self._name, getattr(_own, self._name, 0) + change)

    def forget_other_threads(self) -> None:
        """Count this thread alone, in a forked child."""
        self.n_inside = self.n_own


class _SerialBlas(_Section):
    """Holds BLAS to one thread, which is for the whole process, as long as any thread is inside."""

    def __init__(self) -> None:
        super().__init__()
        self._limit: Any = None  # a child that was forked while others were inside lifts it after its own next use

    def __enter__(self) -> None:
        with _settings:
            if self._limit is None:
                with _anybody_may_set():
                    self._limit = _controller().limit(limits=1, user_api="blas")
            self.count(1)

    def __exit__(self, *_: Any) -> None:
        with _settings:
            self.count(-1)
            if not self.n_inside:
                limit, self._limit = self._limit, None
                with _anybody_may_set():
                    limit.restore_original_limits()


class _ThreadedBlas(_Section):
    """Keeps forks out while a thread inside computes on several threads of BLAS.

    OpenBLAS ends its threads before a fork, and waits for ever for one that computes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._n_forks = 0
        self._changed = threading.Condition(_settings)

    def __enter__(self) -> None:
        with _settings:
            if self._n_forks and not self.n_own:
                self._changed.wait_for(lambda: not self._n_forks)
            self.count(1)

    def __exit__(self, *_: Any) -> None:
        with _settings:
            self.count(-1)
            if self._n_forks:
                self._changed.notify_all()

    def keep_out(self) -> None:
        """Wait until no other thread is inside, and let none in."""
        own = self.n_own
        self._n_forks += 1
        if not self._changed.wait_for(lambda: self.n_inside == own, _PATIENCE):
            try:
                warnings.warn(
                    "A fork waits for another thread that computes with BLAS: start processes with spawn, or earlier.",
                    RuntimeWarning,
                    stacklevel=3,
                )
            finally:
                self._changed.wait_for(lambda: self.n_inside == own)

    def let_in(self) -> None:
        """Let others in again."""
        self._n_forks -= 1
        self._changed.notify_all()

    def forget_other_threads(self) -> None:
        super().forget_other_threads()
        self._n_forks, self._changed = 0, threading.Condition(_settings)


serial_blas = _SerialBlas()
threaded_blas = _ThreadedBlas()


@contextmanager
def _anybody_may_set() -> Iterator[None]:
    """Let this thread set the number of BLAS threads, and then others again.

    From 3.8 on threadpoolctl ignores all threads but the one that set it first, and the first one to enter
    `serial_blas` is not always the last one to leave.
    """
    _free()
    try:
        yield
    finally:
        _free()


def _free() -> None:
    """Make threadpoolctl forget which thread set a number first, where it remembers that."""
    for library in _controller().lib_controllers:
        getattr(library, "clear_controlling_thread", lambda force: None)(force=True)


@cache
def _controller() -> ThreadpoolController:
    """Look once for the BLAS libraries that are loaded."""
    return ThreadpoolController()


def _before_fork() -> None:
    """Wait for other threads to finish what a child could not."""
    # Numba compiles under one lock, which may take seconds; a child that compiles would wait for it for ever.
    _own.compiler = getattr(sys.modules.get("numba.core.compiler_lock"), "global_compiler_lock", None)
    if _own.compiler is not None:
        _own.compiler.acquire()
    _settings.acquire()
    threaded_blas.keep_out()


def _after_fork_in_parent() -> None:
    """Let the other threads go on."""
    threaded_blas.let_in()
    _settings.release()
    if _own.compiler is not None:
        _own.compiler.release()


def _after_fork_in_child() -> None:
    """Forget the other threads."""
    global _settings
    if _own.compiler is not None:
        _own.compiler.release()
    _settings = threading.RLock()
    serial_blas.forget_other_threads()
    threaded_blas.forget_other_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
