"""The structure of JSON lines, bounded before Arrow parses them: it recurses into types and fills in absent fields."""

import re
from collections.abc import Iterator

import numpy as np

from craftmaps.streams.limits import DEEPEST, MOST_COLUMNS, MOST_PARSED

# The name of a field, in text without escapes. Other strings are matched too, so that none is begun at its end.
_NAME = re.compile(rb'"([^"]*+)"[ \t\r\n]*+:|"[^"]*+"')
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'"[]{}'))
_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


def check_structure(lines: bytes, name: str) -> int:
    """Refuse lines that nest too deeply or have too many fields; return a bound on the number of different fields.

    What comes after an error of syntax may be misread here, but Arrow does not read it.
    """
    if b"\\" in lines:
        # Control characters are not allowed in JSON, so different strings stay different.
        lines = lines.replace(b"\\\\", b"\1\1").replace(b'\\"', b"\1\2")
    marks = np.frombuffer(lines.translate(None, _NOT_STRUCTURE), np.uint8)
    is_outside = np.cumsum(marks == ord('"'), dtype=np.uint8) % 2 == 0  # that it overflows does not matter
    # Over the ends of lines, as Arrow takes them for blanks.
    if np.cumsum(_STEPS[marks[is_outside]], dtype=np.int64).max(initial=0) > DEEPEST:
        raise ValueError(f"{name} must nest lists and objects at most {DEEPEST} deep, got deeper ones.")
    n_fields = len({*lines.split(b'"')[1::2]})
    if n_fields > MOST_COLUMNS or n_fields * lines.count(b"{") > MOST_PARSED:
        n_fields = len({*_NAME.findall(lines)})  # without the strings that are values
    if n_fields > MOST_COLUMNS:
        raise ValueError(f"{name} must have at most {MOST_COLUMNS:,} different fields, got {n_fields:,}.")
    return n_fields


def cut_to_cells(lines: bytes, n_columns: int, name: str) -> Iterator[bytes]:
    """Yield lines in pieces of a bounded number of cells. An absent field takes no byte, but a cell."""
    most = MOST_PARSED // max(n_columns, 1)
    if len(lines) // len(b"{}") <= most or lines.count(b"{") <= most:
        yield lines
        return
    some: list[bytes] = []
    n_objects = 0
    for line in lines.splitlines(keepends=True):
        n = line.count(b"{")
        if n > most:
            raise ValueError(f"{name} must have one JSON object a line, got {n:,} in one line.")
        if n_objects + n > most:
            yield b"".join(some)
            some, n_objects = [], 0
        some.append(line)
        n_objects += n
    yield b"".join(some)
