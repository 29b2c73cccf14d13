"""Fix the rule by which rows become a matrix, from a first look at them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from craftmaps.streams.errors import errors_named
from craftmaps.streams.inference.means import Means
from craftmaps.streams.inference.table_look import TableLook
from craftmaps.streams.pieces import Piece, cut
from craftmaps.streams.request import Request
from craftmaps.tables.column import Column
from craftmaps.tables.column_names import listed
from craftmaps.tables.column_rule import Columns
from craftmaps.tables.kinds import check_kinds, is_null


def columns_of_tables(readers: Sequence[Any], request: Request) -> tuple[Columns, list[str]]:
    """Return the rule for tables, and a sentence about each column that is perhaps misread."""
    first = readers[0]
    names = first.table.schema.names
    options = request.options.resolved(names, first.name, first.target)
    look = TableLook(_typed_schema(readers), first.target, first.name, first.table.is_typed, options)

    def pieces() -> Iterator[Piece]:
        for reader in readers:
            _check_same_columns(reader, first, look.kinds)
            yield from reader.raw_pieces(look.kinds, request.limits.look_batch)

    _feed(look, pieces(), request, first.name)
    has_names = first.table.has_names
    n_cells = None if has_names else len(names) - (first.target is not None)
    return look.columns(first.target if has_names else request.target, n_cells), look.warnings()


def columns_of_matrices(readers: Sequence[Any], request: Request) -> Columns:
    """Return the rule for matrices: one column of lists, and the means of its elements."""
    first = readers[0]
    look = _MatrixLook(first.width)
    if not look.width:
        raise ValueError(f"{first.name} must have columns beside the target, got none.")

    def pieces() -> Iterator[Piece]:
        for reader in readers:
            if reader.width != look.width:
                raise ValueError(f"Rows of {reader.name} must have {look.width} features, got {reader.width}.")
            yield from reader.pieces(request.limits.look_batch)

    _feed(look, pieces(), request, first.name)
    target = "label" if request.target == "auto" else request.target
    return Columns((look.column(),), target, first.label_kind, n_cells=look.width)


class _MatrixLook:
    """A first look at a matrix."""

    def __init__(self, width: int):
        self.width, self._means = width, Means(width)

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows."""
        self._means.add(np.concatenate([piece.rows for piece in pieces]))

    def column(self) -> Column:
        """Return the rule for the elements of a row."""
        return Column("x", "list", self._means.fill, self._means.n_missing, width=self.width)


def _feed(look: Any, pieces: Iterator[Piece], request: Request, name: str) -> None:
    """Show the first rows to a look; refuse a source without rows."""
    limits, n_seen = request.limits, 0
    for batch in cut(pieces, limits.look_batch, request.max_rows, limits.largest_read, ends_early=True):
        with errors_named(batch[-1].reader.name):
            look.add(batch)
        n_seen += sum(map(len, batch))
        if n_seen >= limits.n_look_rows(look.width):
            return
    if not n_seen:
        raise ValueError(f"{name} has no rows.")


def _check_same_columns(reader: Any, first: Any, kinds: dict[str, str]) -> None:
    """Refuse a file that lacks columns of the first one, or holds other kinds of values in them."""
    present = set(reader.table.schema.names)
    missing = [name for name in kinds if name not in present]
    if missing:
        raise ValueError(f"{reader.name} lacks the columns {listed(missing)}, which {first.name} has.")
    check_kinds(kinds, reader.table.schema, reader.name)


def _typed_schema(readers: Sequence[Any]) -> Any:
    """Return the schema of the first table; a column without values there takes its type from a later table."""
    schema = readers[0].table.schema
    for i, field in enumerate(schema):
        if is_null(field.type):
            same = (other for reader in readers for other in reader.table.schema if other.name == field.name)
            schema = schema.set(i, next((other for other in same if not is_null(other.type)), field))
    return schema
