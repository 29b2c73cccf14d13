"""Arrow batches to blocks of NumPy rows, each row with its place in the DataFrame."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class BadRowsError(ValueError):
    """Rows that cannot be learned from; the message names partition and row."""


class Block(NamedTuple):
    """Rows, labels, perhaps weights, and what `monotonically_increasing_id` gave each row: its place."""

    X: NDArray
    y: NDArray
    weight: NDArray | None
    place: NDArray[np.int64]

    @property
    def values(self) -> tuple[NDArray, NDArray, NDArray | None]:
        """Rows, labels and weights."""
        return self.X, self.y, self.weight

    def bad(self, error: Exception) -> BadRowsError:
        """Return an error that names the first row with numbers that cannot be used, or else the first of all."""
        good = np.isfinite(self.X).all(axis=1)
        if self.y.dtype.kind == "f":
            good &= np.isfinite(self.y.reshape(good.size, -1)).all(axis=1)
        if self.weight is not None:
            good &= (self.weight >= 0) & (self.weight < np.inf)
        # Further lines of a message of scikit-learn are advice that does not help here.
        reason = str(error).splitlines()[0]
        if good.all():
            return BadRowsError(f"{_named(self.place[0])} and after: {reason}")
        return BadRowsError(f"{_named(self.place[good.argmin()])}: {reason}")


def blocks(batches: Iterable[pa.RecordBatch], n_bytes: int) -> Iterator[Block]:
    """Join batches of the columns that `selected` gives, until their rows have so many bytes."""
    parts: list[Block] = []
    size, width = 0, None
    for batch in batches:
        if not batch.num_rows:
            continue
        part = _block(batch, width)
        parts.append(part)
        size, width = size + part.X.nbytes, part.X.shape[1]
        if size >= n_bytes:
            yield _joined(parts)
            parts, size = [], 0
    if parts:
        yield _joined(parts)


def matrix(column: Any, name: str, width: int | None = None, place: NDArray[np.int64] | None = None) -> NDArray:
    """Return a column of arrays, perhaps of a given length, as a matrix; null in an array becomes NaN."""
    _refuse_null(column, name, place)
    lengths = np.diff(column.offsets.to_numpy())
    width = int(lengths[:1].sum()) if width is None else width
    wrong = lengths != width
    if wrong.any():
        first = wrong.argmax()
        raise BadRowsError(f"{_at(place, first)}{name} must have {width} numbers, got {lengths[first]}.")
    return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), width)


def _block(batch: pa.RecordBatch, width: int | None) -> Block:
    """Return the rows of one batch."""
    X, y, place, *weight = (batch.column(name) for name in batch.schema.names)
    place = place.to_numpy()
    return Block(
        matrix(X, "features", width, place),
        _labels(y, place),
        weight[0].to_numpy(zero_copy_only=False) if weight else None,
        place,
    )


def _labels(column: Any, place: NDArray[np.int64]) -> NDArray:
    """Return labels or numbers, or several numbers a row."""
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return matrix(column, "label", None, place)
    _refuse_null(column, "label", place)
    return column.to_numpy(zero_copy_only=False)


def _joined(parts: list[Block]) -> Block:
    """Put the rows of several batches into one block."""
    if len(parts) == 1:
        return parts[0]
    X, y, weight, place = zip(*parts, strict=True)
    weight = None if weight[0] is None else np.concatenate(weight)
    return Block(np.concatenate(X), np.concatenate(y), weight, np.concatenate(place))


def _refuse_null(column: Any, name: str, place: NDArray[np.int64] | None) -> None:
    """Refuse a column with rows that are null."""
    if column.null_count:
        first = column.is_null().to_numpy(zero_copy_only=False).argmax()
        raise BadRowsError(f"{_at(place, first)}{name} must not be null.")


def _at(place: NDArray[np.int64] | None, row: np.int64) -> str:
    """Name a row before what is wrong with it, if its place is known."""
    return "" if place is None else f"{_named(place[row])}: "


def _named(place: np.int64) -> str:
    """Name a row by its partition, which is in the upper bits of its place, and its number there."""
    return f"Partition {int(place) >> 33}, row {int(place) & (1 << 33) - 1}"
