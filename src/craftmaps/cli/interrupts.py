"""Ctrl-C and SIGTERM: one sentence and exit code 130 or 143, at any moment.

A thread waits for signals. A long call into BLAS or LAPACK, which blocks Python's own handlers, does not delay it, and
no exception is thrown through imports, compilers and callbacks that would print or swallow it. The module imports only
a few modules of the standard library, because signals are handled before anything else is loaded.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

_WORDS = {signal.SIGINT: "Interrupted", signal.SIGTERM: "Terminated"}
_CLEAR_LINE, _SHOW_CURSOR = "\r\x1b[2K", "\x1b[?25h"
_CHECKPOINT = "--checkpoint"


class _State:
    """The state that a signal handler needs."""

    def __init__(self) -> None:
        self.arguments = sys.argv[1:]
        self.number: int | None = None
        self.n_obeyed = 0
        self.left: str | None = None
        self.unfinished: list[str] = []
        self.ask: Callable[[], bool] | None = None
        self.leaving = threading.Lock()


_state = _State()


def install(arguments: list[str]) -> None:
    """Install the handlers, for a program with these arguments."""
    _state.arguments = arguments
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may set handlers
    for number in _WORDS:
        # A shell starts background jobs with SIGINT ignored, nohup with SIGHUP: both stay ignored.
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _note if os.name == "posix" else _obey)
    if os.name == "posix":
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        threading.Thread(target=_wait, args=(reading,), name="craftmaps-signals", daemon=True).start()


def end() -> None:
    """Ignore signals while the interpreter shuts down: the work is done."""
    if _state.number is not None:
        leave()
    if threading.current_thread() is threading.main_thread():
        for number in _WORDS:
            if signal.getsignal(number) in (_note, _obey):
                signal.signal(number, signal.SIG_IGN)


def was_received() -> bool:
    """Tell whether a signal has arrived."""
    return _state.number is not None


def leave() -> NoReturn:
    """Remove unfinished files, print one sentence and exit."""
    if not _state.leaving.acquire(blocking=False):
        threading.Event().wait()  # another thread is about to exit
    for path in _state.unfinished:
        folder, name = os.path.split(path)
        with suppress(OSError):
            for left in os.listdir(folder or "."):
                if left.startswith(f"{name}.") and left.endswith(f".{os.getpid()}.new"):  # as `new_file` names it
                    os.unlink(os.path.join(folder, left))
    text = f"craftmaps: {sentence()}\n"
    with suppress(OSError):
        # The sentence is the last line: what other threads still have to say goes nowhere.
        output = os.dup(2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        if os.isatty(output):  # a progress bar may have hidden the cursor
            text = _CLEAR_LINE + _SHOW_CURSOR + text
        os.write(output, text.encode(errors="surrogateescape"))
    os._exit(128 + (_state.number or signal.SIGINT))


def sentence() -> str:
    """Return the last message: the signal, the files that were kept, and how to resume."""
    word = _WORDS[signal.Signals(_state.number or signal.SIGINT)]
    if _state.left is not None:
        return f"{word}: {_state.left}."
    if next((argument for argument in _state.arguments if not argument.startswith("-")), "") != "train":
        return f"{word}."
    folder = _value_of(_CHECKPOINT)
    if folder is None:
        return f"{word}: nothing was kept; with {_CHECKPOINT} DIR a run can be resumed."
    path = os.path.join(folder, "run.checkpoint")
    if not os.path.exists(path):
        return f"{word} before the first checkpoint: nothing was kept."
    return f"{word}: what was counted is in {path}; go on with: {command('--resume')}"


def command(flag: str | None = None) -> str:
    """Return the command line, with a flag unless it is there already."""
    import shlex

    flags = [] if flag is None or flag in _state.arguments else [flag]
    return shlex.join(["craftmaps", *_state.arguments, *flags])


def tell(left: str | None) -> None:
    """Set the part of the last message about files that were kept."""
    _state.left = left


@contextmanager
def unfinished(path: os.PathLike) -> Iterator[None]:
    """Remove the temporary version of a file if the process is interrupted while it writes."""
    _state.unfinished.append(os.fspath(path))
    try:
        yield
    finally:
        _state.unfinished.pop()


@contextmanager
def asking(ask: Callable[[], bool]) -> Iterator[None]:
    """At the first interruption call `ask`, in another thread. If it returns True, the work will call `leave` soon."""
    _state.ask = ask
    try:
        yield
    finally:
        _state.ask = None


def _value_of(option: str) -> str | None:
    """Return the value of an option; the command line may not have been parsed yet."""
    arguments = _state.arguments
    for argument, following in zip(arguments, [*arguments[1:], None], strict=True):
        if argument == option:
            return following
        if argument.startswith(f"{option}="):
            return argument.removeprefix(f"{option}=")
    return None


def _note(number: int, frame: Any) -> None:
    """Note a signal; the thread that waits for signals acts on it."""
    _state.number = _state.number or number


def _obey(number: int, frame: Any = None) -> None:
    """Leave, unless the work asks for time; at the second signal leave in any case."""
    _note(number, frame)
    _state.n_obeyed += 1
    if not (_state.n_obeyed == 1 and _state.ask is not None and _state.ask()):
        leave()


def _wait(reading: int) -> None:
    """Act on the signals whose numbers arrive in a pipe."""
    while True:
        for number in os.read(reading, 1):
            if number in _WORDS:
                _obey(number)


def silence_closed_pipe() -> None:
    """Discard further output: the reader of standard output has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
