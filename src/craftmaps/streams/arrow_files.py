"""Files that Arrow reads itself, Parquet and Arrow, as batches of rows."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from craftmaps.streams.content import import_arrow, said_of
from craftmaps.streams.files import DataFile
from craftmaps.streams.limits import LARGEST_READ


class ParquetTable:
    """A Parquet file, read a few pages at a time whatever the size of its row groups."""

    is_typed = True
    has_names = True

    def __init__(self, file: DataFile):
        self._file, self.name = file, file.name
        with said_of(file.name), self._opened() as parquet:
            self.schema = parquet.schema_arrow
            self.n_rows = parquet.metadata.num_rows

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
        """Yield batches of some columns, each with the number of bytes read so far."""
        n_seen, n_bytes = 0, self._file.n_bytes
        with said_of(self.name), self._opened() as parquet:
            most_rows = max(1, LARGEST_READ // (8 * _widest_row(parquet.metadata)))
            for batch in parquet.iter_batches(min(batch_rows, most_rows), columns=list(kinds), use_threads=False):
                n_seen += batch.num_rows
                yield batch, n_bytes * n_seen // max(self.n_rows, 1)

    def _opened(self) -> Any:
        # Buffered pages, not whole column chunks: a row group may be larger than memory.
        return import_arrow("pyarrow.parquet").ParquetFile(self._file.path, buffer_size=1 << 18, pre_buffer=False)


def _widest_row(metadata: Any) -> int:
    """Return the values of a row, lists counted, on average over the row group with the longest lists."""
    n_columns = metadata.num_columns
    lists = [i for i in range(n_columns) if metadata.schema.column(i).max_repetition_level]
    widest = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)) if lists else ():
        n_values = sum(group.column(i).num_values for i in lists)
        widest = max(widest, n_values // max(group.num_rows, 1))
    return max(n_columns - len(lists) + widest, 1)


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

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
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
