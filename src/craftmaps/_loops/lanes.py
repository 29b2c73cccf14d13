"""Rows into lanes: the layout in which the loops of Hadamard maps and sketches work.

A tile is 64 bytes wide, for sketches and complex maps half of that: it holds a few rows side by side, so that what is
one number of one row becomes one line of numbers, one for each row. Butterflies are then vector additions at every
stride, and a permutation moves whole cache lines. The loops learn the number of lanes from the
length of a tuple, because its length is part of its type and so known to the compiler.

For the Hadamard maps this file is the only place where dense and CSR rows differ.
"""

import numpy as np
from numpy.typing import DTypeLike, NDArray

from craftmaps._loops.compiled import loop
from craftmaps._loops.squares import load_square
from craftmaps._loops.vector_type import fetch, gather, load, spread, spread_like, square_width, store

LINE_BYTES = 64
# A vector load that straddles two cache lines costs double, and NumPy aligns to 16 bytes only.
_ALIGNMENT = 64
# What follows is measured: how much of a row is loaded before the next few rows, and how far ahead lines are fetched.
# Long pieces of contiguous columns the processor fetches ahead by itself, and better.
_PIECE_VECTORS = 32
_STRIDED_AHEAD = 128
# Columns of which the numbers are gathered, and the cache lines fetched, in turn.
_GATHERED = 8


def line_for(n_rows: int, dtype: np.dtype, n_bytes: int = LINE_BYTES) -> tuple[int, ...]:
    """Choose how many rows stand side by side: as many as fill a line of so many bytes, or four for a short block."""
    return (0,) * (4 if n_rows <= 4 else n_bytes // np.dtype(dtype).itemsize)


def aligned_empty(size: int, dtype: DTypeLike) -> NDArray:
    """Allocate a vector that starts on a cache line."""
    itemsize = np.dtype(dtype).itemsize
    room = np.empty(size + _ALIGNMENT // itemsize, dtype)
    start = (-room.__array_interface__["data"][0] % _ALIGNMENT) // itemsize  # faster than `room.ctypes`
    return room[start : start + size]


@loop
def load_dense(X, position, factor, tiles, line):
    """Write factor[k] * X[row, k] to number position[k] of the tile and lane of the row; the others become zero.

    The last line of a tile is no number, and keeps what it holds.
    """
    lanes = len(line)
    n_whole = X.shape[0] // lanes
    if (X.shape[1] + 1) * lanes < tiles.shape[1]:
        tiles[:] = 0
    else:
        tiles[n_whole:] = 0
    n_columns = X.shape[1]
    if X.strides[1] == X.itemsize:
        n_columns = _load_rows(X, n_whole * lanes, position, factor, tiles, line)
    elif X.strides[0] == X.itemsize:
        _load_columns(X, n_whole, position, factor, tiles, line)
    else:
        n_columns = _load_strided(X, n_whole * lanes, position, factor, tiles, line)
    for row in range(X.shape[0]):
        x, lane = tiles[row // lanes], row % lanes
        for k in range(n_columns if row < n_whole * lanes else 0, X.shape[1]):
            x[position[k] * lanes + lane] = factor[k] * X[row, k]


@loop
def _load_rows(X, n_rows, position, factor, tiles, line):
    """Load whole tiles from contiguous rows, and return how many columns were loaded.

    A few rows at a time: more of them, if they lie a power of two apart, do not fit into one set of the cache. Pieces
    of them, so that the lines of the tile are still in the first-level cache when the next few rows come.
    """
    lanes = len(line)
    width = square_width(X, line)
    n_columns = X.shape[1] // width * width
    piece = _PIECE_VECTORS * width
    for row in range(0, n_rows, lanes):
        x = tiles[row // lanes]
        for first in range(0, n_columns, piece):
            for lane in range(0, lanes, width):
                for k in range(first, min(first + piece, n_columns), width):
                    load_square(X, row + lane, k, position, factor, x, lane, line)
    return n_columns


@loop
def _load_columns(X, n_tiles, position, factor, tiles, line):
    """Load whole tiles from contiguous columns, of which a line of lanes is a part.

    All tiles at once: they share the cache lines and memory pages of a column.
    """
    lanes = len(line)
    step = X.strides[1] // X.itemsize
    for k in range(X.shape[1]):
        number, at = spread(factor[k], line), position[k] * lanes
        for t in range(n_tiles):
            store(tiles[t], at, number * load(X, k * step + t * lanes, line))


@loop
def _load_strided(X, n_rows, position, factor, tiles, line):
    """Load whole tiles from rows and columns of which neither are contiguous, like `_load_rows`."""
    lanes = len(line)
    width = square_width(X, line)
    n_columns = X.shape[1] // _GATHERED * _GATHERED
    piece = _PIECE_VECTORS * width
    # One number of every cache line is enough to fetch it.
    row_step = min(width, max(1, LINE_BYTES // max(1, abs(X.strides[0]))))
    column_step = min(_GATHERED, max(1, LINE_BYTES // max(1, abs(X.strides[1]))))
    for row in range(0, n_rows, lanes):
        x = tiles[row // lanes]
        for first in range(0, n_columns, piece):
            for lane in range(0, lanes, width):
                for start in range(first, min(first + piece, n_columns), _GATHERED):
                    for k in range(start, start + _GATHERED, column_step):
                        for i in range(0, width, row_step):
                            fetch(X, row + lane + i, k + _STRIDED_AHEAD)
                    for k in range(start, start + _GATHERED):
                        numbers = gather(X, row + lane, k, line)
                        store(x, position[k] * lanes + lane, spread_like(factor[k], numbers) * numbers)
    return n_columns


@loop
def load_csr(data, indices, indptr, position, factor, tiles, line):
    """Load the rows of a CSR matrix like `load_dense`; duplicate entries add up."""
    lanes = len(line)
    tiles[:] = 0
    for row in range(indptr.size - 1):
        x, lane = tiles[row // lanes], row % lanes
        for e in range(indptr[row], indptr[row + 1]):
            k = indices[e]
            x[position[k] * lanes + lane] += factor[k] * data[e]
