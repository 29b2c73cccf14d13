"""Progress of long computations: typed steps, and listeners that show or time them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum

from craftmaps._system.progress_displays import Display, current_display


class Phase(StrEnum):
    """A phase of learning other than the pass over the rows."""

    CHOICES = "Choosing kernel and metric"
    METRIC = "Fitting the metric"
    MAP = "Drawing the map"
    PENALTY = "Choosing alpha"
    LOSS = "Fitting the logistic loss"
    SOLUTION = "Solving"


@dataclass(frozen=True)
class Step:
    """A step of the computation: its phase, and optionally a detail."""

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
    """Send the steps of the enclosed computation to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def shown(verbose: int) -> Iterator["Progress"]:
    """Show the progress of the enclosed computation if `verbose`; else keep the listener."""
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
    """The seconds spent on rows, without the steps in between, which do not recur with more rows."""

    def __init__(self):
        self._seconds, self._since = 0.0, time.monotonic()

    def step(self) -> None:
        """Exclude the time since the last call: it was not spent on rows."""
        self._since = time.monotonic()

    def rows(self) -> float:
        """Count the time since the last call; return the seconds of all rows so far."""
        now = time.monotonic()
        self._seconds, self._since = self._seconds + now - self._since, now
        return self._seconds


class PhaseClock:
    """The seconds of each phase of a computation. A phase may recur."""

    def __init__(self, phase: str, now: Callable[[], float] = time.monotonic):
        self._now = now
        self._seconds: dict[str, float] = {phase: 0.0}
        self._phase, self._since = phase, now()

    def turn_to(self, phase: str) -> None:
        """Start a phase, or resume it."""
        now = self._now()
        self._seconds[self._phase] += now - self._since
        self._seconds.setdefault(phase, 0.0)
        self._phase, self._since = phase, now

    def read(self) -> dict[str, float]:
        """Return the seconds of each phase so far, which add up to the total."""
        self.turn_to(self._phase)
        return dict(self._seconds)


class Progress:
    """Progress: the current step, or rows done, rows per second and the time left.

    A terminal shows one line that is overwritten, a notebook a bar. Elsewhere, as in a log, a line is printed when a
    phase begins and every five seconds.
    """

    def __init__(self, verbose: int):
        self._verbose = verbose
        self._clock, self._started = RowClock(), time.monotonic()
        self._n_rows = self._n_skipped = 0
        self._share_skipped = 0.0
        self._shown: float | None = None
        self._phase = ""
        self._display: Display | None = None

    def skip(self, n_rows: int, share: float | None) -> None:
        """Exclude rows that an earlier run has counted, and their share of all rows if known, from the rate."""
        self._n_skipped, self._share_skipped = n_rows, share or 0.0

    def step(self, step: Step) -> None:
        """Show a step."""
        self._clock.step()
        self._show(f"{step} ({clock(time.monotonic() - self._started)} so far)", step.phase, is_step=True)

    def out_of(self, total: int) -> Callable[[int], None]:
        """Return a function that shows how many of all rows are done, counted from none: rows may be read twice."""
        self._clock = RowClock()
        return lambda n_rows: self.show(n_rows, n_rows / total, total)

    def show(self, n_rows: int, share: float | None, total: int | None = None) -> None:
        """Show the rows done, their share and the total where known."""
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
        self._show(text, "rows", share)

    def end(self, is_done: bool = False) -> None:
        """End the line; if the computation succeeded, print how long it took."""
        if self._verbose and is_done:
            done = f"{self._n_rows:,} rows in " if self._n_rows else "Done in "
            self._write(done + clock(time.monotonic() - self._started), 1.0)
        if self._display is not None:
            self._display.end(is_done)

    def _show(self, text: str, phase: str, share: float | None = None, *, is_step: bool = False) -> None:
        """Write if it is time to, or if another phase begins."""
        if not self._verbose:
            return
        now, display = time.monotonic(), self._own_display()
        is_due = self._shown is None or now - self._shown >= display.pause or phase != self._phase
        if is_due or (is_step and display.shows_every_step):
            self._phase = phase
            self._write(text, share)

    def _write(self, text: str, share: float | None) -> None:
        """Write now."""
        self._shown = time.monotonic()
        self._own_display().write(text, share)

    def _own_display(self) -> Display:
        """Return the display, which is chosen when something is first shown."""
        if self._display is None:
            self._display = current_display()
        return self._display


def clock(seconds: float) -> str:
    """Format a duration for someone who waits.

    Examples
    --------
    >>> clock(0.31), clock(42.2), clock(200), clock(4000)
    ('0.3 s', '42 s', '3 min 20 s', '1 h 6 min')
    """
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
