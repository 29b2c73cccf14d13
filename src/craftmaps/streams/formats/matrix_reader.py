"""Files of matrices without column names (NPY, NPZ, IDX, HDF5) as pieces of rows, matched by position."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.errors import ArgumentError
from craftmaps.streams.formats.hdf5_arrays import hdf5_array, hdf5_names
from craftmaps.streams.formats.idx_arrays import idx_array
from craftmaps.streams.formats.numpy_arrays import npy_array, npz_array, npz_names
from craftmaps.streams.formats.stored_array import StoredArray
from craftmaps.streams.pieces import Piece
from craftmaps.streams.request import Request, Target
from craftmaps.streams.sources.data_file import DataFile
from craftmaps.streams.sources.paths import labels_beside
from craftmaps.tables.column_names import listed
from craftmaps.tables.column_rule import Columns, check_width
from craftmaps.tables.encoding import in_double
from craftmaps.tables.label_arrays import check_label_kind, labels_of

# Kinds of labels by NumPy's letters for kinds of types.
_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "number", "U": "text", "S": "text"}


class MatrixReader:
    """A file of a matrix; labels are another array, or a column of the matrix by position.

    Without `has_labels`, that column is left out and not returned.
    """

    is_sparse = False

    def __init__(self, file: DataFile, rows: StoredArray, labels: StoredArray | int | None, has_labels: bool = True):
        self.file, self.name, self.n_rows = file, rows.name, rows.shape[0] if rows.shape else 0
        if len(rows.shape) < 2:
            raise ValueError(f"{rows.name} must have rows and columns, got an array of shape {rows.shape}.")
        if rows.dtype.kind not in "biuf":
            raise ValueError(f"{rows.name} must hold numbers, got {rows.dtype}.")
        self._rows, self._labels, self._has_labels = rows, labels, has_labels
        if isinstance(labels, StoredArray):
            self._check_labels(labels)
            self.label_kind = _KINDS[labels.dtype.kind]
        else:
            self.label_kind = None if labels is None or not has_labels else _KINDS[rows.dtype.kind]
        if isinstance(labels, int) and not -rows.width <= labels < rows.width:
            raise ArgumentError(
                f"target must be a position among {rows.width} columns of {self.name}, got {labels}.", "target"
            )

    @property
    def width(self) -> int:
        """Number of features of a row."""
        return self._rows.width - isinstance(self._labels, int)

    def bind(self, columns: Columns) -> None:
        """Match the columns of the matrix with a rule by position."""
        check_width(self.width, columns, self.name)
        if self.label_kind is not None:
            place = self._labels.name if isinstance(self._labels, StoredArray) else f"of {self.name}"
            check_label_kind(self.label_kind, columns, place)
        self._columns = columns

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows of the file."""
        first_row = 0 if self.file.part is None else self.file.part.start
        n_bytes, n_before = self.file.n_bytes, first_row
        batch_rows = min(batch_rows, self.file.limits.rows_at_once(self._rows.width * self._rows.dtype.itemsize))
        all_labels = self._labels.batches(batch_rows) if isinstance(self._labels, StoredArray) else None
        for batch in self._rows.batches(batch_rows):
            rows = batch.reshape(batch.shape[0], -1)
            labels = None if all_labels is None else next(all_labels).reshape(-1)
            if isinstance(self._labels, int):
                labels = rows[:, self._labels] if self._has_labels else None
                rows = np.delete(rows, self._labels, axis=1)
            position = n_bytes * (first_row - n_before + rows.shape[0]) // max(self.n_rows, 1)
            yield Piece(rows, labels, first_row, position, self, self.width)
            first_row += rows.shape[0]

    def encode(self, piece: Piece, out: NDArray[np.floating]) -> None:
        """Write rows into `out`, with NaN for missing numbers."""
        with np.errstate(over="ignore", invalid="ignore"):
            out[:] = in_double(piece.rows)

    def labels(self, piece: Piece) -> NDArray:
        """Return the labels of rows, in the byte order of this machine."""
        labels = np.asarray(piece.labels)
        labels = np.char.decode(labels, "utf-8") if labels.dtype.kind == "S" else labels
        labels = labels.astype(labels.dtype.newbyteorder("="))
        kind, longest = self._columns.target_kind or "number", self.file.limits.longest_label
        return labels_of(labels, kind, self.name, piece.first_row, longest)

    def weights(self, piece: Piece) -> None:
        """Return None: a matrix has no column of weights."""

    def ids(self, piece: Piece) -> None:
        """Return None: a matrix has no column of ids."""

    def _check_labels(self, labels: StoredArray) -> None:
        """Refuse labels that are not one per row."""
        if labels.dtype.kind not in _KINDS:
            raise ValueError(f"{labels.name} must hold numbers, booleans or strings as labels, got {labels.dtype}.")
        if labels.shape not in ((self.n_rows,), (self.n_rows, 1)):
            raise ValueError(
                f"{labels.name} must hold one label for each of {self.n_rows} rows, got shape {labels.shape}."
            )


