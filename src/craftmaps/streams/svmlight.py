"""Files of sparse rows, `label index:value ...`: svmlight, also called libsvm, as batches of CSR rows."""

import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

from craftmaps.streams.content import first_line
from craftmaps.streams.cutting import Piece
from craftmaps.streams.files import DataFile, StandardInput
from craftmaps.streams.limits import LONGEST_GAP
from craftmaps.streams.lines import whole_lines
from craftmaps.tables.columns import WIDEST, Column, Columns, check_width
from craftmaps.tables.encoding import labels_of

_BLOCK = 1 << 20
_SVMLIGHT_ERRORS = (ValueError, OverflowError)


class SparseReader:
    """A svmlight file, whose rows begin with their label."""

    n_rows = None

    def __init__(self, file: DataFile | StandardInput, has_labels: bool):
        self.file, self.name = file, file.name
        self._has_labels = has_labels

    def bind(self, columns: Columns, first_index: int) -> None:
        """Take the features that a rule has, by position."""
        check_width(columns.n_features, columns, self.name)
        self._columns, self._first_index = columns, first_index

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows of the file."""
        first_row = 0
        for rows, labels, position in sparse_batches(self.file, self._columns.n_features, self._first_index):
            yield Piece(rows, labels if self._has_labels else None, first_row, position, self)
            first_row += rows.shape[0]

    def encode_sparse(self, piece: Piece, dtype: np.dtype) -> csr_matrix:
        """Return rows in a type."""
        with np.errstate(over="ignore", invalid="ignore"):
            rows = piece.rows.astype(dtype)
        bad = np.flatnonzero(~np.isfinite(rows.data))
        if bad.size:
            row = np.searchsorted(rows.indptr, bad[0], side="right")
            value, index = piece.rows.data[bad[0]], rows.indices[bad[0]] + self._first_index
            raise ValueError(
                f"Index {index} in row {piece.first_row + row} of {self.name} must be finite, got {value}."
            )
        return rows

    def labels(self, piece: Piece) -> NDArray:
        """Return the labels of rows."""
        return labels_of(piece.labels, self._columns.target_kind or "number", self.name, piece.first_row)


def needs_scan(columns: Columns | None) -> bool:
    """Tell whether a file must be read once to find the range of its indices."""
    return columns is None or columns.first_index is None


def open_svmlight(
    files: Sequence[Any], target: str | int | None, columns: Columns | None
) -> tuple[list[SparseReader], Columns]:
    """Open svmlight files; return their readers and the rule."""
    if target not in ("auto", "label", "y", None):
        raise ValueError(f"target must be left out for {files[0].name}, whose rows begin with it, got {target!r}.")
    readers = [SparseReader(file, target is not None) for file in files]
    if columns is not None and columns.first_index is not None:
        first_index = columns.first_index
    else:
        smallest, largest = _index_range(files)
        first_index = min(smallest, 1)
        if columns is None:
            width = largest + 1 - first_index
            kind = None if target is None else _label_kind(files[0], first_index)
            name = None if target is None else "label"
            columns = Columns((Column("x", "list", width=width),), name, kind, width, first_index)
    for reader in readers:
        reader.bind(columns, first_index)
    return readers, columns


def _label_kind(file: Any, first_index: int) -> str:
    """Tell whether the labels of the first rows are whole numbers."""
    for _, labels, _ in sparse_batches(file, WIDEST, first_index):
        return "integer" if (labels == np.trunc(labels)).all() else "number"
    raise ValueError(f"{file.name} has no rows.")


def _index_range(files: Sequence[Any]) -> tuple[int, int]:
    """Return the smallest and the largest index of files, without parsing their values."""
    smallest, largest = 2**62, -1
    for file in files:
        n_without = 0
        with file.opened() as (content, _):
            for lines in whole_lines(content, file.name, _BLOCK):
                indices = _indices(lines)
                n_without = 0 if indices.size else n_without + len(lines)
                _check_gap(n_without, file.name)
                if indices.size:
                    smallest, largest = min(smallest, int(indices.min())), max(largest, int(indices.max()))
    if not 0 <= largest < WIDEST:
        got = "none" if largest < 0 else str(largest)
        raise ValueError(f"{files[0].name} must have indices of features below {WIDEST}, got {got}.")
    return smallest, largest


def _check_gap(n_bytes: int, name: str) -> None:
    """Refuse a file with too many bytes between one feature, or row, and the next."""
    if n_bytes > LONGEST_GAP:
        raise ValueError(f"{name} must have rows with features, got more than {LONGEST_GAP >> 20} MB without one.")


def _indices(lines: bytes) -> NDArray[np.int64]:
    """Return the numbers that stand before colons, but for those of comments."""
    # A leading blank, so that a colon at the very beginning has something before it.
    text = np.frombuffer(b" " + lines, np.uint8)
    colons = np.flatnonzero(text == ord(":"))
    if b"#" in lines:
        last_hash, last_end = (_last_before(text, ord(mark), colons) for mark in "#\n")
        colons = colons[last_hash <= last_end]
    indices = np.zeros(colons.size, np.int64)
    is_index = np.zeros(colons.size, bool)
    at, unit = np.arange(colons.size), 1
    for back in range(1, 19):
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
    """Return where a mark last stands before each of some places, -1 if it does not."""
    marks = np.concatenate(([-1], np.flatnonzero(text == mark)))
    return marks[np.searchsorted(marks, places) - 1]


def sparse_batches(
    file: DataFile | StandardInput, width: int, first_index: int
) -> Iterator[tuple[csr_matrix, NDArray[np.float64], int]]:
    """Yield rows, labels and the number of bytes read so far; features beyond the width are left out."""
    n_lines = n_without = 0
    with file.opened() as (content, position):
        for lines in whole_lines(content, file.name, _BLOCK):
            rows, labels = _parse(lines, first_index, n_lines, file.name)
            n_lines += lines.count(b"\n")
            n_without = 0 if labels.size else n_without + len(lines)
            _check_gap(n_without, file.name)
            if labels.size:
                yield _of_width(rows, width), labels, position()


def _parse(lines: bytes, first_index: int, n_before: int, name: str) -> tuple[Any, Any]:
    """Parse lines, and name the first bad one if there is one."""
    try:
        return _load(lines, first_index)
    except _SVMLIGHT_ERRORS:
        # The first bad line, by halves: one after the other would take minutes.
        rows = lines.splitlines(keepends=True)
        good, bad = 0, len(rows)
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                _load(b"".join(rows[good:middle]), first_index)
                good = middle
            except _SVMLIGHT_ERRORS:
                bad = middle
        try:
            _load(rows[good], first_index)
        except _SVMLIGHT_ERRORS as error:
            raise ValueError(
                f"Line {n_before + good + 1} of {name} must be 'label index:value ...', got "
                f"{rows[good].rstrip()[:40].decode(errors='replace')!r}: {first_line(error)}."
            ) from None
        raise ValueError(f"{name} must have lines 'label index:value ...', got others.") from None


def _load(lines: bytes, first_index: int) -> tuple[Any, Any]:
    """Parse lines with scikit-learn."""
    return load_svmlight_file(io.BytesIO(lines), dtype=np.float64, zero_based=first_index == 0)


def _of_width(rows: csr_matrix, width: int) -> csr_matrix:
    """Return the rows with a number of columns, more or fewer."""
    if rows.shape[1] > width:
        return rows[:, :width]
    return csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], width))
