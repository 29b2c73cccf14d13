"""Where progress is shown: one line of a terminal, a bar in a notebook, or lines of a log."""

import html
import shutil
import sys
from importlib import import_module
from typing import Any, Protocol


class Display(Protocol):
    """A place that shows what is being done."""

    pause: float  # least seconds between two lines of one phase
    shows_every_step: bool

    def write(self, text: str, share: float | None) -> None:
        """Show a text, and the share that is done if it is known."""

    def end(self, is_done: bool) -> None:
        """Leave the display as it shall stay."""


def current_display() -> Display:
    """Return the display for the place where this code runs."""
    if is_notebook():
        return NotebookBar()
    return TerminalLine() if sys.stderr is not None and sys.stderr.isatty() else LogLines()


def is_notebook() -> bool:
    """Tell whether a Jupyter kernel runs this code."""
    # IPython is not imported for it: code that runs in a kernel was started by IPython.
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class TerminalLine:
    """One line on standard error that is overwritten."""

    # Every step is shown: it may be the one that takes long.
    pause, shows_every_step = 0.2, True

    def __init__(self) -> None:
        self._width = 0

    def write(self, text: str, share: float | None) -> None:
        """Overwrite the line."""
        text = text[: max(shutil.get_terminal_size().columns - 1, 1)]
        print(f"\r{text:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def end(self, is_done: bool) -> None:
        """End the line."""
        print(file=sys.stderr)


class LogLines:
    """Lines on standard error: when a phase begins, and every five seconds."""

    pause, shows_every_step = 5.0, False

    def write(self, text: str, share: float | None) -> None:
        """Print a line."""
        print(text, file=sys.stderr, flush=True)

    def end(self, is_done: bool) -> None:
        """Do nothing: every line is complete."""


class NotebookBar:
    """A bar and a text below a cell of a notebook, updated in place. Front ends without HTML show the text."""

    pause, shows_every_step = 0.2, True

    def __init__(self) -> None:
        self._handle: Any = None
        self._text = ""

    def write(self, text: str, share: float | None) -> None:
        """Update the bar; it moves to and fro while the share is not known."""
        value = "" if share is None else f' value="{min(max(share, 0.0), 1.0):.4f}"'
        self._update(text, f'<progress max="1"{value} style="width:14em;flex:none;accent-color:#175ca8"></progress>')

    def end(self, is_done: bool) -> None:
        """Take the bar away and leave the last text; a bar that was interrupted must not go on moving."""
        if self._handle is not None:
            self._update(self._text if is_done else f"Stopped: {self._text}", "")

    def _update(self, text: str, bar: str) -> None:
        """Show a bar and a text, in the place of the last ones."""
        self._text = text
        style = "display:flex;gap:.75em;align-items:center;font-variant-numeric:tabular-nums"
        bundle = {"text/plain": text, "text/html": f'<div style="{style}">{bar}<span>{html.escape(text)}</span></div>'}
        if self._handle is None:
            self._handle = import_module("IPython.display").display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)
