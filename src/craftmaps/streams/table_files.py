"""Files of named columns: Parquet, Arrow, CSV and JSON lines, as batches of rows."""

import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from craftmaps.streams.content import first_line, import_arrow, said_of
from craftmaps.streams.files import DataFile, StandardInput

Batches = Iterator[tuple[Any, int]]
# pandas' and Arrow's signs of a missing value, and the question mark of older collections of data.
MISSING = ("", "#N/A", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "-NaN", "-nan", "<NA>", "?")
_TEXT_BLOCK = 1 << 22
_LONGEST_LINE = 1 << 26


class ParquetTable:
    """A Parquet file, read a few pages at a time whatever the size of its row groups."""

    is_typed = True
    has_names = True

    def __init__(self, file: DataFile):
        self._file, self.name = file, file.name
        with said_of(file.name), self._opened() as parquet:
            self.schema = parquet.schema_arrow
            self.n_rows = parquet.metadata.num_rows

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Batches:
        """Yield batches of some columns, each with the number of bytes read so far."""
        n_seen, n_bytes = 0, self._file.n_bytes
        with said_of(self.name), self._opened() as parquet:
            for batch in parquet.iter_batches(batch_rows, columns=list(kinds), use_threads=False):
                n_seen += batch.num_rows
                yield batch, n_bytes * n_seen // max(self.n_rows, 1)

    def _opened(self) -> Any:
        # Buffered pages, not whole column chunks: a row group may be larger than memory.
        return import_arrow("pyarrow.parquet").ParquetFile(self._file.path, buffer_size=1 << 18, pre_buffer=False)


class ArrowTable:
    """An Arrow file, also called Feather, or a stream of Arrow record batches."""

    is_typed = True
    has_names = True

    def __init__(self, file: DataFile):
        self._file, self.name = file, file.name
        self.n_rows: int | None = None
        with said_of(file.name), open(file.path, "rb") as raw:
            self._is_stream = raw.read(6) != b"ARROW1"
        with self._opened() as (reader, _):
            self.schema = reader.schema
        if not self._is_stream:
            with said_of(file.name):
                self.n_rows = import_arrow("pyarrow.dataset").dataset(file.path, format="ipc").count_rows()

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Batches:
        """Yield batches of some columns, each with the number of bytes read so far."""
        with self._opened() as (reader, source):
            n_batches = 0 if self._is_stream else reader.num_record_batches
            for i, batch in enumerate(reader if self._is_stream else map(reader.get_batch, range(n_batches))):
                chosen = batch.select(list(kinds))
                chosen.validate(full=True)  # Arrow trusts its own format, and damage would crash the program
                yield chosen, source.tell() if self._is_stream else self._file.n_bytes * (i + 1) // n_batches

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, Any]]:
        arrow = import_arrow()
        with said_of(self.name), arrow.memory_map(str(self._file.path)) as source:
            opened = arrow.ipc.open_stream(source) if self._is_stream else arrow.ipc.open_file(source)
            with opened as reader:
                yield reader, source


class CsvTable:
    """Comma-separated text, or text separated by tabs, semicolons or bars; the first line may name the columns.

    It does if `known` names are in it, or else if none of its cells is a number.
    """

    is_typed = False
    n_rows = None

    def __init__(self, file: DataFile | StandardInput, known: set[str]):
        self._file, self.name = file, file.name
        with file.opened() as (content, _):
            line = _first_line_of(content, file.name)
        marks = re.sub(r'"[^"]*"', "", line)
        self._delimiter = "\t" if file.is_tabbed else max(",;\t|", key=marks.count)
        cells = next(csv.reader([line], delimiter=self._delimiter))
        self.has_names = bool(known & set(cells)) or not any(map(_is_number, cells))
        self.cells = cells
        self.rename(cells if self.has_names else [f"x_{i}" for i in range(len(cells))])

    def rename(self, names: list[str]) -> None:
        """Name the columns, of which the file does not know the names."""
        arrow = import_arrow()
        self.schema = arrow.schema([(name, arrow.string()) for name in names])

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Batches:
        """Yield batches of some columns, read as what they hold, each with the number of bytes read so far."""
        arrow, arrow_csv = import_arrow(), import_arrow("pyarrow.csv")
        parse = arrow_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True)
        convert = arrow_csv.ConvertOptions(
            column_types={name: _arrow_type(kind) for name, kind in kinds.items()},
            include_columns=list(kinds),
            null_values=MISSING,
            strings_can_be_null=True,
        )
        n_before, is_first = 0, True
        # Lines are read here and not by Arrow, whose threads could not be interrupted while a pipe is silent.
        with self._file.opened() as (content, position):
            for lines in whole_lines(content, self.name, _TEXT_BLOCK, has_quotes=True):
                names_end = (
                    lines.index(b"\n", len(lines) - len(lines.lstrip())) + 1 if is_first and self.has_names else 0
                )
                rows = lines[names_end:]
                if rows.strip():
                    # Without threads errors name the line.
                    read = arrow_csv.ReadOptions(
                        use_threads=False, block_size=len(rows) + 1, column_names=self.schema.names
                    )
                    try:
                        table = arrow_csv.read_csv(arrow.BufferReader(rows), read, parse, convert)
                    except arrow.ArrowInvalid as error:
                        n_lines = n_before + lines.count(b"\n", 0, names_end)
                        raise ValueError(self._sentence(first_line(error), n_lines)) from None
                    for batch in table.to_batches():
                        yield batch, position()
                n_before += lines.count(b"\n")
                is_first = False

    def _sentence(self, message: str, n_before: int) -> str:
        """Say what Arrow says of lines with the names and the place that they have in the file."""
        if match := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message):
            line, expected, got = match.groups()
            return f"Line {n_before + int(line)} of {self.name} must have {expected} cells, got {got}."
        if match := re.search(r"column #(\d+): Row #(\d+): CSV conversion error to (\w+): (.*)", message):
            column, line, kind, reason = match.groups()
            name, what = (
                self.schema.names[int(column)],
                {"double": "numbers", "bool": "booleans"}.get(kind, "UTF-8 text"),
            )
            got = reason.removeprefix("invalid value ")
            return f"Column {name!r} of {self.name} must hold {what}, got {got} in line {n_before + int(line)}."
        return f"{self.name} cannot be read as CSV: {message}."


