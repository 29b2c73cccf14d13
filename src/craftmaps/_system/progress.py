"""Progress of long work: the work tells typed steps, and a listener shows or times them."""

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum

_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_BETWEEN_LINES = 5.0


class Phase(StrEnum):
    """A part of learning other than the pass over the rows."""

    CHOICES = "Choosing kernel and metric"
    METRIC = "Fitting the metric"
    MAP = "Drawing the map"
    PENALTY = "Choosing alpha"
    SOLUTION = "Solving"


@dataclass(frozen=True)
class Step:
    """What is being done: a phase, and perhaps a detail of it."""

    phase: Phase
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.phase}: {self.detail}" if self.detail else str(self.phase)


Listener = Callable[[Step], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(phase: Phase, detail: str = "") -> None:
    """Report a step to the listener, if there is one."""
    listener = _listener.get()
    if listener is not None:
        listener(Step(phase, detail))


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Report the steps of the work inside to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def shown(verbose: int) -> Iterator["Progress"]:
    """Show the progress of the work inside on standard error, if asked for; else whoever listens goes on hearing it."""
    progress = Progress(verbose)
    if not verbose:
        yield progress
        return
    try:
        with heard_by(progress.step):
            yield progress
    except BaseException:
        progress.end()
        raise
    progress.end(is_done=True)


class RowClock:
    """The seconds that rows took, without those of steps in between, which do not come again with more rows."""

    def __init__(self):
        self._seconds, self._since = 0.0, time.monotonic()

    def step(self) -> None:
        """Note that something else is being done."""
        self._since = time.monotonic()

    def rows(self) -> float:
        """Note that rows were done, and return the seconds of all rows so far."""
        now = time.monotonic()
        self._seconds, self._since = self._seconds + now - self._since, now
        return self._seconds


class PhaseClock:
    """The seconds of the phases that some work goes through, and may come back to."""

    def __init__(self, phase: str):
        self._seconds: dict[str, float] = {phase: 0.0}
        self._phase, self._since = phase, time.monotonic()

    def turn_to(self, phase: str) -> None:
        """Note that a phase begins, or goes on."""
        now = time.monotonic()
        self._seconds[self._phase] += now - self._since
        self._seconds.setdefault(phase, 0.0)
        self._phase, self._since = phase, now

    def read(self) -> dict[str, float]:
        """Return the seconds of each phase so far; they add up to those of all the work."""
        self.turn_to(self._phase)
        return dict(self._seconds)


class Progress:
    """What is being done, or how many rows of how many are done, how fast, and how long the rest will take.

    On a terminal one line is written over; elsewhere, as in a notebook or a log, a line is printed when something
    else begins, and every five seconds.
    """

    def __init__(self, verbose: int):
        self._verbose = verbose
        self._clock, self._started = RowClock(), time.monotonic()
        self._n_rows = self._n_skipped = 0
        self._share_skipped = 0.0
        self._shown: float | None = None
        self._phase, self._width = "", 0

    def skip(self, n_rows: int, share: float | None) -> None:
        """Note that rows, and perhaps which share of all, were done by an earlier run, in no time."""
        self._n_skipped, self._share_skipped = n_rows, share or 0.0

    def step(self, step: Step) -> None:
        """Show what is being done."""
        self._clock.step()
        self._show(f"{step} ({clock(time.monotonic() - self._started)} so far)", step.phase, is_step=True)

    def show(self, n_rows: int, share: float | None, total: int | None = None) -> None:
        """Say how many rows are done, which share of all if that is known, and of how many rows."""
        self._n_rows = n_rows
        seconds = self._clock.rows() or 1e-9
        done, rate = f"{n_rows:,}", (n_rows - self._n_skipped) / seconds
        if share and total is None:
            total = round(n_rows / share)
            done += f" of about {float(f'{total:.2g}'):,.0f}" if share < 1 else f" of {total:,}"
        elif total is not None:
            done += f" of {total:,}"
        text = f"{done} rows, " + (f"{100 * share:.0f} %, " if share else "") + f"{rate:,.0f} rows/s"
        if share and share > self._share_skipped:
            text += f", {clock(seconds * (1 - share) / (share - self._share_skipped))} left"
        self._show(text, "rows")

    def end(self, is_done: bool = False) -> None:
        """End the line, and if the work is done say how long it took."""
        if self._verbose and is_done:
            done = f"{self._n_rows:,} rows in " if self._n_rows else "Done in "
            self._write(done + clock(time.monotonic() - self._started))
        if self._shown is not None and _is_terminal():
            print(file=sys.stderr)

    def _show(self, text: str, phase: str, is_step: bool = False) -> None:
        """Write a line if it is time to, or if something else begins."""
        now, is_terminal = time.monotonic(), _is_terminal()
        pause = _SECONDS_BETWEEN_LOOKS if is_terminal else _SECONDS_BETWEEN_LINES
        # A step on a terminal is always shown: it may be the one that takes long.
        is_due = self._shown is None or now - self._shown >= pause or phase != self._phase or (is_step and is_terminal)
        if self._verbose and is_due:
            self._phase = phase
            self._write(text)

    def _write(self, text: str) -> None:
        """Write over the line of a terminal, or print a line."""
        self._shown = time.monotonic()
        if not _is_terminal():
            print(text, file=sys.stderr, flush=True)
            return
        text = text[: max(shutil.get_terminal_size().columns - 1, 1)]
        print(f"\r{text:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(text)


def clock(seconds: float) -> str:
    """Write a time for people who wait.

    Examples
    --------
    >>> clock(0.31), clock(42.2), clock(200), clock(4000)
    ('0.3 s', '42 s', '3 min 20 s', '1 h 6 min')
    """
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _is_terminal() -> bool:
    """Tell whether standard error is a terminal, whose line can be written over."""
    return sys.stderr is not None and sys.stderr.isatty()
