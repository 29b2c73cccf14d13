"""Pieces of rows of any size, regrouped into blocks of one size."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from scipy.sparse import csr_matrix

# Arrow sums whole buffers quickly; counting only the rows of a slice pays off for large tables.
_WORTH_COUNTING = 1 << 24


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of one file, with their labels if there are any.

    Attributes
    ----------
    rows : RecordBatch, ndarray or csr_matrix
    labels : Array, ndarray or None
    first_row : int
        Number of rows before the piece in its file.
    position : int
        Bytes of the file read up to the end of the piece.
    reader : object
        The reader that read the rows and encodes them.
    width : int
        Features of a row if they are dense, otherwise 0.
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
        """Memory of the rows, or of their single-precision features if that is more."""
        if isinstance(self.rows, csr_matrix):
            return self.rows.data.nbytes + self.rows.indices.nbytes
        n_bytes = self.rows.get_total_buffer_size() if self._is_batch else self.rows.nbytes
        if self._is_batch and n_bytes > _WORTH_COUNTING:
            n_bytes = self.rows.nbytes
        return max(n_bytes, 4 * self.width * len(self))

    @property
    def _is_batch(self) -> bool:
        """Whether the rows are an Arrow record batch."""
        return hasattr(self.rows, "num_rows")

    def shifted(self, n_bytes: int) -> "Piece":
        """Return the piece with `n_bytes` of earlier files added to its position."""
        return replace(self, position=self.position + n_bytes)

    def part(self, start: int, stop: int) -> "Piece":
        """Return the rows from start to stop, without a copy."""
        if start == 0 and stop == len(self):
            return self
        return replace(
            self,
            rows=self.rows.slice(start, stop - start) if self._is_batch else self.rows[start:stop],
            labels=None if self.labels is None else self.labels[start:stop],
            first_row=self.first_row + start,
        )


def cut(
    pieces: Iterable[Piece], n_rows: int, max_rows: int | None, most_bytes: int, ends_early: bool = False
) -> Iterator[list[Piece]]:
    """Yield lists of pieces with `n_rows` rows in total, the last one with the rest; stop after `max_rows`.

    A list that would exceed `most_bytes` is refused, or, with `ends_early`, ends before it does.
    """
    block: list[Piece] = []
    n_held = n_bytes = 0
    for piece in _first_rows(pieces, max_rows):
        start, row_bytes = 0, max(1, piece.n_bytes // max(len(piece), 1))
        while start < len(piece):
            n_fitting = max(1, (most_bytes - n_bytes) // row_bytes) if ends_early else n_rows
            stop = min(len(piece), start + n_rows - n_held, start + n_fitting)
            block.append(piece.part(start, stop))
            n_held, n_bytes, start = n_held + stop - start, n_bytes + block[-1].n_bytes, stop
            if n_bytes > most_bytes and not ends_early:
                raise ValueError(
                    f"{n_held:,} rows of {piece.reader.name} take more than {most_bytes >> 30} GB: batch_rows must be "
                    f"smaller, got {n_rows:,}."
                )
            if n_held == n_rows or (ends_early and n_bytes >= most_bytes):
                yield block
                block, n_held, n_bytes = [], 0, 0
    if block:
        yield block


def _first_rows(pieces: Iterable[Piece], max_rows: int | None) -> Iterator[Piece]:
    """Yield the first rows, and ask for no further piece after them."""
    n_left = max_rows
    for piece in pieces:
        if n_left is None or len(piece) < n_left:
            yield piece
            n_left = None if n_left is None else n_left - len(piece)
        else:
            yield piece.part(0, n_left)
            return
