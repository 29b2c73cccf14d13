"""Text in pieces of whole lines."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from craftmaps.streams.limits import Limits

_BLANK_LINES = re.compile(rb"(?:[ \t]*\r*\n)*")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# A quote opens a cell only at its beginning; the cell may hold line ends, and quotes in it are doubled.
_QUOTED = re.compile(rb'(?:"[^"]*")+')
_QUOTE_OR_END = re.compile(rb'[\r\n]|(?<=[,;\t|])"')
_LINE_END = re.compile(rb"\r*\n")


def whole_lines(content: Any, name: str, size: int, limits: Limits, has_quotes: bool = False) -> Iterator[bytes]:
    """Yield the content in pieces of about `size` bytes that end at a line end outside quotes."""
    waiting: list[bytes] = []  # pieces in which no line ends
    n_waiting = n_blank = 0
    is_open = False  # whether a quoted cell is open after them
    while piece := content.read(size):
        n_waiting += len(piece)
        is_short = n_waiting <= limits.longest_line
        if has_quotes and not is_short:
            # A quote that stays open for so long is an ordinary character.
            piece, waiting = b"".join((*waiting, piece)), []
        end = _end_outside_quotes(piece, is_open) if has_quotes and is_short else piece.rfind(b"\n") + 1
        if end:
            lines, piece = b"".join((*waiting, memoryview(piece)[:end])), piece[end:]
            n_blank = n_blank + len(lines) if lines.isspace() else 0
            yield lines
            waiting, n_waiting, is_open = [], len(piece), False
        waiting.append(piece)
        is_open ^= has_quotes and piece.count(b'"') % 2 == 1
        if n_waiting > limits.longest_line:
            raise ValueError(f"{name} must have lines of at most {limits.longest_line >> 20} MB, got a longer one.")
        if n_blank > limits.longest_gap:
            raise ValueError(f"{name} must have rows, got more than {limits.longest_gap >> 20} MB of blank lines.")
    if rest := b"".join(waiting):
        yield rest + b"\n"


def first_row(lines: bytes, name: str, most_columns: int) -> tuple[bytes, int]:
    """Return the first row that is not blank, without its line end, and the position of the next one."""
    start = _BLANK_LINES.match(lines).end()  # type: ignore[union-attr]
    end = start + len(_BYTE_ORDER_MARK) * lines.startswith(_BYTE_ORDER_MARK, start)
    is_quote = lines.startswith(b'"', end)
    for _ in range(2 * most_columns):
        if is_quote:
            quoted = _QUOTED.match(lines, end)
            end = quoted.end() if quoted else end + 1
        found = _QUOTE_OR_END.search(lines, end)
        if found is None:
            return lines[start:], len(lines)
        end, is_quote = found.start(), found[0] == b'"'
        if not is_quote:
            break
    else:
        raise ValueError(f"{name} must have at most {most_columns:,} columns, got more.")
    line_end = _LINE_END.match(lines, end)
    if line_end is None:
        raise ValueError(f"{name} must end its lines with a line feed, got carriage returns alone.")
    return lines[start:end], line_end.end()


def _end_outside_quotes(piece: bytes, is_open: bool) -> int:
    """Return the end of the last line that ends outside quotes, 0 if there is none.

    Quotes in a quoted cell are doubled: a cell is open wherever an odd number of quotes comes before.
    """
    end = piece.rfind(b"\n") + 1
    if not end or (piece.count(b'"', 0, end) % 2 == 1) == is_open:
        return end
    text = np.frombuffer(piece, np.uint8)
    line_ends = np.flatnonzero(text == ord("\n"))
    n_quotes = np.searchsorted(np.flatnonzero(text == ord('"')), line_ends)
    outside = line_ends[n_quotes % 2 == is_open]
    return int(outside[-1]) + 1 if outside.size else 0
