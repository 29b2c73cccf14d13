"""Bounds on JSON lines before Arrow parses them: Arrow recurses into nested types and materialises absent fields."""

import re
from collections.abc import Iterator

import numpy as np

from craftmaps.streams.limits import Limits

# A field name, in text without escapes. Other strings match too, so that no match begins at their end.
_NAME = re.compile(rb'"([^"]*+)"[ \t\r\n]*+:|"[^"]*+"')
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'"[]{}'))
_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


def check_structure(lines: bytes, name: str, limits: Limits) -> int:
    """Refuse lines with deep nesting or too many fields; return a bound on the number of different fields.

    Text after a syntax error may be misread here, but Arrow does not read it.
    """
    if b"\\" in lines:
        # JSON allows no control characters, so different strings stay different.
        lines = lines.replace(b"\\\\", b"\1\1").replace(b'\\"', b"\1\2")
    marks = np.frombuffer(lines.translate(None, _NOT_STRUCTURE), np.uint8)
    is_outside = np.cumsum(marks == ord('"'), dtype=np.uint8) % 2 == 0  # parity survives overflow
    # Across line ends, which are blanks to Arrow.
    if np.cumsum(_STEPS[marks[is_outside]], dtype=np.int64).max(initial=0) > limits.deepest_nesting:
        raise ValueError(
            f"{name} must nest lists and objects at most {limits.deepest_nesting} deep, got deeper nesting."
        )
    n_fields = len({*lines.split(b'"')[1::2]})
    if n_fields > limits.most_columns or n_fields * lines.count(b"{") > limits.most_parsed_cells:
        n_fields = len({*_NAME.findall(lines)})  # without strings that are values
    if n_fields > limits.most_columns:
        raise ValueError(f"{name} must have at most {limits.most_columns:,} different fields, got {n_fields:,}.")
    return n_fields


def cut_to_cells(lines: bytes, n_columns: int, name: str, most_cells: int) -> Iterator[bytes]:
    """Yield lines in pieces of at most `most_cells` cells. An absent field takes no byte of text, but a cell."""
    most = most_cells // max(n_columns, 1)
    if len(lines) // len(b"{}") <= most or lines.count(b"{") <= most:
        yield lines
        return
    some: list[bytes] = []
    n_objects = 0
    for line in lines.splitlines(keepends=True):
        n = line.count(b"{")
        if n > most:
            raise ValueError(f"{name} must have one JSON object per line, got {n:,} in one line.")
        if n_objects + n > most:
            yield b"".join(some)
            some, n_objects = [], 0
        some.append(line)
        n_objects += n
    yield b"".join(some)
