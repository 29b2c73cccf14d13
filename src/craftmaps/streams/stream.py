"""A stream of blocks (X, y) from files or data frames, in constant memory."""

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from craftmaps.streams.content import said_of
from craftmaps.streams.cutting import Piece, cut
from craftmaps.streams.prefetch import prefetch
from craftmaps.tables import Columns


class Block(NamedTuple):
    """Some rows of a stream.

    Attributes
    ----------
    X : ndarray or csr_matrix of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,) or None
        The labels.
    weight : ndarray of shape (n_rows,), dtype float64, or None
    ids : ndarray of shape (n_rows,) or None
        Names of the rows: whole numbers, floats or strings, as the column has them.
    """

    X: Any
    y: NDArray | None
    weight: NDArray[np.float64] | None
    ids: NDArray | None


class Stream:
    """Blocks (X, y) of files, read ahead in a thread while the caller computes.

    It can be iterated over as often as wanted, but for standard input, which comes once. `open` and `of` make one.

    Attributes
    ----------
    columns : Columns
        How a table becomes a matrix.
    n_rows : int or None
        The number of rows, where files tell it without being read.
    bytes_read : int
        Bytes of the files behind the blocks given so far, in the current pass.
    total_bytes : int or None
        Bytes of all files; None if that is not known.
    """

    def __init__(
        self,
        readers: list[Any],
        columns: Columns,
        batch_rows: int,
        max_rows: int | None,
        dtype: np.dtype,
        can_repeat: bool,
    ):
        self.columns = columns
        self.bytes_read = 0
        self._readers = readers
        self._batch_rows, self._max_rows, self._dtype = batch_rows, max_rows, dtype
        self._can_repeat, self._is_used = can_repeat, False

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known."""
        counts = [reader.n_rows for reader in self._readers]
        if None in counts:
            return None
        return sum(counts) if self._max_rows is None else min(sum(counts), self._max_rows)

    @property
    def total_bytes(self) -> int | None:
        """Bytes of all files, where it is known."""
        sizes = [reader.file.n_bytes for reader in self._readers]
        return None if None in sizes else sum(sizes)

    def __len__(self) -> int:
        if self.n_rows is None:
            raise TypeError("The number of blocks is not known: these files do not tell how many rows they have.")
        return -(-self.n_rows // self._batch_rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return _for_learners(self.blocks())

    def blocks(self) -> Generator[Block, None, None]:
        """Return an iterator over the blocks with all that is known of their rows.

        Iteration over the stream itself gives (X, y), or (X, y, weight) if it was opened with weights, which is what
        learners take.
        """
        if self._is_used and not self._can_repeat:
            raise ValueError("Standard input can be read only once: write it to a file to read it again.")
        self._is_used = True
        self.bytes_read = 0
        return self._pass()

    def _pass(self) -> Generator[Block, None, None]:
        """Yield the blocks of one pass."""
        with closing(prefetch(self._blocks())) as blocks:
            for block, position in blocks:
                self.bytes_read = position
                yield block

    def _blocks(self) -> Iterator[tuple[Block, int]]:
        """Yield blocks and the bytes behind them."""
        block = None
        for block in cut(self._pieces(), self._batch_rows, self._max_rows):
            with said_of(block[-1].reader.name):
                y = None if block[0].labels is None else np.concatenate([piece.reader.labels(piece) for piece in block])
                weight, ids = _carried(block, "weights"), _carried(block, "names")
                X = self._matrix(block)
            yield Block(X, y, weight, ids), block[-1].position
        if block is None:
            raise ValueError(f"{self._readers[0].name} has no rows.")

    def _pieces(self) -> Iterator[Piece]:
        """Yield the rows of all files, with the bytes of the files before counted in."""
        done = 0
        for reader in self._readers:
            for piece in reader.pieces(self._batch_rows):
                yield piece.after(done)
            done += reader.file.n_bytes or 0

    def _matrix(self, block: list[Piece]) -> NDArray[np.floating] | csr_matrix:
        """Return the rows of pieces as one matrix."""
        if hasattr(block[0].reader, "encode_sparse"):
            return vstack([piece.reader.encode_sparse(piece, self._dtype) for piece in block], format="csr")
        X = np.empty((sum(map(len, block)), self.columns.n_features), self._dtype)
        start = 0
        for piece in block:
            piece.reader.encode(piece, X[start : start + len(piece)])
            start += len(piece)
        return X


def _for_learners(blocks: Generator[Block, None, None]) -> Iterator[tuple[Any, ...]]:
    """Yield blocks as learners take them."""
    with closing(blocks):
        for block in blocks:
            yield block[:2] if block.weight is None else block[:3]


def _carried(block: list[Piece], what: str) -> NDArray | None:
    """Return what tables carry along beside features and labels, if they do."""
    columns = [getattr(piece.reader, "carried", None) for piece in block]
    if columns[0] is None:
        return None
    found = [getattr(one, what)(piece.rows, piece.first_row) for one, piece in zip(columns, block, strict=True)]
    return None if found[0] is None else np.concatenate(found)
