"""Arrays stored row after row, read from a file in order."""

import math
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

_READ_BYTES = 1 << 24


def row_major_batches(
    content: BinaryIO, shape: tuple[int, ...], dtype: np.dtype, n_rows: int, name: str
) -> Iterator[NDArray]:
    """Yield batches of `n_rows` rows of an array that begins at the position of the file."""
    row_bytes = math.prod(shape[1:]) * dtype.itemsize
    for start in range(0, shape[0], n_rows):
        n = min(n_rows, shape[0] - start)
        yield np.frombuffer(read_exactly(content, n * row_bytes, name), dtype).reshape(n, *shape[1:])


def read_exactly(content: BinaryIO, size: int, name: str) -> bytes:
    """Read `size` bytes; refuse a file that ends before them."""
    pieces = []
    while size and (piece := content.read(min(size, _READ_BYTES))):
        pieces.append(piece)
        size -= len(piece)
    if size:
        raise ValueError(f"{name} is cut off: {size} more bytes were expected.")
    return b"".join(pieces)
