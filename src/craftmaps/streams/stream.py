"""A stream of blocks (X, y) from files or data frames, in constant memory."""

import copy
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import vstack

from craftmaps.streams.errors import errors_named
from craftmaps.streams.inference.means import Means
from craftmaps.streams.pieces import Piece, cut
from craftmaps.streams.prefetch import prefetch
from craftmaps.streams.request import Request
from craftmaps.tables import Columns
from craftmaps.tables.encoding import fill_missing

RowFilter = Callable[[Any], NDArray[np.bool_]]

_ONLY_ONCE = "Standard input can be read only once: write it to a file to read it again."


class Block(NamedTuple):
    """Consecutive rows of a stream.

    Attributes
    ----------
    X : ndarray or csr_matrix of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,) or None
        Labels.
    weight : ndarray of shape (n_rows,), dtype float64, or None
    ids : ndarray of shape (n_rows,) or None
        Names of the rows: integers, floats or strings, depending on the column.
    """

    X: Any
    y: NDArray | None
    weight: NDArray[np.float64] | None
    ids: NDArray | None


class Stream:
    """Blocks (X, y) of files, read ahead in a thread while the caller computes.

    `open` and `of` return one. It can be iterated over any number of times, except for standard input.

    Attributes
    ----------
    columns : Columns
        The rule by which a table becomes a matrix.
    n_rows : int or None
        Number of rows, if the files tell it without being read.
    bytes_read : int
        Bytes of the files behind the blocks yielded in the current pass.
    total_bytes : int or None
        Bytes of all files, if known.
    """

    def __init__(self, readers: list[Any], columns: Columns, request: Request, can_repeat: bool):
        self.columns = columns
        self.bytes_read = 0
        self._readers, self._request = readers, request
        self._fill_values = columns.fill_values()
        self._can_repeat, self._is_used = can_repeat, False

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if known."""
        counts, max_rows = [reader.n_rows for reader in self._readers], self._request.max_rows
        if None in counts:
            return None
        return sum(counts) if max_rows is None else min(sum(counts), max_rows)

    @property
    def total_bytes(self) -> int | None:
        """Bytes of all files, if known."""
        sizes = [reader.file.n_bytes for reader in self._readers]
        return None if None in sizes else sum(sizes)

    def __len__(self) -> int:
        if self.n_rows is None:
            raise TypeError("The number of blocks is not known: these files do not tell how many rows they have.")
        return -(-self.n_rows // self._request.batch_rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return _for_learners(self.blocks())

    def blocks(self, pick: RowFilter | None = None) -> Generator[Block, None, None]:
        """Return an iterator over the blocks, with weights and ids.

        Iteration over the stream itself yields (X, y), or (X, y, weight) for a stream with weights, as learners take
        them.

        Parameters
        ----------
        pick : callable, optional
            Selects rows: takes X and returns a boolean mask. Missing numbers are zero in that X, so that the selection
            does not depend on the means in `columns`. A block without selected rows is skipped.
        """
        if self._is_used and not self._can_repeat:
            raise ValueError(_ONLY_ONCE)
        self._is_used = True
        self.bytes_read = 0
        return self._pass(pick)

    def with_means_of(self, pick: RowFilter) -> "Stream":
        """Return this stream with missing numbers replaced by the means of selected rows.

        The means are taken over the rows of the first look that `pick` selects; see `blocks`. If it selects training
        rows, the rule holds no number computed from test rows.
        """
        if self._readers[0].is_sparse:
            return self  # an absent value is zero
        if not self._can_repeat:
            raise ValueError(_ONLY_ONCE)
        limits, columns, dtype = self._request.limits, self.columns, np.dtype(self._request.dtype)
        n_left = limits.n_look_rows(columns.n_named_cells + (columns.target is not None))
        if self._request.max_rows is not None:
            n_left = min(n_left, self._request.max_rows)
        means = Means(columns.n_features)
        for pieces in cut(self._pieces(limits.look_batch), limits.look_batch, n_left, limits.largest_read, True):
            X = self._encoded(pieces, np.dtype(np.float64))
            with np.errstate(over="ignore"):
                rounded = X.astype(dtype)  # as in blocks
            means.add(X[pick(_zero_for_missing(rounded))])
        columns = columns.with_fill_values(np.array(means.fill))
        readers = [copy.copy(reader) for reader in self._readers]
        for reader in readers:
            reader.bind(columns)
        return Stream(readers, columns, self._request, self._can_repeat)

    def _pass(self, pick: RowFilter | None) -> Generator[Block, None, None]:
        """Yield the blocks of one pass."""
        with closing(prefetch(self._blocks(pick))) as blocks:
            for block, position in blocks:
                self.bytes_read = position
                if block.X.shape[0]:
                    yield block

    def _blocks(self, pick: RowFilter | None) -> Iterator[tuple[Block, int]]:
        """Yield blocks, and the number of bytes read up to their end."""
        request, pieces = self._request, None
        batch_rows = int(request.batch_rows)
        for pieces in cut(self._pieces(batch_rows), batch_rows, request.max_rows, request.limits.largest_block):
            with errors_named(pieces[-1].reader.name):
                block = self._block(pieces, pick)
            yield block, pieces[-1].position
        if pieces is None and request.part is None:
            raise ValueError(f"{self._readers[0].name} has no rows.")

    def _pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows of all files, with positions counted over all of them."""
        n_bytes = 0
        for reader in self._readers:
            for piece in reader.pieces(batch_rows):
                yield piece.shifted(n_bytes)
            n_bytes += reader.file.n_bytes or 0

    def _block(self, pieces: list[Piece], pick: RowFilter | None) -> Block:
        """Encode pieces as one block."""
        y = None if pieces[0].labels is None else np.concatenate([piece.reader.labels(piece) for piece in pieces])
        weight = _joined([piece.reader.weights(piece) for piece in pieces])
        ids = _joined([piece.reader.ids(piece) for piece in pieces])
        X = self._encoded(pieces, np.dtype(self._request.dtype))
        mask = None if pick is None else pick(_zero_for_missing(X))
        if isinstance(X, np.ndarray):
            self._fill(pieces, X)
        block = Block(X, y, weight, ids)
        return block if mask is None else Block(*(None if part is None else part[mask] for part in block))

    def _encoded(self, pieces: list[Piece], dtype: np.dtype) -> Any:
        """Return the rows of pieces as one matrix, CSR or dense with NaN for missing numbers."""
        if pieces[0].reader.is_sparse:
            return vstack([piece.reader.encode(piece, dtype) for piece in pieces], format="csr")
        X = np.empty((sum(map(len, pieces)), self.columns.n_features), dtype)
        for piece, rows in _with_rows(pieces, X):
            piece.reader.encode(piece, rows)
        return X

    def _fill(self, pieces: list[Piece], X: NDArray[np.floating]) -> None:
        """Replace missing numbers in place."""
        for piece, rows in _with_rows(pieces, X):
            fill_missing(rows, self._fill_values, self.columns, piece.reader.name, piece.first_row)


def _with_rows(pieces: Iterable[Piece], X: NDArray) -> Iterator[tuple[Piece, NDArray]]:
    """Yield each piece with its rows of X."""
    start = 0
    for piece in pieces:
        yield piece, X[start : start + len(piece)]
        start += len(piece)


def _zero_for_missing(X: Any) -> Any:
    """Return X with zeros in place of NaN; X itself if it is sparse."""
    return np.where(np.isnan(X), X.dtype.type(0), X) if isinstance(X, np.ndarray) else X


def _joined(parts: list[Any]) -> NDArray | None:
    """Join the weights or ids of pieces, if they have any."""
    return None if parts[0] is None else np.concatenate(parts)


def _for_learners(blocks: Generator[Block, None, None]) -> Iterator[tuple[Any, ...]]:
    """Yield blocks as the tuples that learners take."""
    with closing(blocks):
        for block in blocks:
            yield block[:2] if block.weight is None else block[:3]