class JsonTable:
    """One JSON object a line. Columns and their types are those of the first four megabytes."""

    is_typed = True
    has_names = True
    n_rows = None

    def __init__(self, file: DataFile | StandardInput):
        self._file, self.name = file, file.name
        with file.opened() as (content, _):
            first = next(whole_lines(content, file.name, _TEXT_BLOCK), b"")
        if not first.strip():
            raise ValueError(f"{self.name} is empty.")
        if first.lstrip().startswith(b"["):
            raise ValueError(f"{self.name} must have one JSON object a line, got an array.")
        self.schema = self._read(first, None, 0).schema

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Batches:
        """Yield batches of some columns, read as what they hold, each with the number of bytes read so far."""
        schema = import_arrow().schema([(name, _arrow_type(kind)) for name, kind in kinds.items()])
        n_seen = 0
        with self._file.opened() as (content, position):
            for lines in whole_lines(content, self.name, _TEXT_BLOCK):
                table = self._read(lines, schema, n_seen)
                n_seen += table.num_rows
                for batch in table.to_batches():
                    yield batch, position()

    def _read(self, lines: bytes, schema: Any, n_before: int) -> Any:
        """Parse lines."""
        arrow, arrow_json = import_arrow(), import_arrow("pyarrow.json")
        if not lines.strip():
            return schema.empty_table()
        parse = arrow_json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else "ignore"
        )
        try:
            read = arrow_json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
            return arrow_json.read_json(arrow.BufferReader(lines), read, parse)
        except arrow.ArrowInvalid as error:
            raise ValueError(self._sentence(first_line(error), n_before)) from None

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


def whole_lines(content: Any, name: str, size: int, has_quotes: bool = False) -> Iterator[bytes]:
    """Yield the content in pieces of about a size that end where a line ends, but not within quotes."""
    rest = b""
    while piece := content.read(size):
        text = rest + piece
        end = text.rfind(b"\n") + 1
        if has_quotes and len(text) <= _LONGEST_LINE:
            # A quote within a quoted cell is doubled, so an odd number of them before a place means that a cell is
            # open there. Beyond the longest line it is taken for a letter.
            while end and text.count(b'"', 0, end) % 2:
                end = text.rfind(b"\n", 0, text.rfind(b'"', 0, end)) + 1
        if end:
            yield text[:end]
        rest = text[end:]
        if len(rest) > _LONGEST_LINE:
            raise ValueError(f"{name} must have lines of at most {_LONGEST_LINE >> 20} MB, got a longer one.")
    if rest:
        yield rest + b"\n"


def _first_line_of(content: Any, name: str) -> str:
    """Return the first line with something in it, without its end and without a byte order mark."""
    for lines in whole_lines(content, name, 1 << 16):
        for line in lines.splitlines():
            if line.strip():
                try:
                    return line.decode("utf-8-sig")
                except UnicodeDecodeError:
                    raise ValueError(f"{name} must be UTF-8 text, its first line is not.") from None
    raise ValueError(f"{name} is empty.")


def _is_number(cell: str) -> bool:
    """Tell whether a cell is a number, and so no name of a column."""
    try:
        return float(cell) == float(cell)
    except ValueError:
        return False


def _arrow_type(kind: str) -> Any:
    """Return the type that cells of a kind are read as."""
    arrow = import_arrow()
    types = {"boolean": arrow.bool_(), "text": arrow.string(), "list": arrow.list_(arrow.float64())}
    return types.get(kind, arrow.float64())
