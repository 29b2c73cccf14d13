"""Print facts, tables and JSON on standard output, and messages on standard error."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from craftmaps._system.plain_values import plain


def console(is_error: bool = False) -> Console:
    """Return the current standard output or standard error."""
    return Console(stderr=is_error, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """Print a message on standard error."""
    console(is_error=True).print(Text(text))


def print_json(document: Any) -> None:
    """Print one JSON document; numbers that are not finite are null."""
    print(json.dumps(plain(document), indent=2, ensure_ascii=False, allow_nan=False))


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print names and values, one pair a line."""
    facts, output = list(facts), console()
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        output.print(Text.assemble((f"{name:<{width}}", "dim"), "  ", _harmless(value)))


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], n_left: int = 1, title: str = "") -> None:
    """Print a table. The first `n_left` columns are aligned left, the others, which are numbers, right."""
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
    """Replace no-break spaces, which a shell does not take for spaces."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


def _harmless(text: str) -> str:
    """Escape control characters, which could move the cursor: labels and names are data."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
