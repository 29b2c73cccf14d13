"""Text of svmlight files, also called libsvm: sparse rows `label index:value ...`."""

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

from craftmaps.streams.errors import first_line
from craftmaps.streams.formats.lines import whole_lines
from craftmaps.streams.limits import Limits
from craftmaps.streams.sources.data_file import DataFile
from craftmaps.streams.sources.standard_input import StandardInput

_BLOCK_BYTES = 1 << 20
_MOST_DIGITS = 18
_ERRORS = (ValueError, OverflowError)


def index_range(file: DataFile | StandardInput) -> tuple[int, int] | None:
    """Return the smallest and the largest index of a file, None if it has none; values are not parsed."""
    smallest, largest, n_without = None, -1, 0
    with file.opened() as (content, _):
        for lines in whole_lines(content, file.name, _BLOCK_BYTES, file.limits):
            indices = _indices(lines)
            n_without = 0 if indices.size else n_without + len(lines)
            _check_gap(n_without, file.name, file.limits)
            if indices.size:
                smallest = int(indices.min()) if smallest is None else min(smallest, int(indices.min()))
                largest = max(largest, int(indices.max()))
    return None if smallest is None else (smallest, largest)


def sparse_batches(
    file: DataFile | StandardInput, first_index: int
) -> Iterator[tuple[csr_matrix, NDArray[np.float64], int]]:
    """Yield rows, whose width is that of the widest among them, their labels, and the number of bytes read."""
    n_lines = n_without = 0
    with file.opened_part() as (content, position):
        for lines in whole_lines(content, file.name, _BLOCK_BYTES, file.limits):
            rows, labels = _parse(lines, first_index, n_lines, file.name)
            n_lines += lines.count(b"\n")
            n_without = 0 if labels.size else n_without + len(lines)
            _check_gap(n_without, file.name, file.limits)
            if labels.size:
                yield rows, labels, position()


def _check_gap(n_bytes: int, name: str, limits: Limits) -> None:
    """Refuse a file with too many bytes between one feature, or row, and the next."""
    if n_bytes > limits.longest_gap:
        raise ValueError(
            f"{name} must have rows with features, got more than {limits.longest_gap >> 20} MB without one."
        )


def _indices(lines: bytes) -> NDArray[np.int64]:
    """Return the numbers before colons, except in comments."""
    # A leading blank, so that a colon at the very beginning has a character before it.
    text = np.frombuffer(b" " + lines, np.uint8)
    colons = np.flatnonzero(text == ord(":"))
    if b"#" in lines:
        last_hash, last_end = (_last_before(text, ord(mark), colons) for mark in "#\n")
        colons = colons[last_hash <= last_end]
    indices = np.zeros(colons.size, np.int64)
    is_index = np.zeros(colons.size, bool)
    at, unit = np.arange(colons.size), 1
    for back in range(1, _MOST_DIGITS + 1):
        digits = text[np.maximum(colons[at] - back, 0)].astype(np.int64) - ord("0")
        good = (digits >= 0) & (digits <= 9)
        at, digits = at[good], digits[good]
        if not at.size:
            break
        indices[at] += digits * unit
        is_index[at] = True
        unit *= 10
    return indices[is_index]


def _last_before(text: NDArray[np.uint8], mark: int, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the last position of a mark before each place, -1 if there is none."""
    marks = np.concatenate(([-1], np.flatnonzero(text == mark)))
    return marks[np.searchsorted(marks, places) - 1]


def _parse(lines: bytes, first_index: int, n_before: int, name: str) -> tuple[Any, Any]:
    """Parse lines that follow `n_before` others, and name the first bad one."""
    try:
        return _load(lines, first_index)
    except _ERRORS:
        # Bisect to the first bad line: one line at a time would take minutes.
        rows = lines.splitlines(keepends=True)
        good, bad = 0, len(rows)
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                _load(b"".join(rows[good:middle]), first_index)
                good = middle
            except _ERRORS:
                bad = middle
        try:
            _load(rows[good], first_index)
        except _ERRORS as error:
            got = f"{rows[good].rstrip()[:40].decode(errors='replace')!r}"
            line = f"Line {n_before + good + 1} of {name}"
            if first_index == 1 and not _is_bad(rows[good], 0):
                raise ValueError(
                    f"{line} must have indices from 1 on, got {got}: open the file with zero_based=True."
                ) from None
            raise ValueError(f"{line} must be 'label index:value ...', got {got}: {first_line(error)}.") from None
        raise ValueError(f"{name} must have lines 'label index:value ...', got others.") from None


def _is_bad(line: bytes, first_index: int) -> bool:
    """Tell whether a line cannot be parsed with indices from 0 or 1 on."""
    try:
        _load(line, first_index)
    except _ERRORS:
        return True
    return False


def _load(lines: bytes, first_index: int) -> tuple[Any, Any]:
    """Parse lines with scikit-learn."""
    return load_svmlight_file(io.BytesIO(lines), dtype=np.float64, zero_based=first_index == 0)
