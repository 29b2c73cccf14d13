"""Tables: files of named columns as pieces of rows, and the rule by which these become a matrix."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.arrow_files import ArrowTable, ParquetTable
from craftmaps.streams.carried import CarriedColumns
from craftmaps.streams.column_options import ColumnOptions
from craftmaps.streams.content import import_arrow, said_of
from craftmaps.streams.cutting import Piece, cut
from craftmaps.streams.first_look import LOOK_BATCH, TableLook, look_rows
from craftmaps.streams.limits import LARGEST_READ, LONGEST_LABEL, LONGEST_NAME, MOST_COLUMNS
from craftmaps.streams.names import resolve
from craftmaps.streams.text_files import CsvTable, JsonTable
from craftmaps.tables.columns import Columns, check_different, listed
from craftmaps.tables.encoding import (
    as_text,
    bind,
    check_kinds,
    check_label_kind,
    encode_rows,
    is_null,
    kind_of,
    labels_of,
)

Target = str | int | None


class TableReader:
    """A file of named columns, and the name of the one that holds the labels."""

    def __init__(self, file: Any, table: Any, target: str | None, options: ColumnOptions):
        self.file, self.name, self.n_rows = file, file.name, table.n_rows
        self.table, self.target = table, target
        self.carried = CarriedColumns(table, options, target)

    def bind(self, columns: Columns) -> None:
        """Match the columns of the file with those of a rule."""
        self._bound = bind(columns, self.table.schema, self.name, self.table.is_typed)
        self.carried.refuse_features(columns.names)
        self._columns, self._fill = columns, columns.fill_values()
        if self.target is not None and self.table.is_typed:
            label_type = self.table.schema.field(self.target).type
            # Labels that are all missing are refused where they are read, which names the row.
            if not is_null(label_type):
                check_label_kind(kind_of(label_type), columns, f"{self.target!r} of {self.name}")

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows of the file."""
        kinds = {column.name: column.cell_kind for column in self._bound}
        if self.target is not None:
            kinds[self.target] = self._columns.target_kind or "text"
        kinds |= self.carried.kinds(kinds)
        for piece in self.raw_pieces(kinds, batch_rows):
            labels = None if self.target is None else piece.rows.column(self.target)
            yield Piece(piece.rows, labels, piece.first_row, piece.position, self, self._columns.n_features)

    def raw_pieces(self, kinds: dict[str, str], batch_rows: int) -> Iterator[Piece]:
        """Yield rows of the file with some columns, the target like any other."""
        first_row = 0
        for batch, position in self.table.batches(kinds, batch_rows):
            yield Piece(batch, None, first_row, position, self)
            first_row += batch.num_rows

    def encode(self, piece: Piece, out: NDArray[np.floating]) -> None:
        """Write the features of rows to a matrix."""
        encode_rows(piece.rows, self._bound, self._columns, self._fill, out, self.name, piece.first_row)

    def labels(self, piece: Piece) -> NDArray:
        """Return the labels of rows."""
        if self._columns.target_kind == "text":
            _check_label_lengths(piece, self.name)
        return labels_of(piece.labels, self._columns.target_kind or "text", self.name, piece.first_row)


def _check_label_lengths(piece: Piece, file: str) -> None:
    """Refuse labels of absurd length: NumPy gives every label of a block the room of the longest."""
    compute = import_arrow("pyarrow.compute")
    lengths = compute.binary_length(as_text(piece.labels))
    longest = compute.max(lengths).as_py() or 0
    if longest > LONGEST_LABEL:
        row = piece.first_row + compute.index(lengths, longest).as_py() + 1
        raise ValueError(f"{file} must have labels of at most {LONGEST_LABEL} bytes, got {longest:,} in row {row}.")


def open_tables(
    files: Sequence[Any], target: Target, columns: Columns | None, options: ColumnOptions, max_rows: int | None
) -> tuple[list[TableReader], Columns]:
    """Open tables; return their readers and the rule."""
    readers = [_table_reader(file, target, columns, options) for file in files]
    if columns is None:
        columns = _look_at_tables(readers, target, options, max_rows)
    elif columns.target_kind is None and any(reader.target is not None for reader in readers):
        raise ValueError(f"target must be None with columns that were made without a target, got {target!r}.")
    for reader in readers:
        reader.bind(columns)
    return readers, columns


