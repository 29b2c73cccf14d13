"""JSON lines as batches of rows."""

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from craftmaps.streams.errors import first_line
from craftmaps.streams.formats.json_structure import check_structure, cut_to_cells
from craftmaps.streams.formats.lines import whole_lines
from craftmaps.streams.formats.text_types import arrow_type
from craftmaps.streams.sources.data_file import DataFile
from craftmaps.streams.sources.standard_input import StandardInput
from craftmaps.tables.column_names import shortened
from craftmaps.tables.kinds import is_null, kind_of
from craftmaps.tables.lazy_arrow import import_arrow


class JsonTable:
    """One JSON object per line. The first block of text fixes the columns and their types.

    With `warns`, the first field that appears later is reported, unless columns are dropped on purpose.
    """

    is_typed = True
    has_names = True
    n_rows = None

    def __init__(self, file: DataFile | StandardInput, warns: bool):
        self._file, self.name, self._warns, self._limits = file, file.name, warns, file.limits
        with file.opened() as (content, _):
            blocks = whole_lines(content, file.name, self._limits.text_block, self._limits)
            first = next((lines for lines in blocks if not lines.isspace()), None)
        if first is None:
            raise ValueError(f"{self.name} is empty.")
        if first.lstrip().startswith(b"["):
            raise ValueError(f"{self.name} must have one JSON object per line, got an array.")
        n_fields = check_structure(first, self.name, self._limits)
        self.schema = self._parsed(next(self._cut(first, n_fields)), None, 0, "infer").schema

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
        """Yield batches of the columns in `kinds`, parsed as these kinds, each with the number of bytes read."""
        schema = import_arrow().schema([(name, self._type(name, kind)) for name, kind in kinds.items()])
        n_seen, has_all_columns = 0, len(schema) == len(self.schema)
        with self._file.opened_part() as (content, position):
            for block in whole_lines(content, self.name, self._limits.text_block, self._limits):
                for lines in self._cut(block, len(schema)):
                    new_fields = "error" if self._warns and has_all_columns else "ignore"
                    table = self._parsed(lines, schema, n_seen, new_fields)
                    n_seen += table.num_rows
                    for batch in table.to_batches():
                        yield batch, position()

    def _cut(self, lines: bytes, n_columns: int) -> Iterator[bytes]:
        """Yield lines in pieces of a bounded number of cells."""
        return cut_to_cells(lines, n_columns, self.name, self._limits.most_parsed_cells)

    def _type(self, name: str, kind: str) -> Any:
        """Return the type to parse a column as; numbers and booleans are interchangeable, so a file keeps its own."""
        own = self.schema.field(name).type
        if kind in ("date", "id") and not is_null(own):
            return own
        if kind in ("integer", "number", "boolean") and not is_null(own):
            kind = kind_of(own)
        return arrow_type(kind)

    def _parsed(self, lines: bytes, schema: Any, n_before: int, new_fields: str) -> Any:
        """Parse lines; fields that the schema lacks are handled by Arrow's "infer", "ignore" or "error"."""
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
        table = self._parsed(lines, schema, n_before, "ignore")
        self._report_new_field(lines, n_before)
        return table

    def _report_new_field(self, lines: bytes, n_before: int) -> None:
        """Warn once about a field that the first block lacks."""
        self._warns = False
        found = _new_field(lines, set(self.schema.names))
        field = "A field" if found is None else f"The field {shortened(found[0])}"
        where = "late" if found is None else f"in row {n_before + found[1]}"
        warnings.warn(
            f"{field} of {self.name} first appears {where} and is ignored, as the first "
            f"{self._limits.text_block >> 20} MB fix the columns: give it a value in an early row.",
            stacklevel=2,
        )

    def _sentence(self, message: str, n_before: int) -> str:
        """Return Arrow's error message with the file name and the row number in the file."""
        message = message.removeprefix("JSON parse error: ")
        row = re.search(r"\.? in row (\d+)$", message)
        where = f" in row {n_before + int(row[1]) + 1}" if row else ""
        reason = message[: row.start()] if row else message
        if match := re.search(r"Column\(/(.+)\) changed from (\w+) to (\w+)", reason):
            name, old, new = match.groups()
            return f"Column {name!r} of {self.name} must hold one kind of value, got {old} and then {new}{where}."
        return f"{self.name} must have one JSON object per line, got something else{where}: {reason}."


def _new_field(lines: bytes, known: set[str]) -> tuple[str, int] | None:
    """Return the first unknown field and the number of its row, None if Python cannot parse the text before it."""
    try:
        for i, line in enumerate(filter(bytes.strip, lines.splitlines())):
            for name in json.loads(line):
                if name not in known:
                    return name, i + 1
    except (ValueError, RecursionError):
        return None
    return None
