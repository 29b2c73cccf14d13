"""CSV files as batches of rows.

Lines are read here and not by Arrow, whose threads cannot be interrupted while a pipe is silent.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Any

from craftmaps.streams.errors import first_line
from craftmaps.streams.formats.lines import first_row, whole_lines
from craftmaps.streams.formats.text_types import arrow_type
from craftmaps.streams.sources.data_file import DataFile
from craftmaps.streams.sources.standard_input import StandardInput
from craftmaps.tables.column_names import shortened
from craftmaps.tables.kinds import trimmed
from craftmaps.tables.lazy_arrow import import_arrow

# Missing values as pandas and Arrow spell them, and the question mark of older data sets.
MISSING = ("", "#N/A", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "-NaN", "-nan", "<NA>", "?")
# Spellings of booleans in Arrow, in lower case.
_BOOLEANS = ("true", "false", "1", "0")
_HEAD_BYTES = 1 << 16


class CsvTable:
    """Text separated by commas, tabs, semicolons or bars; the first line may name the columns.

    It does if it holds one of the `known` names, or if none of its cells is a number.
    """

    is_typed = False
    n_rows = None

    def __init__(self, file: DataFile | StandardInput, known: set[str], decimal: str = "."):
        self._file, self.name, self._decimal = file, file.name, decimal
        line, limits = self._first_line(), file.limits
        marks = re.sub(r'"[^"]*"', "", line)
        # A decimal comma does not separate cells if another delimiter does.
        if decimal == "," and re.search(r"[;\t|]", marks):
            marks = marks.replace(",", "")
        self._delimiter = "\t" if file.is_tabbed else max(",;\t|", key=marks.count)
        n_cells = marks.count(self._delimiter) + 1
        if n_cells > limits.most_columns:
            raise ValueError(f"{file.name} must have at most {limits.most_columns:,} columns, got {n_cells:,}.")
        try:
            cells = next(csv.reader([line], delimiter=self._delimiter))
        except csv.Error as error:
            raise ValueError(
                f"{file.name} must have column names of at most {limits.longest_name} characters: {first_line(error)}."
            ) from None
        self.has_names = bool(known & set(cells)) or not any(_is_number(cell, decimal) for cell in cells)
        self.rename(cells if self.has_names else [f"x_{i}" for i in range(len(cells))])

    def rename(self, names: list[str]) -> None:
        """Name the columns."""
        arrow = import_arrow()
        self.schema = arrow.schema([(name, arrow.string()) for name in names])

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
        """Yield batches of the columns in `kinds`, parsed as these kinds, each with the number of bytes read."""
        limits = self._file.limits
        part = self._file.part
        with self._file.opened_part() as (content, position):
            n_before, has_names = 0, self.has_names and (part is None or part.start == 0)
            for lines in whole_lines(content, self.name, limits.text_block, limits, has_quotes=True):
                start = 0
                if has_names and not lines.isspace():
                    _, start = first_row(lines, self.name, limits.most_columns)
                    has_names = False
                rows, n_skipped = lines[start:], lines.count(b"\n", 0, start)
                if rows and not rows.isspace():
                    for batch in self._parsed(rows, kinds, n_before + n_skipped).to_batches():
                        yield batch, position()
                n_before += lines.count(b"\n")

    @property
    def head_bytes(self) -> int:
        """Where the rows begin that follow the names of columns, if these have names."""
        n_blank, limits = 0, self._file.limits
        with self._file.opened() as (content, _):
            for lines in whole_lines(content, self.name, _HEAD_BYTES, limits, has_quotes=True):
                if self.has_names and not lines.isspace():
                    return n_blank + first_row(lines, self.name, limits.most_columns)[1]
                n_blank += len(lines)
        return 0

    def _first_line(self) -> str:
        """Return the first row that is not blank, without its line end and without a byte order mark."""
        name, limits = self.name, self._file.limits
        with self._file.opened() as (content, _):
            for lines in whole_lines(content, name, _HEAD_BYTES, limits, has_quotes=True):
                if lines.isspace():
                    continue
                row, _ = first_row(lines, name, limits.most_columns)
                if row.strip():
                    try:
                        return row.decode("utf-8-sig")
                    except UnicodeDecodeError:
                        raise ValueError(f"{name} must be UTF-8 text, but its first line is not.") from None
        raise ValueError(f"{name} is empty.")

    def _parsed(self, rows: bytes, kinds: Mapping[str, str], n_before: int) -> Any:
        """Parse rows that follow `n_before` lines."""
        arrow, arrow_csv = import_arrow(), import_arrow("pyarrow.csv")
        # Arrow knows few spellings of booleans, so they are parsed as text first.
        types = {name: arrow_type("text" if kind == "boolean" else kind) for name, kind in kinds.items()}
        try:
            table = arrow_csv.read_csv(
                arrow.BufferReader(rows),
                # Errors name the line only without threads.
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
        """Parse cells as booleans, in upper or lower case and between blanks, as the first look does."""
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
        """Return Arrow's error message with the column name, the file name and the line number in the file."""
        if match := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message):
            line, expected, got = match.groups()
            return f"Line {n_before + int(line)} of {self.name} must have {expected} cells, got {got}."
        if match := re.search(r"column #(\d+): Row #(\d+): CSV conversion error to (\w+): (.*)", message):
            column, line, kind, reason = match.groups()
            name, got = self.schema.names[int(column)], reason.removeprefix("invalid value ")
            what = "numbers" if kind == "double" else "UTF-8 text"
            return f"Column {name!r} of {self.name} must hold {what}, got {got} in line {n_before + int(line)}."
        return f"{self.name} cannot be read as CSV: {message}."


def _is_number(cell: str, decimal: str) -> bool:
    """Tell whether a cell is a number, and so not the name of a column."""
    cell = cell.replace(decimal, ".")
    try:
        return "_" not in cell and float(cell) == float(cell)
    except ValueError:
        return False