def _table_reader(file: Any, target: Target, columns: Columns | None, options: ColumnOptions) -> TableReader:
    """Open one table, and find its target."""
    if file.format == "CSV":
        known = {target if isinstance(target, str) and target != "auto" else "label"}
        known |= {name for name in (options.weight, options.ids) if name is not None}
        decimal = options.decimal or ("." if columns is None else columns.decimal)
        table = CsvTable(file, known if columns is None else {*known, *columns.names}, decimal)
        if not table.has_names:
            return TableReader(file, table, _name_cells(table, target, columns), options)
    elif file.format == "JSON lines":
        table = JsonTable(file, warns=columns is None)
    elif file.format == "data frame":
        table = file.table
    else:
        table = (ParquetTable if file.format == "Parquet" else ArrowTable)(file)
    with said_of(file.name):
        names = table.schema.names
    _check_names(names, file.name)
    check_different(names, file.name)
    if target == "auto":
        wanted = "label" if columns is None else columns.target
        if columns is None and wanted not in names:
            raise ValueError(
                f"target must name the column of labels, as {file.name} has no column 'label': it has {listed(names)}."
            )
        return TableReader(file, table, wanted if isinstance(wanted, str) and wanted in names else None, options)
    return TableReader(file, table, None if target is None else resolve(target, names, "target", file.name), options)


def _check_names(names: Sequence[str], file: str) -> None:
    """Refuse more columns, or longer names of them, than a table has."""
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"{file} must have at most {MOST_COLUMNS:,} columns, got {len(names):,}.")
    longest = max(map(len, names), default=0)
    if longest > LONGEST_NAME:
        raise ValueError(
            f"{file} must have names of columns of at most {LONGEST_NAME} characters, got one of {longest:,}."
        )


def _name_cells(table: CsvTable, target: Target, columns: Columns | None) -> str | None:
    """Name the cells of a file without names, `x_0` and so on beside the target; return the name of the target."""
    n_cells = len(table.schema.names)
    n_known = None if columns is None else columns.n_cells if columns.n_cells is not None else columns.n_named_cells
    if isinstance(target, str) and (columns is None or target != "auto"):
        raise ValueError(
            f"target must be a position, as the first line of {table.name} does not name its columns, got {target!r}."
        )
    place = target
    if target in ("auto", None) and columns is not None:
        # Labels that are not asked for may stand in their place all the same.
        place = columns.target_place(n_cells)
    if place is not None:
        resolve(place, table.schema.names, "target", table.name)
    n_features = n_cells - (place is not None)
    if n_known not in (None, n_features):
        raise ValueError(f"Rows of {table.name} must have {n_known} cells beside the target, got {n_features}.")
    if columns is not None and columns.n_cells is None:
        names = columns.cell_names
    else:
        names = [f"x_{i}" for i in range(n_features)]
    if isinstance(place, int):
        names.insert(place % n_cells, "target")
    table.rename(names)
    return None if target is None or place is None else "target"


def _look_at_tables(
    readers: list[TableReader], target: Target, options: ColumnOptions, max_rows: int | None
) -> Columns:
    """Fix the rule for tables."""
    first = readers[0]
    names = first.table.schema.names
    options = options.resolved(names, first.name, first.target)
    look = TableLook(_typed_schema(readers), first.target, first.name, first.table.is_typed, options)
    kinds = look.kinds

    def pieces() -> Iterator[Piece]:
        for reader in readers:
            present = set(reader.table.schema.names)
            missing = [name for name in kinds if name not in present]
            if missing:
                raise ValueError(f"{reader.name} lacks the columns {listed(missing)}, which {first.name} has.")
            check_kinds(kinds, reader.table.schema, reader.name)
            yield from reader.raw_pieces(kinds, LOOK_BATCH)

    n_seen = 0
    for block in cut(pieces(), LOOK_BATCH, max_rows, LARGEST_READ):
        with said_of(block[-1].reader.name):
            look.add(block)
        n_seen += sum(map(len, block))
        if n_seen >= look_rows(look.width):
            break
    if not n_seen:
        raise ValueError(f"{first.name} has no rows.")
    has_names = first.table.has_names
    n_cells = None if has_names else len(names) - (first.target is not None)
    columns = look.columns(first.target if has_names else target, n_cells)
    for sentence in look.warnings():
        warnings.warn(sentence, stacklevel=4)  # where the stream is opened
    return columns


def _typed_schema(readers: list[TableReader]) -> Any:
    """Return the columns of the first table; one that has no values there has the type that a later table gives it."""
    schema = readers[0].table.schema
    for i, field in enumerate(schema):
        if is_null(field.type):
            same = (other for reader in readers for other in reader.table.schema if other.name == field.name)
            schema = schema.set(i, next((other for other in same if not is_null(other.type)), field))
    return schema
