"""Tables of named columns as pieces of rows."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.column_options import ColumnOptions, resolve_column
from craftmaps.streams.errors import ArgumentError, errors_named
from craftmaps.streams.formats.arrow_table import ArrowTable
from craftmaps.streams.formats.csv_table import CsvTable
from craftmaps.streams.formats.json_table import JsonTable
from craftmaps.streams.formats.parquet_table import ParquetTable
from craftmaps.streams.formats.side_columns import SideColumns
from craftmaps.streams.limits import Limits
from craftmaps.streams.pieces import Piece
from craftmaps.streams.request import Request, Target
from craftmaps.tables.column_names import check_unique, listed
from craftmaps.tables.column_rule import Columns
from craftmaps.tables.encoding import bind, encode_rows
from craftmaps.tables.kinds import is_null, kind_of
from craftmaps.tables.label_arrays import check_label_kind, labels_of


class TableReader:
    """A table, and the name of its column of labels."""

    is_sparse = False

    def __init__(self, file: Any, table: Any, target: str | None, options: ColumnOptions):
        self.file, self.name, self.n_rows = file, file.name, table.n_rows
        self.table, self.target = table, target
        self._side = SideColumns(table, options, target, file.limits)

    def bind(self, columns: Columns) -> None:
        """Match the columns of the file with a rule by name."""
        self._bound = bind(columns, self.table.schema, self.name, self.table.is_typed)
        self._side.refuse_features(columns.names)
        self._columns = columns
        if self.target is not None and self.table.is_typed:
            label_type = self.table.schema.field(self.target).type
            # Labels that are all missing are refused when they are read, by row.
            if not is_null(label_type):
                check_label_kind(kind_of(label_type), columns, f"{self.target!r} of {self.name}")

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows of the file."""
        kinds = {column.name: column.cell_kind for column in self._bound}
        if self.target is not None:
            kinds[self.target] = self._columns.target_kind or "text"
        kinds |= self._side.kinds(kinds)
        for piece in self.raw_pieces(kinds, batch_rows):
            labels = None if self.target is None else piece.rows.column(self.target)
            yield Piece(piece.rows, labels, piece.first_row, piece.position, self, self._columns.n_features)

    def raw_pieces(self, kinds: dict[str, str], batch_rows: int) -> Iterator[Piece]:
        """Yield rows of the columns in `kinds`; the target is a column like any other."""
        first_row = getattr(self.table, "first_row", 0)
        for batch, position in self.table.batches(kinds, batch_rows):
            yield Piece(batch, None, first_row, position, self)
            first_row += batch.num_rows

    def encode(self, piece: Piece, out: NDArray[np.floating]) -> None:
        """Write the features of rows into `out`, with NaN for missing numbers."""
        encode_rows(piece.rows, self._bound, out, self.name, piece.first_row)

    def labels(self, piece: Piece) -> NDArray:
        """Return the labels of rows."""
        kind, longest = self._columns.target_kind or "text", self.file.limits.longest_label
        return labels_of(piece.labels, kind, self.name, piece.first_row, longest)

    def weights(self, piece: Piece) -> NDArray[np.float64] | None:
        """Return the weights of rows, if the stream has weights."""
        return self._side.weights_of(piece.rows, piece.first_row)

    def ids(self, piece: Piece) -> NDArray | None:
        """Return the ids of rows, if the stream has ids."""
        return self._side.ids_of(piece.rows, piece.first_row)


def table_readers(files: Sequence[Any], request: Request) -> list[TableReader]:
    """Open tables, and find their targets."""
    readers = [_reader(file, request) for file in files]
    columns = request.columns
    if columns is not None and columns.target_kind is None and any(reader.target is not None for reader in readers):
        raise ArgumentError(
            f"target must be None with columns that were made without a target, got {request.target!r}.", "target"
        )
    return readers


def _reader(file: Any, request: Request) -> TableReader:
    """Open one table, and find its target."""
    target, columns, options = request.target, request.columns, request.options
    table = _table(file, request)
    if not table.has_names:
        return TableReader(file, table, _name_cells(table, target, columns), options)
    with errors_named(file.name):
        names = table.schema.names
    _check_names(names, file.name, file.limits)
    check_unique(names, file.name)
    if target != "auto":
        found = None if target is None else resolve_column(target, names, "target", file.name)
        return TableReader(file, table, found, options)
    wanted = "label" if columns is None else columns.target
    if columns is None and wanted not in names:
        raise ArgumentError(
            f"target must name the column of labels, as {file.name} has no column 'label': it has {listed(names)}.",
            "target",
        )
    return TableReader(file, table, wanted if isinstance(wanted, str) and wanted in names else None, options)


def _table(file: Any, request: Request) -> Any:
    """Return the table of a file or of a data frame."""
    columns, options = request.columns, request.options
    if file.format == "CSV":
        known = {request.target if isinstance(request.target, str) and request.target != "auto" else "label"}
        known |= {name for name in (options.weight, options.ids) if name is not None}
        decimal = options.decimal or ("." if columns is None else columns.decimal)
        return CsvTable(file, known if columns is None else {*known, *columns.names}, decimal)
    if file.format == "JSON lines":
        return JsonTable(file, warns=columns is None)
    if file.format == "data frame":
        return file.table
    return (ParquetTable if file.format == "Parquet" else ArrowTable)(file)


def _check_names(names: Sequence[str], file: str, limits: Limits) -> None:
    """Refuse too many columns, and very long names."""
    if len(names) > limits.most_columns:
        raise ValueError(f"{file} must have at most {limits.most_columns:,} columns, got {len(names):,}.")
    longest = max(map(len, names), default=0)
    if longest > limits.longest_name:
        raise ValueError(
            f"{file} must have column names of at most {limits.longest_name} characters, got one of {longest:,}."
        )


def _name_cells(table: CsvTable, target: Target, columns: Columns | None) -> str | None:
    """Name the cells of a file without names `x_0`, `x_1` and so on, and "target"; return the target, if asked for."""
    n_cells = len(table.schema.names)
    n_known = None if columns is None else columns.n_cells if columns.n_cells is not None else columns.n_named_cells
    if isinstance(target, str) and (columns is None or target != "auto"):
        raise ArgumentError(
            f"target must be a position, as the first line of {table.name} does not name its columns, got {target!r}.",
            "target",
        )
    position = target
    if target in ("auto", None) and columns is not None:
        # Labels that are not asked for may still be in the file.
        position = columns.target_place(n_cells)
    if position is not None:
        resolve_column(position, table.schema.names, "target", table.name)
    n_features = n_cells - (position is not None)
    if n_known not in (None, n_features):
        raise ValueError(f"Rows of {table.name} must have {n_known} cells beside the target, got {n_features}.")
    if columns is not None and columns.n_cells is None:
        names = columns.cell_names
    else:
        names = [f"x_{i}" for i in range(n_features)]
    if isinstance(position, int):
        names.insert(position % n_cells, "target")
    table.rename(names)
    return None if target is None or position is None else "target"
