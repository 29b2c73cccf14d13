"""Files of text with named columns, CSV and JSON lines, as batches of rows.

Lines are read here and not by Arrow, whose threads could not be interrupted while a pipe is silent.
"""

import csv
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from craftmaps.streams.content import first_line, import_arrow
from craftmaps.streams.files import DataFile, StandardInput
from craftmaps.streams.json_structure import check_structure, cut_to_cells
from craftmaps.streams.limits import LONGEST_NAME, MOST_COLUMNS
from craftmaps.streams.lines import first_row, whole_lines
from craftmaps.tables.columns import shortened
from craftmaps.tables.encoding import is_null, kind_of, trimmed

# pandas' and Arrow's signs of a missing value, and the question mark of older collections of data.
MISSING = ("", "#N/A", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "-NaN", "-nan", "<NA>", "?")
# What Arrow takes for a boolean, in any case.
_BOOLEANS = ("true", "false", "1", "0")
_BLOCK = 1 << 22


class CsvTable:
    """Comma-separated text, or text separated by tabs, semicolons or bars; the first line may name the columns.

    It does if `known` names are in it, or else if none of its cells is a number.
    """

    is_typed = False
    n_rows = None

    def __init__(self, file: DataFile | StandardInput, known: set[str], decimal: str = "."):
        self._file, self.name, self._decimal = file, file.name, decimal
        with file.opened() as (content, _):
            line = _first_row_of(content, file.name)
        marks = re.sub(r'"[^"]*"', "", line)
        # A decimal comma is no delimiter if there is another one.
        if decimal == "," and re.search(r"[;\t|]", marks):
            marks = marks.replace(",", "")
        self._delimiter = "\t" if file.is_tabbed else max(",;\t|", key=marks.count)
        n_cells = marks.count(self._delimiter) + 1
        if n_cells > MOST_COLUMNS:
            raise ValueError(f"{file.name} must have at most {MOST_COLUMNS:,} columns, got {n_cells:,}.")
        try:
            cells = next(csv.reader([line], delimiter=self._delimiter))
        except csv.Error as error:
            raise ValueError(
                f"{file.name} must have names of columns of at most {LONGEST_NAME} characters: {first_line(error)}."
            ) from None
        self.has_names = bool(known & set(cells)) or not any(_is_number(cell, decimal) for cell in cells)
        self.rename(cells if self.has_names else [f"x_{i}" for i in range(len(cells))])

    def rename(self, names: list[str]) -> None:
        """Name the columns."""
        arrow = import_arrow()
        self.schema = arrow.schema([(name, arrow.string()) for name in names])

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
        """Yield batches of some columns, read as what they hold, each with the number of bytes read so far."""
        with self._file.opened() as (content, position):
            n_before, has_names = 0, self.has_names
            for lines in whole_lines(content, self.name, _BLOCK, has_quotes=True):
                start = 0
                if has_names and not lines.isspace():
                    _, start = first_row(lines, self.name)
                    has_names = False
                rows, n_skipped = lines[start:], lines.count(b"\n", 0, start)
                if rows and not rows.isspace():
                    for batch in self._read(rows, kinds, n_before + n_skipped).to_batches():
                        yield batch, position()
                n_before += lines.count(b"\n")

    def _read(self, rows: bytes, kinds: Mapping[str, str], n_before: int) -> Any:
        """Parse rows, of which a number of lines came before."""
        arrow, arrow_csv = import_arrow(), import_arrow("pyarrow.csv")
        # Arrow knows few spellings of booleans, so they are read as text first.
        types = {name: _arrow_type("text" if kind == "boolean" else kind) for name, kind in kinds.items()}
        try:
            table = arrow_csv.read_csv(
                arrow.BufferReader(rows),
                # Without threads errors name the line.
                arrow_csv.ReadOptions(use_threads=False, block_size=len(rows) + 1, column_names=self.schema.names),
                arrow_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
                arrow_csv.ConvertOptions(
                    column_types=types,
                    include_columns=list(kinds),
                    null_values=MISSING,
                    strings_can_be_null=True,
                    decimal_point=self._decimal,
                ),
            )
        except arrow.ArrowInvalid as error:
            raise ValueError(self._sentence(first_line(error), n_before)) from None
        for i, (name, kind) in enumerate(kinds.items()):
            if kind == "boolean":
                table = table.set_column(i, name, self._booleans(table.column(name), name, n_before))
        return table

    def _booleans(self, cells: Any, name: str, n_before: int) -> Any:
        """Read cells as booleans, in any case and with blanks around them, as the first look does."""
        arrow, compute = import_arrow(), import_arrow("pyarrow.compute")
        try:
            return trimmed(cells).cast(arrow.bool_())
        except arrow.ArrowInvalid:
            known = compute.is_in(compute.utf8_lower(trimmed(cells)), value_set=arrow.array(_BOOLEANS))
            row = compute.index(compute.or_(known, cells.is_null()), False).as_py()
            got = shortened(cells[row].as_py())
            raise ValueError(
                f"Column {name!r} of {self.name} must hold booleans, got {got} in line {n_before + row + 1}."
            ) from None

    def _sentence(self, message: str, n_before: int) -> str:
        """Say what Arrow says of lines with the names and the place that they have in the file."""
        if match := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message):
            line, expected, got = match.groups()
            return f"Line {n_before + int(line)} of {self.name} must have {expected} cells, got {got}."
        if match := re.search(r"column #(\d+): Row #(\d+): CSV conversion error to (\w+): (.*)", message):
            column, line, kind, reason = match.groups()
            name, got = self.schema.names[int(column)], reason.removeprefix("invalid value ")
            what = "numbers" if kind == "double" else "UTF-8 text"
            return f"Column {name!r} of {self.name} must hold {what}, got {got} in line {n_before + int(line)}."
        return f"{self.name} cannot be read as CSV: {message}."