def matrix_readers(files: Sequence[Any], request: Request) -> list[MatrixReader]:
    """Open files of matrices, and find their labels."""
    if files[0].format == "NPY" and len(files) == 2 and len(npy_array(files[1]).shape) == 1:
        files[0].labels_path = files[1].path
        return [_reader(files[0], request, npy_array(files[1]))]
    return [_reader(file, request, None) for file in files]


def _reader(file: DataFile, request: Request, labels: StoredArray | None) -> MatrixReader:
    """Open one matrix, and find its labels."""
    target, columns = request.target, request.columns
    if file.format in ("NPZ", "HDF5"):
        rows, labels = _named_arrays(file, target, columns)
    else:
        if isinstance(target, str) and target not in ("auto", "label", "y"):
            raise ArgumentError(
                f"target must be a position for {file.name}, which has no names, got {target!r}.", "target"
            )
        read = npy_array if file.format == "NPY" else idx_array
        rows, beside = read(file), labels_beside(file.path)
        if labels is None and beside is not None and target is not None:
            labels = read(DataFile(beside, file.limits, part=file.part))
    if isinstance(target, int):
        return MatrixReader(file, rows, target)
    if target is None or (labels is None and columns is not None and target == "auto"):
        place = None if columns is None else columns.target_place(rows.width)
        return MatrixReader(file, rows, place, has_labels=target is not None)
    if labels is None:
        raise ValueError(
            f"{file.name} must have labels in 'y' (NPZ, HDF5), in a file beside it (y.npy for X.npy, IDX labels) or in "
            f"the column whose position is target, got target={target!r} and none of them."
        )
    return MatrixReader(file, rows, labels)


def _named_arrays(file: DataFile, target: Target, columns: Columns | None) -> tuple[StoredArray, StoredArray | None]:
    """Return the arrays of rows and of labels in an NPZ or HDF5 file."""
    names_of, read = (npz_names, npz_array) if file.format == "NPZ" else (hdf5_names, hdf5_array)
    names = names_of(file)
    is_open = target in ("auto", None)
    wanted = columns.target if is_open and columns is not None else target
    is_named = isinstance(wanted, str) and wanted != "auto"
    key = wanted if is_named and (wanted in names or not is_open) else "y"
    if key not in names and isinstance(target, str) and target != "auto":
        raise ArgumentError(
            f"target must be an array of {file.name}, got {target!r}: it has {listed(names)}.", "target"
        )
    others = [name for name in names if name != key]
    if "X" not in others and len(others) != 1:
        raise ValueError(f"{file.name} must have an array 'X' for the rows, got {listed(names)}.")
    rows = read(file, "X" if "X" in others else others[0])
    return rows, read(file, key) if key in names else None
