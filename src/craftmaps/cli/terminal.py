"""Print: tables and JSON on standard output, progress on standard error, as a bar or as plain lines."""

import json
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

from craftmaps._system.progress import RowClock, Step
from craftmaps.cli.memory import peak_memory

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_LOOKS = 0.1


def console(is_error: bool = False) -> Console:
    """Return standard output, or standard error, as it is now."""
    return Console(stderr=is_error, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """Tell a person something, on standard error."""
    console(is_error=True).print(Text(text))


def print_json(document: Any) -> None:
    """Print one JSON document; what is not a finite number is null."""
    print(json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False))


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print names and values, one pair a line."""
    facts, output = list(facts), console()
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        output.print(Text.assemble((f"{name:<{width}}", "dim"), "  ", _harmless(value)))


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], n_left: int = 1, title: str = "") -> None:
    """Print a table: the first columns to the left, the others, which are numbers, to the right; nothing is cut."""
    lines, output = [[_harmless(cell) for cell in line] for line in (head, *rows)], console()
    if title:
        output.print(Text(title))
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["\N{BOX DRAWINGS LIGHT HORIZONTAL}" * width for width in widths])
    for i, line in enumerate(lines):
        blanks = [" " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)]
        cells = [c + b if k < n_left else b + c for k, (c, b) in enumerate(zip(line, blanks, strict=True))]
        output.print(Text("  ".join(cells).rstrip(), style="dim" if i < 2 else ""))


def words(text: str) -> str:
    """Return a text with spaces that a shell can copy."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


def _harmless(text: str) -> str:
    """Return a text without what moves the cursor: labels and names may come from anywhere."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class Progress:
    """How far some work is: rows, rows a second, time left and memory.

    On a terminal a bar that goes when the work is done; elsewhere a line every ten seconds and one at the end.

    Parameters
    ----------
    verb : str
        What is done, such as "Learning".
    stream : Stream
        Tells how many rows or bytes there are.
    is_clear : bool, default=True
        Whether a terminal is free for a bar.
    """

    def __init__(self, verb: str, stream: Any, is_clear: bool = True):
        self._verb, self._stream = verb, stream
        self._started = self._shown = time.monotonic()
        self._clock = RowClock()
        self.n_rows = 0
        self._bar: RichProgress | None = None
        output = console(is_error=True)
        if output.is_terminal and is_clear:
            self._bar = RichProgress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=20),
                TextColumn("{task.fields[told]}"),
                console=output,
                transient=True,
            )
            self._task = self._bar.add_task(verb, total=None, told="")

    def __enter__(self) -> "Progress":
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self._bar:
            self._bar.stop()
        if kind is None:
            say(f"{self._verb}: {self.n_rows:,} rows in {_clock(time.monotonic() - self._started)}{_memory()}")

    def show(self, n_rows: int) -> None:
        """Say that so many rows are done."""
        self.n_rows = n_rows
        seconds, share = self._clock.rows(), self._share()
        if not self._is_due():
            return
        told = [f"{n_rows:,} rows", f"{n_rows / max(seconds, 1e-9):,.0f} rows/s"]
        if share:
            told.append(f"{_clock(seconds * (1 - share) / share)} left")
        told = ", ".join(told) + _memory()
        if self._bar:
            self._bar.update(self._task, total=None if share is None else 1.0, completed=share or 0.0, told=told)
        else:
            say(f"{self._verb}: {told}")

    def step(self, step: Step) -> None:
        """Show what is being done other than going through rows."""
        self._clock.step()
        if not self._is_due():
            return
        if self._bar:
            self._bar.update(self._task, told=str(step))
        else:
            say(str(step))

    def say(self, text: str) -> None:
        """Tell a person something, above the bar if there is one."""
        if self._bar:
            self._bar.console.print(Text(text))
        else:
            say(text)

    def turn_to(self, verb: str) -> None:
        """Say that other work has begun, of which it is not known how long it takes."""
        if self._bar:
            self._bar.update(self._task, description=verb, total=None, told=f"{self.n_rows:,} rows{_memory()}")
        else:
            say(f"{verb}: {self.n_rows:,} rows{_memory()}")

    def _share(self) -> float | None:
        """Return the share of the work that is done, if that can be told."""
        if self._stream.n_rows:
            return min(self.n_rows / self._stream.n_rows, 1.0)
        if self._stream.total_bytes:
            return min(self._stream.bytes_read / self._stream.total_bytes, 1.0)
        return None

    def _is_due(self) -> bool:
        """Tell whether it is time to say something again."""
        now = time.monotonic()
        is_due = now - self._shown >= (_SECONDS_BETWEEN_LOOKS if self._bar else _SECONDS_BETWEEN_LINES)
        self._shown = now if is_due else self._shown
        return is_due


def _clock(seconds: float) -> str:
    """Write a time for people who wait."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _memory() -> str:
    """Write the memory used so far at most, where the system tells it."""
    n_bytes = peak_memory()
    return "" if n_bytes is None else f", {n_bytes / 1e6:,.0f} MB"


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not abs(value) <= sys.float_info.max else value
