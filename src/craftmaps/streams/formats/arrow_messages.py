"""Claims of compressed Arrow messages, checked before Arrow allocates the memory for them.

The message of a record batch lists its buffers, and a compressed buffer begins with its uncompressed size. Arrow
allocates any size. pyarrow does not expose these numbers, so they are read here from the FlatBuffers
of the messages and of the footer.
"""

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.limits import Limits
from craftmaps.tables.lazy_arrow import import_arrow

_MAGIC = b"ARROW1"
_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2
_BLOCK_BYTES, _BUFFER_BYTES = 24, 16


class MessageChecks:
    """Checks on the messages of one file or stream.

    Each call of `next_batch` checks the messages that Arrow reads for the next record batch.
    """

    def __init__(self, source: Any, is_stream: bool, name: str, limits: Limits):
        self._source, self._name, self._limits = source, name, limits
        self._n_claimed = self._n_stored = 0  # of dictionaries, which stay in memory
        self._batches = self._of_stream() if is_stream else self._of_file()

    def next_batch(self) -> bool:
        """Check the next record batch; return whether there is one."""
        return next(self._batches, False)

    def _of_stream(self) -> Iterator[bool]:
        """Check the messages of a stream, up to and including each record batch."""
        reader = import_arrow().ipc.MessageReader.open_stream(self._source)
        while True:
            try:
                message = reader.read_next_message()
            except StopIteration:
                return
            if self._check(message):
                yield True

    def _of_file(self) -> Iterator[bool]:
        """Check all dictionaries of a file, then one record batch after the other."""
        dictionaries, batches = _blocks(self._source, self._name)
        for offset in dictionaries:
            self._check(self._message(offset))
        for offset in batches:
            self._check(self._message(offset))
            yield True

    def _message(self, offset: int) -> Any:
        """Read the message at a position of a file."""
        self._source.seek(offset)
        return import_arrow().ipc.read_message(self._source)

    def _check(self, message: Any) -> bool:
        """Refuse a message that claims too much memory; return whether it is a record batch."""
        try:
            kind, claimed, stored = _claims(message)
        except (struct.error, ValueError, IndexError, OverflowError):
            raise ValueError(f"{self._name} is damaged: a message of it is malformed.") from None
        if kind == _DICTIONARY_BATCH:
            self._n_claimed += claimed
            self._n_stored += stored
            claimed, stored = self._n_claimed, self._n_stored
        limits = self._limits
        if claimed > max(limits.largest_whole, limits.whole_ratio * stored):
            what = "dictionaries" if kind == _DICTIONARY_BATCH else "record batches"
            raise ValueError(
                f"{self._name} must have compressed {what} of at most {limits.largest_whole >> 30} GB, got one of "
                f"{claimed:,} bytes: write smaller ones."
            )
        return kind == _RECORD_BATCH


class _Table:
    """A table of a FlatBuffer."""

    def __init__(self, data: bytes, position: int):
        self._data, self._position = data, position
        self._vtable = position - _unpack("<i", data, position)
        self._n_vtable = _unpack("<H", data, self._vtable)

    def field(self, i: int) -> int | None:
        """Return the position of a field, None if it is absent."""
        entry = 4 + 2 * i
        offset = _unpack("<H", self._data, self._vtable + entry) if entry + 2 <= self._n_vtable else 0
        return self._position + offset if offset else None

    def table(self, i: int) -> "_Table | None":
        """Return a table within this one."""
        at = self.field(i)
        return None if at is None else _Table(self._data, at + _unpack("<I", self._data, at))

    def structs(self, i: int, n_bytes: int) -> bytes:
        """Return the content of a vector of structs."""
        at = self.field(i)
        if at is None:
            return b""
        start = at + _unpack("<I", self._data, at)
        n = _unpack("<I", self._data, start)
        content = self._data[start + 4 : start + 4 + n * n_bytes]
        if len(content) < n * n_bytes:
            raise ValueError("a vector is cut off")
        return content


def _claims(message: Any) -> tuple[int, int, int]:
    """Return the type of a message, the memory that its buffers claim, and the bytes that they store."""
    metadata = message.metadata.to_pybytes()
    root = _Table(metadata, _unpack("<I", metadata, 0))
    at = root.field(1)
    kind = 0 if at is None else _unpack("<B", metadata, at)
    header = root.table(2)
    batch = header.table(1) if header is not None and kind == _DICTIONARY_BATCH else header
    if kind not in (_RECORD_BATCH, _DICTIONARY_BATCH) or batch is None or batch.field(3) is None:
        return kind, 0, 0  # not compressed
    buffers = np.frombuffer(batch.structs(2, _BUFFER_BYTES), "<i8").reshape(-1, 2)
    buffers = buffers[buffers[:, 1] > 0]
    sizes = _uncompressed_sizes(np.frombuffer(message.body or b"", np.uint8), buffers[:, 0])
    # A size of -1 marks a buffer that is stored uncompressed.
    claimed = np.where(sizes < 0, buffers[:, 1], sizes)
    return kind, sum(claimed.tolist()), sum(buffers[:, 1].tolist())


def _uncompressed_sizes(body: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first eight bytes of compressed buffers, their uncompressed sizes."""
    if offsets.size and not (0 <= offsets.min() and offsets.max() <= body.size - 8):
        raise ValueError("a buffer lies outside its message")
    return np.ascontiguousarray(body[offsets[:, None] + np.arange(8)]).view("<i8").reshape(-1)


def _blocks(source: Any, name: str) -> tuple[list[int], list[int]]:
    """Return the positions of dictionaries and of record batches that the footer of a file lists."""
    try:
        n_tail = 4 + len(_MAGIC)
        size = source.size()
        source.seek(size - n_tail)
        n_footer = _unpack("<i", source.read(n_tail), 0)
        if not 0 < n_footer <= size - n_tail:
            raise ValueError("no footer")
        source.seek(size - n_tail - n_footer)
        footer = source.read(n_footer)
        root = _Table(footer, _unpack("<I", footer, 0))
        dictionaries, batches = (
            np.frombuffer(root.structs(i, _BLOCK_BYTES), "<i8").reshape(-1, 3)[:, 0].tolist() for i in (2, 3)
        )
    except (struct.error, ValueError, OverflowError):
        raise ValueError(f"{name} is damaged: its footer is malformed.") from None
    return dictionaries, batches


def _unpack(format: str, data: bytes, position: int) -> int:
    """Return a little-endian number; positions before the beginning are refused."""
    if position < 0:
        raise ValueError("a position is negative")
    return struct.unpack_from(format, data, position)[0]