class JsonTable:
    """One JSON object a line. Columns and their types are those of the first four megabytes.

    With `warns` the first field that comes later is told, if no others are passed over on purpose.
    """

    is_typed = True
    has_names = True
    n_rows = None

    def __init__(self, file: DataFile | StandardInput, warns: bool):
        self._file, self.name, self._warns = file, file.name, warns
        with file.opened() as (content, _):
            blocks = whole_lines(content, file.name, _BLOCK)
            first = next((lines for lines in blocks if not lines.isspace()), None)
        if first is None:
            raise ValueError(f"{self.name} is empty.")
        if first.lstrip().startswith(b"["):
            raise ValueError(f"{self.name} must have one JSON object a line, got an array.")
        n_fields = check_structure(first, self.name)
        self.schema = self._read(next(cut_to_cells(first, n_fields, self.name)), None, 0, "infer").schema

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
        """Yield batches of some columns, read as what they hold, each with the number of bytes read so far."""
        schema = import_arrow().schema([(name, self._type(name, kind)) for name, kind in kinds.items()])
        n_seen, is_whole = 0, len(schema) == len(self.schema)
        with self._file.opened() as (content, position):
            for block in whole_lines(content, self.name, _BLOCK):
                for lines in cut_to_cells(block, len(schema), self.name):
                    table = self._read(lines, schema, n_seen, "error" if self._warns and is_whole else "ignore")
                    n_seen += table.num_rows
                    for batch in table.to_batches():
                        yield batch, position()

    def _type(self, name: str, kind: str) -> Any:
        """Return what to read a column as; numbers and booleans stand for each other, so a file keeps its own."""
        own = self.schema.field(name).type
        if kind in ("date", "id") and not is_null(own):
            return own
        if kind in ("integer", "number", "boolean") and not is_null(own):
            kind = kind_of(own)
        return _arrow_type(kind)

    def _read(self, lines: bytes, schema: Any, n_before: int, new_fields: str) -> Any:
        """Parse lines; fields that the schema does not have are what Arrow calls "infer", "ignore" or "error"."""
        arrow, arrow_json = import_arrow(), import_arrow("pyarrow.json")
        if lines.isspace():
            return schema.empty_table()
        parse = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=new_fields)
        try:
            read = arrow_json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
            return arrow_json.read_json(arrow.BufferReader(lines), read, parse)
        except arrow.ArrowInvalid as error:
            if "unexpected field" not in str(error):
                raise ValueError(self._sentence(first_line(error), n_before)) from None
        table = self._read(lines, schema, n_before, "ignore")
        self._tell_new_field(lines, n_before)
        return table

    def _tell_new_field(self, lines: bytes, n_before: int) -> None:
        """Warn, once, of a field that the first look could not know."""
        self._warns = False
        what = _new_field(lines, set(self.schema.names))
        field = "A field" if what is None else f"The field {shortened(what[0])}"
        where = "late" if what is None else f"in row {n_before + what[1]}"
        warnings.warn(
            f"{field} of {self.name} first comes {where} and is ignored, as columns are "
            "those of the first four megabytes: give it a value in an early row.",
            stacklevel=2,
        )

    def _sentence(self, message: str, n_before: int) -> str:
        """Say what Arrow says of JSON with the number of the row."""
        message = message.removeprefix("JSON parse error: ")
        row = re.search(r"\.? in row (\d+)$", message)
        where = f" in row {n_before + int(row[1]) + 1}" if row else ""
        reason = message[: row.start()] if row else message
        if match := re.search(r"Column\(/(.+)\) changed from (\w+) to (\w+)", reason):
            name, old, new = match.groups()
            return f"Column {name!r} of {self.name} must hold one kind of value, got {old} and then {new}{where}."
        return f"{self.name} must have one JSON object a line, got something else{where}: {reason}."


def _first_row_of(content: Any, name: str) -> str:
    """Return the first row with something in it, without its end and without a byte order mark."""
    for lines in whole_lines(content, name, 1 << 16, has_quotes=True):
        if lines.isspace():
            continue
        row, _ = first_row(lines, name)
        if row.strip():
            try:
                return row.decode("utf-8-sig")
            except UnicodeDecodeError:
                raise ValueError(f"{name} must be UTF-8 text, its first line is not.") from None
    raise ValueError(f"{name} is empty.")


def _new_field(lines: bytes, known: set[str]) -> tuple[str, int] | None:
    """Return the first field that is not known and the number of its row, if Python can parse all before it."""
    try:
        for i, line in enumerate(filter(bytes.strip, lines.splitlines())):
            for name in json.loads(line):
                if name not in known:
                    return name, i + 1
    except (ValueError, RecursionError):
        return None
    return None


def _is_number(cell: str, decimal: str) -> bool:
    """Tell whether a cell is a number, and so no name of a column."""
    cell = cell.replace(decimal, ".")
    try:
        return "_" not in cell and float(cell) == float(cell)
    except ValueError:
        return False


def _arrow_type(kind: str) -> Any:
    """Return the type that cells of a kind are read as."""
    arrow = import_arrow()
    types = {"boolean": arrow.bool_(), "list": arrow.list_(arrow.float64())}
    types |= dict.fromkeys(("text", "date", "id"), arrow.string())
    return types.get(kind, arrow.float64())
