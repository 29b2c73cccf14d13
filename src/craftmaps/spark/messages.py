"""Values that travel as rows of a DataFrame, in pieces of bounded size, and are added up by key."""

import pickle
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

# Key 0 and above: a tile of a Gram matrix, as numbers. Below: values with `+`, pickled; groups of them are added up.
SCHEMA = "key int, source int, piece int, n_pieces int, data binary"
# The key of an error, pickled as well: it ends the work, but Spark does not try again what would fail again.
ERROR = -1
FIRST_GROUP = -2
PIECE = 2**24


class Message(NamedTuple):
    """A value from a task, under a key."""

    key: int
    source: int
    data: Any  # bytes, or what has as many

    def batches(self, piece: int = PIECE) -> Iterator[pa.RecordBatch]:
        """Cut the value into rows of Arrow, a batch each, of at most so many bytes."""
        view = memoryview(self.data).cast("B")
        starts = range(0, max(len(view), 1), piece)
        for i, start in enumerate(starts):
            row = [[self.key], [self.source], [i], [len(starts)]]
            columns = [pa.array(value, pa.int32()) for value in row]
            columns.append(pa.array([view[start : start + piece]], pa.binary()))
            yield pa.RecordBatch.from_arrays(columns, ["key", "source", "piece", "n_pieces", "data"])

    @property
    def value(self) -> Any:
        """The value that was pickled; an error is raised."""
        value = pickle.loads(self.data)
        if self.key == ERROR:
            raise value
        return value


def pickled(key: int, source: int, value: Any) -> Message:
    """Return a message of a value that is no tile."""
    return Message(key, source, pickle.dumps(value, protocol=5))


def group(source: int, n_groups: int) -> int:
    """Return the key of the group of tasks whose values are added up with those of this one."""
    return FIRST_GROUP - source % n_groups


def received(rows: Iterable[tuple[int, int, int, int, Any]]) -> Iterator[Message]:
    """Put pieces, which may come in any order, together again."""
    waiting: dict[tuple[int, int], dict[int, Any]] = {}
    for key, source, piece, n_pieces, data in rows:
        pieces = waiting.setdefault((key, source), {})
        pieces[piece] = data
        if len(pieces) == n_pieces:
            del waiting[key, source]
            whole = pieces[0] if n_pieces == 1 else b"".join(pieces[i] for i in range(n_pieces))
            yield Message(key, source, whole)


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, int, int, int, Any]]:
    """Return the rows of batches of pieces; their data are not copied."""
    for batch in batches:
        *numbers, data = batch.columns
        for row, value in zip(zip(*(column.to_pylist() for column in numbers), strict=True), data, strict=True):
            yield *row, value.as_buffer()


def added_up(batches: Iterable[pa.RecordBatch], dtype: Any, piece: int = PIECE) -> Iterator[pa.RecordBatch]:
    """Add up messages with equal keys: a task holds the sums of its own keys and one message more."""
    tiles: dict[int, np.ndarray] = {}
    sums: dict[int, Any] = {}
    for message in received(rows_of(batches)):
        key = message.key
        if key == ERROR:
            yield from message.batches(piece)
            return
        if key < 0:
            sums[key] = sums[key] + message.value if key in sums else message.value
        elif key in tiles:
            tiles[key] += np.frombuffer(message.data, dtype)
        else:
            tiles[key] = np.frombuffer(message.data, dtype).copy()
    for key, tile in tiles.items():
        yield from Message(key, 0, tile).batches(piece)
    for key, value in sums.items():
        yield from pickled(key, 0, value).batches(piece)
