"""Text in pieces of whole lines."""

import re
from collections.abc import Iterator
from typing import Any

_LONGEST_LINE = 1 << 26
# Only at the beginning of a cell a quote opens one that may hold line ends; a quote within it is doubled.
_CELL = rb'(?:"[^"]*")*[^\r\n,;\t|]*'
_FIRST_ROW = re.compile(rb"(?:[ \t]*\r*\n)*((?:\xef\xbb\xbf)?%b(?:[,;\t|]%b)*)(\r*\n)?" % (_CELL, _CELL))


def whole_lines(content: Any, name: str, size: int, has_quotes: bool = False) -> Iterator[bytes]:
    """Yield the content in pieces of about a size that end where a line ends, but not within quotes."""
    rest = b""
    while piece := content.read(size):
        text = rest + piece
        end = text.rfind(b"\n") + 1
        if has_quotes and len(text) <= _LONGEST_LINE:
            # A quote within a quoted cell is doubled, so an odd number of them before a place means that a cell is
            # open there. Beyond the longest line it is taken for a letter.
            while end and text.count(b'"', 0, end) % 2:
                end = text.rfind(b"\n", 0, text.rfind(b'"', 0, end)) + 1
        if end:
            yield text[:end]
        rest = text[end:]
        if len(rest) > _LONGEST_LINE:
            raise ValueError(f"{name} must have lines of at most {_LONGEST_LINE >> 20} MB, got a longer one.")
    if rest:
        yield rest + b"\n"


def first_row(lines: bytes, name: str) -> tuple[bytes, int]:
    """Return the first row of whole lines that is not blank, without its end, and where the next one begins."""
    match = _FIRST_ROW.match(lines)
    if match is None or (match[2] is None and match.end() < len(lines)):
        raise ValueError(f"{name} must end its lines with a line feed, got carriage returns alone.")
    return match[1], match.end()
