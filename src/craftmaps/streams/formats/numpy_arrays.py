"""NPY and NPZ files, as batches of rows."""

import io
import lzma
import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from tokenize import TokenError
from typing import BinaryIO
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.errors import errors_named, first_line
from craftmaps.streams.formats.row_major import read_exactly, row_major_batches
from craftmaps.streams.formats.stored_array import StoredArray, check_claim
from craftmaps.streams.limits import Limits
from craftmaps.streams.sources.data_file import DataFile

Header = tuple[tuple[int, ...], bool, np.dtype]

_NPY_VERSIONS = ((1, 0), (2, 0), (3, 0))
# Raised by NumPy for a malformed header.
_HEADER_ERRORS = (ValueError, TypeError, SyntaxError, TokenError, RecursionError, MemoryError, OverflowError)


def npy_array(file: DataFile) -> StoredArray:
    """Map an NPY file into memory; nothing is read before it is used."""
    name = file.name
    with errors_named(name):
        with open(file.path, "rb") as content:
            shape, _, dtype = _npy_header(content, f"{name} cannot be read as NPY", file.limits)
            size = math.prod(shape) * dtype.itemsize
            if file.n_bytes - content.tell() < size:
                raise ValueError(f"{name} cannot be read as NPY: it is cut off.")
        check_claim(name, shape, dtype, file.limits)
        array = np.load(file.path, mmap_mode="r", allow_pickle=False) if size else np.empty(shape, dtype)
        array = array if file.part is None or not shape else array[slice(*file.part)]

    def batches(n_rows: int) -> Iterator[NDArray]:
        for start in range(0, array.shape[0], n_rows):
            yield array[start : start + n_rows]

    return StoredArray(name, array.shape, dtype, batches)


def npz_array(file: DataFile, key: str) -> StoredArray:
    """Read one array of an NPZ file, compressed or not, in pieces."""
    member, name = f"{key}.npy", f"{key!r} of {file.name}"

    @contextmanager
    def opened() -> Iterator[tuple[BinaryIO, Header]]:
        with _opened_zip(file) as archive, archive.open(member) as content:
            yield content, _npy_header(content, f"{name} is no array", file.limits)  # type: ignore[arg-type]

    with opened() as (_, (shape, is_fortran, dtype)):
        check_claim(name, shape, dtype, file.limits)
    n_axes, size = len(shape), math.prod(shape) * dtype.itemsize
    is_column_major = is_fortran and n_axes > 1
    if is_column_major:
        with _opened_zip(file) as archive:
            _check_whole(size, archive.getinfo(member).compress_size, name, file.limits)

    def batches(n_rows: int) -> Iterator[NDArray]:
        with opened() as (content, _):
            if is_column_major:
                # A row is scattered over the whole array.
                array = np.frombuffer(read_exactly(content, size, file.name), dtype).reshape(shape[::-1]).T
                for start in range(0, shape[0], n_rows):
                    yield array[start : start + n_rows]
            else:
                yield from row_major_batches(content, shape, dtype, n_rows, file.name)

    return StoredArray(name, shape, dtype, batches)


def npz_names(file: DataFile) -> list[str]:
    """Return the names of the arrays of an NPZ file."""
    with _opened_zip(file) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


def _npy_header(content: BinaryIO, refusal: str, limits: Limits) -> Header:
    """Read the header of an array: its shape, whether it is in Fortran order, and its type."""
    try:
        major, minor = np.lib.format.read_magic(content)
        if (major, minor) not in _NPY_VERSIONS:
            raise ValueError(f"version {major}.{minor} of the format is not known")
        length = content.read(2 if major == 1 else 4)
        # NumPy reads a header of any length before it checks it.
        n_bytes = int.from_bytes(length, "little")
        if n_bytes > limits.longest_header:
            raise ValueError(f"a header of {n_bytes:,} bytes")
        header = io.BytesIO(length + content.read(n_bytes))
        read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
        shape, is_fortran, dtype = read(header)
    except _HEADER_ERRORS as error:
        raise ValueError(f"{refusal}: {first_line(error)}.") from None
    if dtype.hasobject:
        raise ValueError(f"{refusal}: it holds Python objects, which could run code.")
    return shape, is_fortran, dtype


def _check_whole(size: int, stored: int, name: str, limits: Limits) -> None:
    """Refuse an array that must be read whole and is far larger than its stored bytes."""
    if size > max(limits.largest_whole, limits.whole_ratio * stored):
        raise ValueError(
            f"{name} is in Fortran order, which is read whole, and must take at most {limits.largest_whole >> 30} GB, "
            f"got {size:,} bytes: save it in C order."
        )


@contextmanager
def _opened_zip(file: DataFile) -> Iterator[ZipFile]:
    """Open an NPZ file; damage inside it raises errors of many types."""
    with errors_named(file.name):
        try:
            with ZipFile(file.path) as archive:
                yield archive
        except (RuntimeError, KeyError, struct.error, lzma.LZMAError, OverflowError) as error:
            raise ValueError(f"{file.name} is damaged or cut off: {first_line(error)}.") from None
