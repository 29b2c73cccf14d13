"""Parquet files as batches of rows, in memory bounded by the limits.

A few bytes of Parquet can encode gigabytes: rows that refer to one long string of a dictionary, or a list of equal
numbers. The footer and the headers of dictionary pages tell how large columns are once decoded, and so how to read
them: text with large dictionaries as dictionaries, everything else a bounded number of rows at a time. The headers of
data pages are not checked: a footer that contradicts them is not detected.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, BinaryIO

from craftmaps.streams.errors import errors_named
from craftmaps.streams.sources.data_file import DataFile, Part
from craftmaps.tables.kinds import kind_of
from craftmaps.tables.lazy_arrow import import_arrow

_PLANNED_GROUPS = 32
_DICTIONARY_PAGE = 2
_NUMBER_BYTES = 8
# Short form of a Thrift field with the next id and type i32, the first two fields of a page header.
_NEXT_I32 = 0x15


@dataclass(frozen=True)
class _Plan:
    """How to read a row group: rows at a time, and the text columns to read as dictionaries."""

    n_rows: int
    dictionaries: tuple[str, ...]


@dataclass(frozen=True)
class _Selection:
    """Columns to read: positions and names of column chunks of text and of lists, and the number of all columns."""

    text: Mapping[int, str]
    lists: Mapping[int, str]
    n_columns: int


class ParquetTable:
    """A Parquet file, read a few pages at a time, however large its row groups are."""

    is_typed = True
    has_names = True

    def __init__(self, file: DataFile):
        self._file, self.name = file, file.name
        with errors_named(file.name), self._opened() as parquet:
            self.schema, self._metadata = parquet.schema_arrow, parquet.metadata
        part = file.part or Part(0, self._metadata.num_row_groups)
        self._groups = range(part.start, part.stop)
        self.n_rows = sum(map(self.rows_of_group, self._groups)) if file.part else self._metadata.num_rows
        self.first_row = sum(map(self.rows_of_group, range(part.start)))

    def rows_of_group(self, i: int) -> int:
        """Return the number of rows of a row group."""
        return self._metadata.row_group(i).num_rows

    @property
    def group_sizes(self) -> list[int]:
        """The bytes of the values of each row group."""
        return [self._metadata.row_group(i).total_byte_size for i in range(self._metadata.num_row_groups)]

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
        """Yield batches of the columns in `kinds`, each with the number of bytes read."""
        n_seen, n_bytes = 0, self._file.n_bytes
        with errors_named(self.name):
            for plan, groups in self._plans(kinds, batch_rows):
                with self._opened(metadata=self._metadata, read_dictionary=list(plan.dictionaries)) as parquet:
                    for batch in parquet.iter_batches(plan.n_rows, groups, list(kinds), use_threads=False):
                        n_seen += batch.num_rows
                        yield batch, n_bytes * n_seen // max(self.n_rows, 1)

    def _opened(self, **options: Any) -> Any:
        # Buffered pages instead of whole column chunks: a row group may be larger than memory.
        parquet = import_arrow("pyarrow.parquet")
        return parquet.ParquetFile(self._file.path, buffer_size=1 << 18, pre_buffer=False, **options)

    def _plans(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[_Plan, list[int]]]:
        """Yield consecutive row groups that are read in the same way."""
        selection = self._selection(kinds)
        with open(self._file.path, "rb") as raw:
            for start in range(0, len(self._groups), _PLANNED_GROUPS):
                groups = self._groups[start : start + _PLANNED_GROUPS]
                plans = [self._plan(raw, i, selection, batch_rows) for i in groups]
                for plan, planned in groupby(zip(plans, groups, strict=True), key=lambda item: item[0]):
                    yield plan, [i for _, i in planned]

    def _selection(self, kinds: Mapping[str, str]) -> _Selection:
        """Find the column chunks of text and of lists."""
        kind_by_name = {name: kind_of(self.schema.field(name).type) for name in kinds}
        text = {name for name, kind in kind_by_name.items() if kind == "text"}
        lists = {name for name, kind in kind_by_name.items() if kind == "list"}
        n_columns = self._metadata.num_columns if text or lists else 0
        paths = {i: self._metadata.schema.column(i).path for i in range(n_columns)}
        elements = {i: name for i, path in paths.items() for name in lists if path.startswith(f"{name}.")}
        return _Selection({i: path for i, path in paths.items() if path in text}, elements, len(kinds))

    def _plan(self, raw: BinaryIO, i: int, selection: _Selection, batch_rows: int) -> _Plan:
        """Decide how to read a row group; refuse columns that claim far more than they store."""
        limits, group, row_bytes = self._file.limits, self._metadata.row_group(i), _NUMBER_BYTES * selection.n_columns
        text = {name: group.column(column) for column, name in selection.text.items()}
        sizes = [(name, chunk, chunk.total_uncompressed_size) for name, chunk in text.items()]
        for column, name in selection.lists.items():
            chunk = group.column(column)
            sizes.append((name, chunk, _NUMBER_BYTES * chunk.num_values))
        for name, chunk, size in sizes:
            self._check_claim(name, size, chunk.total_compressed_size)
            row_bytes += size // max(group.num_rows, 1)
        n_rows, dictionaries = min(batch_rows, limits.rows_at_once(row_bytes)), []
        for name, chunk in text.items():
            # The size of a dictionary bounds its longest string; only a large one is read to find that string.
            if self._dictionary_bytes(raw, chunk, name) * n_rows <= limits.largest_read:
                continue
            longest = self._longest_in_dictionary(i, name)
            if longest * n_rows <= limits.largest_read:
                continue
            # Arrow adds strings outside the dictionary page to the dictionary of the column chunk.
            if chunk.total_uncompressed_size <= limits.largest_read:
                dictionaries.append(name)
            else:
                n_rows = min(n_rows, limits.rows_at_once(longest))
        return _Plan(n_rows, tuple(dictionaries))

    def _longest_in_dictionary(self, i: int, name: str) -> int:
        """Return the bytes of the longest string in the dictionary of a column chunk."""
        compute = import_arrow("pyarrow.compute")
        with self._opened(metadata=self._metadata, read_dictionary=[name]) as parquet:
            batch = next(parquet.iter_batches(1, [i], [name], use_threads=False))
        return compute.max(compute.binary_length(batch.column(0).dictionary)).as_py() or 0

    def _check_claim(self, name: str, claimed: int, stored: int) -> None:
        """Refuse a column chunk that claims far more bytes than it stores."""
        limits = self._file.limits
        if claimed > max(limits.largest_read, limits.largest_ratio * stored):
            raise ValueError(
                f"Column {name!r} of {self.name} must store its values, got {stored:,} bytes for {claimed:,} bytes of "
                "values in a row group."
            )

    def _dictionary_bytes(self, raw: BinaryIO, chunk: Any, name: str) -> int:
        """Return the decoded size of the dictionary of a column chunk, which bounds its longest string."""
        start, offset = chunk.data_page_offset, chunk.dictionary_page_offset
        kind, size = _page_header(raw, offset if offset and 0 < offset < start else start)
        if kind != _DICTIONARY_PAGE:
            return 0
        largest = self._file.limits.largest_read
        if not 0 <= size <= largest:
            raise ValueError(
                f"Column {name!r} of {self.name} must have dictionaries of at most {largest >> 20} MB, got {size:,} "
                "bytes."
            )
        return size


def _page_header(raw: BinaryIO, offset: int) -> tuple[int, int]:
    """Return the type and the uncompressed size of a page, the first fields of its Thrift header."""
    raw.seek(offset)
    head = raw.read(16)
    values, position = [], 0
    for _ in range(2):
        if head[position : position + 1] != bytes([_NEXT_I32]):
            raise EOFError("a page header is malformed")
        value = shift = 0
        while True:
            position += 1
            if position >= len(head):
                raise EOFError("a page header is malformed")
            value |= (head[position] & 0x7F) << shift
            shift += 7
            if head[position] < 0x80:
                break
        position += 1
        values.append(value >> 1 ^ -(value & 1))  # zigzag
    return values[0], values[1]
