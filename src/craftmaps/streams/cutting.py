"""Cut rows, in whatever pieces they come, into blocks of one size."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from scipy.sparse import csr_matrix

from craftmaps.streams.limits import LARGEST_BLOCK

# Arrow counts buffers in no time, but whole ones; to count the rows alone of a smaller table does not pay.
_WORTH_COUNTING = 1 << 24


@dataclass(frozen=True)
class Piece:
    """Rows that follow each other in one file, with their labels if there are any.

    Attributes
    ----------
    rows : RecordBatch, ndarray or csr_matrix
    labels : Array, ndarray or None
    first_row : int
        The place of the first one in its file.
    position : int
        The bytes of the file read when the piece was.
    reader : object
        What read the rows, and knows how to encode them.
    width : int
        The features of a row, where they are dense; otherwise 0.
    """

    rows: Any
    labels: Any
    first_row: int
    position: int
    reader: Any
    width: int = 0

    def __len__(self) -> int:
        return self.rows.shape[0]

    @property
    def n_bytes(self) -> int:
        """The memory of the rows, or of their features in single precision if that is more."""
        if isinstance(self.rows, csr_matrix):
            return self.rows.data.nbytes + self.rows.indices.nbytes
        is_matrix = not hasattr(self.rows, "num_rows")
        n_bytes = self.rows.nbytes if is_matrix else self.rows.get_total_buffer_size()
        if not is_matrix and n_bytes > _WORTH_COUNTING:
            n_bytes = self.rows.nbytes
        return max(n_bytes, 4 * self.width * len(self))

    def after(self, n_bytes: int) -> "Piece":
        """Return the piece with the bytes of earlier files counted in its position."""
        return replace(self, position=self.position + n_bytes)

    def part(self, start: int, stop: int) -> "Piece":
        """Return some of the rows; nothing is copied."""
        if start == 0 and stop == len(self):
            return self
        is_matrix = not hasattr(self.rows, "num_rows")
        return replace(
            self,
            rows=self.rows[start:stop] if is_matrix else self.rows.slice(start, stop - start),
            labels=None if self.labels is None else self.labels[start:stop],
            first_row=self.first_row + start,
        )


def cut(
    pieces: Iterable[Piece], n_rows: int, max_rows: int | None = None, most_bytes: int | None = None
) -> Iterator[list[Piece]]:
    """Yield lists of pieces of `n_rows` rows in all, the last one with what is left; stop after `max_rows`.

    A list ends early where it exceeds `most_bytes`. Without them one that is too large is refused.
    """
    block: list[Piece] = []
    n_free, n_left, n_bytes = n_rows, max_rows, 0
    for piece in pieces:
        start = 0
        while start < len(piece):
            stop = min(len(piece), start + n_free, len(piece) if n_left is None else start + n_left)
            block.append(piece.part(start, stop))
            n_free -= stop - start
            n_left = None if n_left is None else n_left - (stop - start)
            n_bytes += block[-1].n_bytes
            start = stop
            if most_bytes is None and n_bytes > LARGEST_BLOCK:
                raise _too_large(block, n_rows)
            if not n_free or n_left == 0 or (most_bytes is not None and n_bytes > most_bytes):
                yield block
                block, n_free, n_bytes = [], n_rows, 0
            if n_left == 0:
                return
    if block:
        yield block


def _too_large(block: list[Piece], n_rows: int) -> ValueError:
    """Return the refusal of a block that would not fit in memory."""
    n_held = sum(map(len, block))
    return ValueError(
        f"{n_held:,} rows of {block[-1].reader.name} take more than {LARGEST_BLOCK >> 30} GB: batch_rows must be "
        f"smaller, got {n_rows:,}."
    )
