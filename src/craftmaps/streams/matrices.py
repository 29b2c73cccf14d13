"""Matrices: files of numbers without names as pieces of rows; columns are matched by position."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.array_files import array_names, idx_array, npy_array, stored_array
from craftmaps.streams.column_looks import Means
from craftmaps.streams.content import said_of
from craftmaps.streams.cutting import Piece, cut
from craftmaps.streams.files import DataFile, labels_beside
from craftmaps.streams.first_look import LOOK_BATCH, look_rows
from craftmaps.streams.limits import LARGEST_READ
from craftmaps.streams.stored_arrays import StoredArray
from craftmaps.tables.columns import Column, Columns, check_width, listed
from craftmaps.tables.encoding import check_label_kind, fill_missing, in_double, labels_of

Target = str | int | None
# Kinds of labels by the letters that NumPy has for kinds of types.
_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "number", "U": "text", "S": "text"}


class DenseReader:
    """A file of a matrix without names; labels are another array, or a column of the matrix by position.

    Without `has_labels` such a column is left out and not given.
    """

    def __init__(self, file: DataFile, rows: StoredArray, labels: StoredArray | int | None, has_labels: bool = True):
        self.file, self.name, self.n_rows = file, rows.name, rows.shape[0] if rows.shape else 0
        if len(rows.shape) < 2:
            raise ValueError(f"{rows.name} must have rows and columns, got an array of shape {rows.shape}.")
        if rows.dtype.kind not in "biuf":
            raise ValueError(f"{rows.name} must hold numbers, got {rows.dtype}.")
        self._rows, self._labels, self._has_labels = rows, labels, has_labels
        self._width = rows.width
        if isinstance(labels, StoredArray):
            self._check_labels(labels)
            self.label_kind = _KINDS[labels.dtype.kind]
        else:
            self.label_kind = None if labels is None or not has_labels else _KINDS[rows.dtype.kind]
        if isinstance(labels, int) and not -self._width <= labels < self._width:
            raise ValueError(f"target must be a position among {self._width} columns of {self.name}, got {labels}.")

    @property
    def width(self) -> int:
        """The number of features of a row."""
        return self._width - isinstance(self._labels, int)

    def bind(self, columns: Columns) -> None:
        """Match the columns of the matrix with those of a rule, by position."""
        check_width(self.width, columns, self.name)
        if self.label_kind is not None:
            place = self._labels.name if isinstance(self._labels, StoredArray) else f"of {self.name}"
            check_label_kind(self.label_kind, columns, place)
        self._columns, self._fill = columns, columns.fill_values()

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows of the file."""
        first_row, n_bytes = 0, self.file.n_bytes
        batch_rows = max(1, min(batch_rows, LARGEST_READ // max(1, self._width * self._rows.dtype.itemsize)))
        all_labels = self._labels.batches(batch_rows) if isinstance(self._labels, StoredArray) else None
        for batch in self._rows.batches(batch_rows):
            rows = batch.reshape(batch.shape[0], -1)
            labels = None if all_labels is None else next(all_labels).reshape(-1)
            if isinstance(self._labels, int):
                labels = rows[:, self._labels] if self._has_labels else None
                rows = np.delete(rows, self._labels, axis=1)
            position = n_bytes * (first_row + rows.shape[0]) // max(self.n_rows, 1)
            yield Piece(rows, labels, first_row, position, self, self.width)
            first_row += rows.shape[0]

    def encode(self, piece: Piece, out: NDArray[np.floating]) -> None:
        """Write rows to a matrix of another type."""
        with np.errstate(over="ignore", invalid="ignore"):
            out[:] = in_double(piece.rows)
        fill_missing(out, self._fill, self._columns, self.name, piece.first_row)

    def labels(self, piece: Piece) -> NDArray:
        """Return the labels of rows, in the byte order of this machine."""
        labels = np.asarray(piece.labels)
        labels = np.char.decode(labels, "utf-8") if labels.dtype.kind == "S" else labels
        labels = labels.astype(labels.dtype.newbyteorder("="))
        return labels_of(labels, self._columns.target_kind or "number", self.name, piece.first_row)

    def _check_labels(self, labels: StoredArray) -> None:
        """Refuse labels that are not one to a row."""
        if labels.dtype.kind not in _KINDS:
            raise ValueError(f"{labels.name} must hold numbers, booleans or strings as labels, got {labels.dtype}.")
        if labels.shape not in ((self.n_rows,), (self.n_rows, 1)):
            raise ValueError(
                f"{labels.name} must hold one label for each of {self.n_rows} rows, got shape {labels.shape}."
            )


def open_matrices(
    files: Sequence[Any], target: Target, columns: Columns | None, max_rows: int | None
) -> tuple[list[DenseReader], Columns]:
    """Open files of matrices; return their readers and the rule."""
    if files[0].format == "NPY" and len(files) == 2 and len(npy_array(files[1]).shape) == 1:
        readers = [_reader(files[0], target, columns, npy_array(files[1]))]
    else:
        readers = [_reader(file, target, columns, None) for file in files]
    if columns is None:
        columns = _look_at_matrices(readers, target, max_rows)
    for reader in readers:
        reader.bind(columns)
    return readers, columns


def _reader(file: DataFile, target: Target, columns: Columns | None, labels: StoredArray | None) -> DenseReader:
    """Open one matrix, and find its labels."""
    if file.format in ("NPZ", "HDF5"):
        names = array_names(file)
        is_open = target in ("auto", None)
        wanted = columns.target if is_open and columns is not None else target
        is_named = isinstance(wanted, str) and wanted != "auto"
        key = wanted if is_named and (wanted in names or not is_open) else "y"
        if key not in names and isinstance(target, str) and target != "auto":
            raise ValueError(f"target must be an array of {file.name}, got {target!r}: it has {listed(names)}.")
        labels = stored_array(file, key) if key in names else None
        others = [name for name in names if name != key]
        if "X" not in others and len(others) != 1:
            raise ValueError(f"{file.name} must have an array 'X' for the rows, got {listed(names)}.")
        rows = stored_array(file, "X" if "X" in others else others[0])
    else:
        if isinstance(target, str) and target not in ("auto", "label", "y"):
            raise ValueError(f"target must be a position for {file.name}, which has no names, got {target!r}.")
        read = npy_array if file.format == "NPY" else idx_array
        rows, beside = read(file), labels_beside(file.path)
        if labels is None and beside is not None and target is not None:
            labels = read(DataFile(beside))
    if isinstance(target, int):
        return DenseReader(file, rows, target)
    if target is None or (labels is None and columns is not None and target == "auto"):
        place = None if columns is None else columns.target_place(rows.width)
        return DenseReader(file, rows, place, has_labels=target is not None)
    if labels is None:
        raise ValueError(
            f"{file.name} must have labels in 'y' (NPZ, HDF5), in a file beside it (y.npy for X.npy, IDX labels) or in "
            f"the column whose position is target, got target={target!r} and none of them."
        )
    return DenseReader(file, rows, labels)


def _look_at_matrices(readers: list[DenseReader], target: Target, max_rows: int | None) -> Columns:
    """Fix the rule for matrices: one column of lists, and the means of its elements."""
    width, means, n_seen = readers[0].width, Means(readers[0].width), 0
    if not width:
        raise ValueError(f"{readers[0].name} must have columns, got none beside the target.")

    def pieces() -> Iterator[Piece]:
        for reader in readers:
            if reader.width != width:
                raise ValueError(f"Rows of {reader.name} must have {width} features, got {reader.width}.")
            yield from reader.pieces(LOOK_BATCH)

    for block in cut(pieces(), LOOK_BATCH, max_rows, LARGEST_READ):
        with said_of(block[-1].reader.name):
            means.add(np.concatenate([piece.rows for piece in block]))
        n_seen += sum(map(len, block))
        if n_seen >= look_rows(width):
            break
    if not n_seen:
        raise ValueError(f"{readers[0].name} has no rows.")
    column = Column("x", "list", means.fill, means.n_missing, width=width)
    return Columns((column,), "label" if target == "auto" else target, readers[0].label_kind, n_cells=width)
