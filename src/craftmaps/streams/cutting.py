"""Cut rows, in whatever pieces they come, into blocks of one size."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any


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
    """

    rows: Any
    labels: Any
    first_row: int
    position: int
    reader: Any

    def __len__(self) -> int:
        return self.rows.shape[0]

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


def cut(pieces: Iterable[Piece], n_rows: int, max_rows: int | None = None) -> Iterator[list[Piece]]:
    """Yield lists of pieces of `n_rows` rows in all, the last one with what is left; stop after `max_rows`."""
    block: list[Piece] = []
    n_free, n_left = n_rows, max_rows
    for piece in pieces:
        start = 0
        while start < len(piece):
            stop = min(len(piece), start + n_free, len(piece) if n_left is None else start + n_left)
            block.append(piece.part(start, stop))
            n_free -= stop - start
            n_left = None if n_left is None else n_left - (stop - start)
            start = stop
            if not n_free or n_left == 0:
                yield block
                block, n_free = [], n_rows
            if n_left == 0:
                return
    if block:
        yield block
