"""Arrow files and streams as batches of rows."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from craftmaps.streams.errors import errors_named
from craftmaps.streams.formats.arrow_messages import MessageChecks
from craftmaps.streams.sources.data_file import DataFile
from craftmaps.tables.lazy_arrow import import_arrow

_VIEW_BYTES = 16


class ArrowTable:
    """An Arrow file, also called Feather, or a stream of Arrow record batches."""

    is_typed = True
    has_names = True

    def __init__(self, file: DataFile):
        self._file, self.name = file, file.name
        self.n_rows: int | None = None
        with errors_named(file.name), open(file.path, "rb") as raw:
            self._is_stream = raw.read(6) != b"ARROW1"
        with self._opened() as (reader, _):
            self.schema = reader.schema
        if not self._is_stream:
            with errors_named(file.name):
                self.n_rows = import_arrow("pyarrow.dataset").dataset(file.path, format="ipc").count_rows()

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
        """Yield batches of the columns in `kinds`, each with the number of bytes read."""
        n_bytes = self._file.n_bytes
        with self._opened() as (reader, source), import_arrow().memory_map(str(self._file.path)) as messages:
            checks, i = MessageChecks(messages, self._is_stream, self.name, self._file.limits), 0
            while checks.next_batch():
                batch = (reader.read_next_batch() if self._is_stream else reader.get_batch(i)).select(list(kinds))
                batch.validate(full=True)  # Arrow trusts its own format, and damage would crash the program
                i += 1
                position = source.tell() if self._is_stream else n_bytes * i // reader.num_record_batches
                for part in self._parts(batch):
                    yield part, position

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, Any]]:
        arrow = import_arrow()
        with errors_named(self.name), arrow.memory_map(str(self._file.path)) as source:
            opened = arrow.ipc.open_stream(source) if self._is_stream else arrow.ipc.open_file(source)
            with opened as reader:
                yield reader, source

    def _parts(self, batch: Any) -> Iterator[Any]:
        """Yield a batch in parts of bounded size once its views are expanded: views of many rows can share bytes."""
        limits = self._file.limits
        row_bytes = sum(_longest_view(array) for array in batch.columns)
        if row_bytes > limits.largest_read:
            raise ValueError(
                f"{self.name} must have rows of at most {limits.largest_read >> 20} MB, got {row_bytes:,} bytes."
            )
        n_rows = limits.rows_at_once(row_bytes)
        for start in range(0, batch.num_rows, n_rows):
            yield _without_views(batch.slice(start, n_rows))


def _without_views(batch: Any) -> Any:
    """Expand views of lists, whose memory is then counted."""
    arrow, compute = import_arrow(), import_arrow("pyarrow.compute")
    for i, array in enumerate(batch.columns):
        if arrow.types.is_list_view(array.type) or arrow.types.is_large_list_view(array.type):
            # Not by a cast, which loses lists of a slice.
            lengths = compute.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
            offsets = arrow.array(np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))))
            lists = arrow.LargeListArray.from_arrays(offsets, array.flatten(), mask=array.is_null())
            batch = batch.set_column(i, batch.schema.names[i], lists)
    return batch


def _longest_view(array: Any) -> int:
    """Return the bytes of the longest value of a column of views, 0 for other columns."""
    types, compute = import_arrow().types, import_arrow("pyarrow.compute")
    if types.is_dictionary(array.type):
        # A dictionary is expanded whole.
        return _longest_view(array.dictionary) * len(array.dictionary)
    if types.is_list_view(array.type) or types.is_large_list_view(array.type):
        return 8 * (compute.max(compute.list_value_length(array)).as_py() or 0)
    if types.is_string_view(array.type) and len(array):
        views = np.frombuffer(array.buffers()[1], np.int32, 4 * len(array), _VIEW_BYTES * array.offset)
        return int(views[::4].max())
    return 0
