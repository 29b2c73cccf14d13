"""Run a loop over the rows of a matrix: the way from X into lanes and out again.

Rows are cut into blocks, each block is loaded into tiles, and a loop writes the block's rows of
the result. What a row becomes does not depend on its block or its lane.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from craftmaps._system.threads import for_row_blocks

# Tiles of one block: small enough for the caches that the threads share.
_BLOCK_BYTES = 2**20


def frozen(array: NDArray) -> NDArray:
    """Return a read-only view: to Numba it is another type, and one type is compiled once."""
    view = array.view()
    view.flags.writeable = False
    return view


def csr_block(X: Any, start: int, stop: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return data, indices and indptr of some rows of a CSR matrix, in the types of the loops."""
    first, last = X.indptr[start], X.indptr[stop]
    indices = X.indices[first:last].astype(np.int32, copy=False)
    indptr = (X.indptr[start : stop + 1] - first).astype(np.int64)
    return frozen(X.data[first:last]), frozen(indices), frozen(indptr)


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

    Column k of X, times factor[k], stands at number position[k] of a tile of `width` numbers. Lines are as
    wide as a line of the cache, or half of it where the loop has two for the parts of complex numbers.
    """
    from craftmaps._loops import lanes

    if X.shape[1] != position.size:  # loops check no bounds
        raise ValueError(f"X must have {position.size} columns, got {X.shape[1]}.")
    out = np.empty((X.shape[0], n_columns), X.dtype) if out is None else out
    position, factor = frozen(position), frozen(factor.astype(X.dtype, copy=False))

    def block(start: int, stop: int) -> None:
        line = lanes.line_for(stop - start, X.dtype, lanes.LINE_BYTES // n_parts)
        n_tiles = -(-(stop - start) // len(line))
        tiles = lanes.aligned_empty(n_tiles * width * len(line), X.dtype).reshape(n_tiles, -1)
        if issparse(X):
            lanes.load_csr(*csr_block(X, start, stop), position, factor, tiles, line)
        else:
            lanes.load_dense(frozen(np.ascontiguousarray(X[start:stop])), position, factor, tiles, line)
        loop(tiles, out[start:stop], line)  # type: ignore[index]

    for_row_blocks(block, X.shape[0], _BLOCK_BYTES // (width * X.dtype.itemsize))
    return out


def next_power_of_two(n: int) -> int:
    """Return the smallest power of two that is at least n."""
    return 1 << (int(n) - 1).bit_length()
