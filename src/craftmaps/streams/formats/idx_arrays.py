"""IDX files, the format of MNIST, as batches of rows."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.formats.row_major import read_exactly, row_major_batches
from craftmaps.streams.formats.stored_array import StoredArray, check_claim
from craftmaps.streams.sources.data_file import DataFile

_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def idx_array(file: DataFile) -> StoredArray:
    """Read an IDX file, compressed or not, in pieces."""

    @contextmanager
    def opened() -> Iterator[tuple[BinaryIO, tuple[int, ...], np.dtype]]:
        with file.opened() as (content, _):
            magic = read_exactly(content, 4, file.name)
            if magic[:2] != b"\x00\x00" or magic[2] not in _TYPES or not magic[3]:
                raise ValueError(f"{file.name} must begin as an IDX file does, got {magic!r}.")
            sizes = read_exactly(content, 4 * magic[3], file.name)
            yield content, struct.unpack(f">{magic[3]}I", sizes), np.dtype(_TYPES[magic[2]])

    with opened() as (_, shape, dtype):
        check_claim(file.name, shape, dtype, file.limits)

    def batches(n_rows: int) -> Iterator[NDArray]:
        with opened() as (content, _, _):
            yield from row_major_batches(content, shape, dtype, n_rows, file.name)

    return StoredArray(file.name, shape, dtype, batches)
