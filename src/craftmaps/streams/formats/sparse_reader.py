"""svmlight files as pieces of CSR rows, matched with a rule by position.

Whether indices begin at 0 or at 1 is a property of a file that its content does not settle: a file whose indices begin
at 0 may have no feature 0. It is `zero_based` if that is given, else the base stored in `columns`, else 0 if any file
has an index 0 and 1 otherwise, as in scikit-learn's `load_svmlight_file`.
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from craftmaps.streams.errors import ArgumentError
from craftmaps.streams.formats.svmlight import index_range, sparse_batches
from craftmaps.streams.pieces import Piece
from craftmaps.streams.request import Request
from craftmaps.streams.sources.data_file import DataFile
from craftmaps.streams.sources.standard_input import StandardInput
from craftmaps.tables.column import WIDEST, Column
from craftmaps.tables.column_rule import Columns, check_width
from craftmaps.tables.label_arrays import labels_of


class SparseReader:
    """An svmlight file, whose rows begin with their label."""

    is_sparse = True
    n_rows = None

    def __init__(self, file: DataFile | StandardInput, has_labels: bool, first_index: int):
        self.file, self.name = file, file.name
        self._has_labels, self._first_index = has_labels, first_index
        self._has_warned = False

    def bind(self, columns: Columns) -> None:
        """Take the features of a rule, by position."""
        check_width(columns.n_features, columns, self.name)
        self._columns = columns

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows of the file."""
        first_row = 0
        for rows, labels, position in sparse_batches(self.file, self._first_index):
            yield Piece(self._of_width(rows), labels if self._has_labels else None, first_row, position, self)
            first_row += rows.shape[0]

    def encode(self, piece: Piece, dtype: np.dtype) -> csr_matrix:
        """Return rows in a type; refuse values that are not finite."""
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
        kind, longest = self._columns.target_kind or "number", self.file.limits.longest_label
        return labels_of(piece.labels, kind, self.name, piece.first_row, longest)

    def weights(self, piece: Piece) -> None:
        """Return None: svmlight has no weights."""

    def ids(self, piece: Piece) -> None:
        """Return None: svmlight has no ids."""

    def _of_width(self, rows: csr_matrix) -> csr_matrix:
        """Return rows with the width of the rule; features beyond it are left out, and reported once."""
        width = self._columns.n_features
        if rows.shape[1] <= width:
            return csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], width))
        if not self._has_warned:
            self._has_warned = True
            last, found = width - 1 + self._first_index, rows.shape[1] - 1 + self._first_index
            warnings.warn(
                f"{self.name} has the index {found}, but the features of columns end at {last}: larger indices are "
                f"left out. If indices begin at {1 - self._first_index} in this file, open it with "
                f"zero_based={self._first_index == 1}.",
                stacklevel=2,
            )
        return rows[:, :width]


def needs_scan(request: Request) -> bool:
    """Tell whether the range of indices must be found before the rows are read."""
    return request.columns is None or request.columns.first_index is None


def open_svmlight(files: Sequence[Any], request: Request) -> tuple[list[SparseReader], Columns]:
    """Open svmlight files; return their readers and the rule."""
    target, columns = request.target, request.columns
    if target not in ("auto", "label", "y", None):
        raise ArgumentError(
            f"target must be left out for {files[0].name}, whose rows begin with it, got {target!r}.", "target"
        )
    if columns is not None and columns.first_index is not None:
        first_index = columns.first_index if request.zero_based == "auto" else 1 - bool(request.zero_based)
    else:
        smallest, largest = _index_range(files)
        first_index = min(smallest, 1) if request.zero_based == "auto" else 1 - bool(request.zero_based)
        width = largest + 1 - first_index
        if columns is None:
            kind = None if target is None else _label_kind(files[0], first_index)
            name = None if target is None else "label"
            columns = Columns((Column("x", "list", width=width),), name, kind, width, first_index)
        elif width > columns.n_features:
            raise ValueError(
                f"Rows of {files[0].name} must have {columns.n_features} features, from index {first_index} on, got "
                f"index {largest}."
            )
    readers = [SparseReader(file, target is not None, first_index) for file in files]
    for reader in readers:
        reader.bind(columns)
    return readers, columns


def _label_kind(file: Any, first_index: int) -> str:
    """Tell whether the labels of the first rows are whole numbers."""
    for _, labels, _ in sparse_batches(file, first_index):
        return "integer" if (labels == np.trunc(labels)).all() else "number"
    raise ValueError(f"{file.name} has no rows.")


def _index_range(files: Sequence[Any]) -> tuple[int, int]:
    """Return the smallest and the largest index of all files."""
    ranges = [found for file in files if (found := index_range(file)) is not None]
    largest = max((largest for _, largest in ranges), default=-1)
    if not 0 <= largest < WIDEST:
        got = "none" if largest < 0 else str(largest)
        raise ValueError(f"{files[0].name} must have indices of features below {WIDEST}, got {got}.")
    return min(smallest for smallest, _ in ranges), largest
