"""Progress of a pass over rows on standard error: a bar on a terminal, lines elsewhere."""

import time
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from craftmaps._system.memory import peak_memory
from craftmaps._system.progress import RowClock, Step, clock
from craftmaps.cli.terminal import console

SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_UPDATES = 0.1


class ProgressBar:
    """Rows done, rows per second, time left and memory.

    On a terminal a bar, which disappears at the end. Elsewhere a line every ten seconds and one at the end.

    Parameters
    ----------
    verb : str
        The activity, such as "Learning".
    extent : Stream or PartOfStream
        Tells the number of rows or bytes.
    is_clear : bool, default=True
        Whether the terminal is free for a bar.
    output : rich.console.Console, optional
        Standard error by default.
    pause : float, optional
        Seconds between updates of the bar, or between lines.
    """

    def __init__(
        self,
        verb: str,
        extent: Any,
        is_clear: bool = True,
        output: Console | None = None,
        pause: float | None = None,
    ):
        self._verb, self._extent = verb, extent
        self._started = self._shown = time.monotonic()
        self._clock = RowClock()
        self._n_rows = 0
        self._output = console(is_error=True) if output is None else output
        self._bar: Progress | None = None
        if self._output.is_terminal and is_clear:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=20),
                TextColumn("{task.fields[told]}"),
                console=self._output,
                transient=True,
            )
            self._task = self._bar.add_task(verb, total=None, told="")
        usual = _SECONDS_BETWEEN_UPDATES if self._bar else SECONDS_BETWEEN_LINES
        self._pause = usual if pause is None else pause

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self._bar:
            self._bar.stop()
        if kind is None:
            self.say(f"{self._verb}: {self._n_rows:,} rows in {clock(time.monotonic() - self._started)}{_memory()}")

    def show(self, n_rows: int) -> None:
        """Show the number of rows done."""
        self._n_rows = n_rows
        seconds, share = self._clock.rows(), self._share()
        if not self._is_due():
            return
        told = [f"{n_rows:,} rows", f"{n_rows / max(seconds, 1e-9):,.0f} rows/s"]
        if share:
            told.append(f"{clock(seconds * (1 - share) / share)} left")
        told = ", ".join(told) + _memory()
        if self._bar:
            self._bar.update(self._task, total=None if share is None else 1.0, completed=share or 0.0, told=told)
        else:
            self.say(f"{self._verb}: {told}")

    def step(self, step: Step) -> None:
        """Show a step other than the pass over the rows."""
        self._clock.step()
        if not self._is_due():
            return
        if self._bar:
            self._bar.update(self._task, told=str(step))
        else:
            self.say(str(step))

    def say(self, text: str) -> None:
        """Print a line, above the bar if there is one."""
        self._output.print(Text(text))

    def turn_to(self, verb: str) -> None:
        """Show that another activity has begun, of unknown length."""
        if self._bar:
            self._bar.update(self._task, description=verb, total=None, told=f"{self._n_rows:,} rows{_memory()}")
        else:
            self.say(f"{verb}: {self._n_rows:,} rows{_memory()}")

    def _share(self) -> float | None:
        """Return the share of the rows that is done, if it can be told."""
        if self._extent.n_rows:
            return min(self._n_rows / self._extent.n_rows, 1.0)
        if self._extent.total_bytes:
            return min(self._extent.bytes_read / self._extent.total_bytes, 1.0)
        return None

    def _is_due(self) -> bool:
        """Tell whether the pause is over."""
        now = time.monotonic()
        is_due = now - self._shown >= self._pause
        self._shown = now if is_due else self._shown
        return is_due


class PartOfStream:
    """The extent of a pass over a share of the rows of a stream."""

    def __init__(self, stream: Any, share: float):
        self._stream, self._share = stream, share

    @property
    def n_rows(self) -> int | None:
        """Expected number of rows, or None if the files do not tell theirs."""
        n_rows = self._stream.n_rows
        return None if n_rows is None else round(self._share * n_rows)

    @property
    def total_bytes(self) -> int | None:
        """Bytes of all files, or None if unknown."""
        return self._stream.total_bytes

    @property
    def bytes_read(self) -> int:
        """Bytes of the files behind the blocks so far."""
        return self._stream.bytes_read


def _memory() -> str:
    """Return the peak memory as the end of a line."""
    n_bytes = peak_memory()
    return "" if n_bytes is None else f", {n_bytes / 1e6:,.0f} MB"
