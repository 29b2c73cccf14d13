"""Run a loop over the rows of a matrix: from X into lanes and back.

Rows are cut into blocks, each block is loaded into tiles, and a loop writes the rows of the result. The result for
a row does not depend on its block or lane.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from craftmaps._system.threads import for_row_blocks

# Tiles of one block fit into the cache that threads share.
_BLOCK_BYTES = 2**20
# Rows that are read together where columns are contiguous: a line of a column alone wastes the page it is on.
_COLUMN_ROWS = 128


def frozen(array: NDArray) -> NDArray:
    """Return a read-only view: Numba takes read-only arrays for a type of their own, and one type is compiled once."""
    view = array.view()
    view.flags.writeable = False
    return view


def csr_block(X: Any, start: int, stop: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return data, indices and indptr of rows start to stop of a CSR matrix, in the dtypes of the loops."""
    first, last = X.indptr[start], X.indptr[stop]
    indices = X.indices[first:last].astype(np.int32, copy=False)
    indptr = (X.indptr[start : stop + 1] - first).astype(np.int64)
    return frozen(X.data[first:last]), frozen(indices), frozen(indptr)


def rows_of_block(X: Any, width: int, n_bytes: int = _BLOCK_BYTES) -> int:
    """Return how many rows, of `width` numbers each in a tile, make a block of so many bytes."""
    n_rows = n_bytes // (width * X.dtype.itemsize)
    has_columns = not issparse(X) and X.strides[1] != X.itemsize == X.strides[0]
    return max(n_rows, _COLUMN_ROWS) if has_columns else n_rows


def load_tiles(X: Any, start: int, stop: int, layout: tuple[NDArray, NDArray], width: int, line: tuple) -> NDArray:
    """Return tiles of `width` numbers with rows start to stop of X, and of one more line that is free.

    Column k of X, times factor[k], is number position[k] of a tile, where the layout is (position, factor). The free
    line keeps tiles from lying a power of two apart, where their lines would drive each other out of the cache.
    """
    from craftmaps._loops import lanes

    n_tiles = -(-(stop - start) // len(line))
    tiles = lanes.aligned_empty(n_tiles * (width + 1) * len(line), X.dtype).reshape(n_tiles, -1)
    if issparse(X):
        lanes.load_csr(*csr_block(X, start, stop), *layout, tiles, line)
        return tiles
    rows = X[start:stop]
    if not rows.flags.aligned:
        rows = rows.copy(order="C")
    lanes.load_dense(frozen(rows), *layout, tiles, line)
    return tiles


def map_rows(
    X: Any,
    n_columns: int,
    loop: Callable[[NDArray, NDArray, tuple[int, ...]], None],
    *,
    width: int,
    position: NDArray[np.int64],
    factor: NDArray,
    n_parts: int = 1,
    out: NDArray | None = None,
) -> NDArray[np.floating]:
    """Return the matrix whose rows `loop(tiles, out, line)` computes from the rows of X.

    Column k of X, times factor[k], is number position[k] of a tile of `width` numbers. A line is as wide as a
    cache line, or half as wide if the loop keeps the parts of complex numbers in two lines (`n_parts=2`).
    """
    from craftmaps._loops import lanes

    if X.shape[1] != position.size:  # loops do not check bounds
        raise ValueError(f"X must have {position.size} columns, got {X.shape[1]}.")
    out = np.empty((X.shape[0], n_columns), X.dtype) if out is None else out
    layout = frozen(position), frozen(factor.astype(X.dtype, copy=False))

    def block(start: int, stop: int) -> None:
        line = lanes.line_for(stop - start, X.dtype, lanes.LINE_BYTES // n_parts)
        tiles = load_tiles(X, start, stop, layout, width, line)
        loop(tiles, out[start:stop], line)  # type: ignore[index]

    for_row_blocks(block, X.shape[0], rows_of_block(X, width))
    return out


def next_power_of_two(n: int) -> int:
    """Return the smallest power of two that is at least n."""
    return 1 << (int(n) - 1).bit_length()
