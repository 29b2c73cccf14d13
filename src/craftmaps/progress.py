"""Progress of long work: the work tells what it is at, and whoever wants to know listens."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_SECONDS_BETWEEN_LOOKS = 0.2
_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def tell(step: str) -> None:
    """Say what is being done, other than counting rows."""
    listener = _listener.get()
    if listener is not None:
        listener(step)


@contextmanager
def heard_by(listener: Callable[[str], None]) -> Iterator[None]:
    """Let somebody hear what the work inside tells."""
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
    finally:
        progress.end()


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
    """A line that says what is being done, or how many rows are done, how fast, and how long it will take."""

    def __init__(self, verbose: int):
        self._verbose = verbose
        self._clock = RowClock()
        self._shown: float | None = None

    def step(self, step: str) -> None:
        """Say what is being done."""
        self._clock.step()
        self._show(step)

    def show(self, n_rows: int, share: float | None) -> None:
        """Say how many rows are done, and which share of all if that is known."""
        seconds = self._clock.rows() or 1e-9
        text = f"{n_rows:,} rows, {n_rows / seconds:,.0f} rows/s"
        if share:
            text += f", {share:.0%}, {seconds * (1 - share) / share:.0f} s left"
        self._show(text)

    def end(self) -> None:
        """End the line."""
        if self._shown is not None:
            print(file=sys.stderr)

    def _show(self, text: str) -> None:
        """Write over the line, a few times a second at the most."""
        now = time.monotonic()
        if not self._verbose or (self._shown is not None and now - self._shown < _SECONDS_BETWEEN_LOOKS):
            return
        self._shown = now
        print(f"\r{text:<90}", end="", file=sys.stderr, flush=True)
