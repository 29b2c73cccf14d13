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

_settings = threading.RLock()  # held while the number changes, and during a fork
_own = threading.local()


class _Number:
    """The number of BLAS threads: one inside `serial_blas`, else the last request, else the initial number."""

    def __init__(self) -> None:
        self._asked: list[tuple[int, int]] = []  # numbers, and the threads that asked for them
        self._found: list[int] | None = None

    def ask(self, n: int) -> None:
        """Ask for a number on behalf of this thread."""
        self._asked.append((n, threading.get_ident()))
        self.set()

    def take_back(self, n: int) -> None:
        """Take back what this thread asked for last."""
        last = max(i for i, asked in enumerate(self._asked) if asked == (n, threading.get_ident()))
        del self._asked[last]
        self.set()

    def set(self) -> None:
        """Set the number to what it should be now."""
        if self._found is None:
            self._found = [library.get_num_threads() for library in _libraries()]
        if serial_blas.n_inside:
            numbers = [1] * len(self._found)
        else:
            numbers = [self._asked[-1][0]] * len(self._found) if self._asked else self._found
        # From 3.8 on threadpoolctl ignores all threads but the one that set it first, and the first one to enter
        # `serial_blas` is not always the last one to leave.
        _free()
        for library, n in zip(_libraries(), numbers, strict=True):
            library.set_num_threads(n)
        _free()
        if not self._asked and not serial_blas.n_inside:
            self._found = None

    def forget_other_threads(self) -> None:
        """Keep what this thread asked for, in a forked child; the number is set when it next changes."""
        self._asked = [asked for asked in self._asked if asked[1] == threading.get_ident()]


@contextmanager
def blas_limit(n: int) -> Iterator[None]:
    """Hold BLAS to n threads."""
    with _settings:
        _number.ask(n)
    try:
        yield
    finally:
        with _settings:
            _number.take_back(n)


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

    def __enter__(self) -> None:
        with _settings:
            self.count(1)
            if self.n_inside == 1:
                _number.set()

    def __exit__(self, *_: Any) -> None:
        with _settings:
            self.count(-1)
            if not self.n_inside:
                _number.set()


class _ThreadedBlas(_Section):
    """Keeps forks out while a thread inside computes on several threads of BLAS.

    OpenBLAS ends its threads before a fork, and waits for ever for one that computes. A fork that waits longer than
    `patience` seconds warns.
    """

    def __init__(self, patience: float = 2.0) -> None:
        super().__init__()
        self.patience = patience
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
        if not self._changed.wait_for(lambda: self.n_inside == own, self.patience):
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


_number = _Number()
serial_blas = _SerialBlas()
threaded_blas = _ThreadedBlas()


@cache
def _libraries() -> list[Any]:
    """Look once for the BLAS libraries that are loaded."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _free() -> None:
    """Make threadpoolctl forget which thread set a number first, where it remembers that."""
    for library in _libraries():
        getattr(library, "clear_controlling_thread", lambda force: None)(force=True)


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
    _number.forget_other_threads()
    serial_blas.forget_other_threads()
    threaded_blas.forget_other_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
