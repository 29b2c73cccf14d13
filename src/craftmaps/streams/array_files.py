"""Files of one array: NPY, NPZ, IDX and HDF5, as batches of its first axis."""

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

from craftmaps.streams.content import first_line, said_of
from craftmaps.streams.files import DataFile
from craftmaps.streams.hdf5_files import hdf5_array, hdf5_names
from craftmaps.streams.limits import LARGEST_WHOLE, LONGEST_HEADER
from craftmaps.streams.stored_arrays import StoredArray, check_claim

Header = tuple[tuple[int, ...], bool, np.dtype]

_IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_NPY_VERSIONS = ((1, 0), (2, 0), (3, 0))
# What NumPy raises about a header that is none.
_NPY_ERRORS = (ValueError, TypeError, SyntaxError, TokenError, RecursionError, MemoryError, OverflowError)


def npy_array(file: DataFile) -> StoredArray:
    """Map an NPY file into memory; nothing is read before it is used."""
    name = file.name
    with said_of(name):
        with open(file.path, "rb") as content:
            shape, _, dtype = _npy_header(content, f"{name} cannot be read as NPY")
            size = math.prod(shape) * dtype.itemsize
            if file.n_bytes - content.tell() < size:
                raise ValueError(f"{name} cannot be read as NPY: it is cut off.")
        check_claim(name, shape, dtype)
        array = np.load(file.path, mmap_mode="r", allow_pickle=False) if size else np.empty(shape, dtype)

    def batches(n_rows: int) -> Iterator[NDArray]:
        for start in range(0, array.shape[0], n_rows):
            yield array[start : start + n_rows]

    return StoredArray(name, shape, dtype, batches)


def npz_array(file: DataFile, key: str) -> StoredArray:
    """Read one array of an NPZ file as it comes, compressed or not."""
    member, name = f"{key}.npy", f"{key!r} of {file.name}"

    @contextmanager
    def opened() -> Iterator[tuple[BinaryIO, Header]]:
        with _opened_zip(file) as archive, archive.open(member) as content:
            yield content, _npy_header(content, f"{name} is no array")  # type: ignore[arg-type]

    with opened() as (_, (shape, is_fortran, dtype)):
        check_claim(name, shape, dtype)
    n_axes, size = len(shape), math.prod(shape) * dtype.itemsize
    is_scattered = is_fortran and n_axes > 1
    if is_scattered:
        with _opened_zip(file) as archive:
            _check_whole(size, archive.getinfo(member).compress_size, name)

    def batches(n_rows: int) -> Iterator[NDArray]:
        with opened() as (content, _):
            if is_scattered:
                # Rows of such an array are scattered over all of the file.
                array = np.frombuffer(_exactly(content, size, file.name), dtype).reshape(shape[::-1]).T
                for start in range(0, shape[0], n_rows):
                    yield array[start : start + n_rows]
            else:
                yield from _sequential(content, shape, dtype, n_rows, file.name)

    return StoredArray(name, shape, dtype, batches)


def _npy_header(content: BinaryIO, refusal: str) -> Header:
    """Read the header of an array: its shape, whether it is in Fortran order, and its type."""
    try:
        major, minor = np.lib.format.read_magic(content)
        if (major, minor) not in _NPY_VERSIONS:
            raise ValueError(f"version {major}.{minor} of the format is not known")
        n_length = 2 if major == 1 else 4
        length = content.read(n_length)
        # NumPy reads a header of any length before it refuses it.
        n_bytes = int.from_bytes(length, "little")
        if n_bytes > LONGEST_HEADER:
            raise ValueError(f"a header of {n_bytes:,} bytes")
        header = io.BytesIO(length + content.read(n_bytes))
        read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
        shape, is_fortran, dtype = read(header)
    except _NPY_ERRORS as error:
        raise ValueError(f"{refusal}: {first_line(error)}.") from None
    if dtype.hasobject:
        raise ValueError(f"{refusal}: it holds Python objects, which could run code.")
    return shape, is_fortran, dtype


def _check_whole(size: int, stored: int, name: str) -> None:
    """Refuse an array that must be read whole and is far larger than what is stored of it."""
    if size > max(LARGEST_WHOLE, 8 * stored):
        raise ValueError(
            f"{name} is in Fortran order, which is read whole, and must take at most {LARGEST_WHOLE >> 30} GB, got "
            f"{size:,} bytes: save it in C order."
        )


@contextmanager
def _opened_zip(file: DataFile) -> Iterator[ZipFile]:
    """Open an NPZ file; damage inside it comes as errors of many kinds."""
    with said_of(file.name):
        try:
            with ZipFile(file.path) as archive:
                yield archive
        except (RuntimeError, KeyError, struct.error, lzma.LZMAError, OverflowError) as error:
            raise ValueError(f"{file.name} is damaged or cut off: {first_line(error)}.") from None


def idx_array(file: DataFile) -> StoredArray:
    """Read an IDX file, the format of MNIST, as it comes, compressed or not."""

    @contextmanager
    def opened() -> Iterator[tuple[BinaryIO, tuple[int, ...], np.dtype]]:
        with file.opened() as (content, _):
            magic = _exactly(content, 4, file.name)
            if magic[:2] != b"\x00\x00" or magic[2] not in _IDX_TYPES or not magic[3]:
                raise ValueError(f"{file.name} must begin as an IDX file does, got {magic!r}.")
            sizes = _exactly(content, 4 * magic[3], file.name)
            yield content, struct.unpack(f">{magic[3]}I", sizes), np.dtype(_IDX_TYPES[magic[2]])

    with opened() as (_, shape, dtype):
        check_claim(file.name, shape, dtype)

    def batches(n_rows: int) -> Iterator[NDArray]:
        with opened() as (content, _, _):
            yield from _sequential(content, shape, dtype, n_rows, file.name)

    return StoredArray(file.name, shape, dtype, batches)


def stored_array(file: DataFile, key: str) -> StoredArray:
    """Return one array of an NPZ or HDF5 file."""
    return (npz_array if file.format == "NPZ" else hdf5_array)(file, key)


def array_names(file: DataFile) -> list[str]:
    """Return the names of the arrays of an NPZ or HDF5 file."""
    if file.format == "HDF5":
        return hdf5_names(file)
    with _opened_zip(file) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


def _sequential(
    content: BinaryIO, shape: tuple[int, ...], dtype: np.dtype, n_rows: int, name: str
) -> Iterator[NDArray]:
    """Yield batches of an array whose rows follow each other in a file."""
    row_size = math.prod(shape[1:]) * dtype.itemsize
    for start in range(0, shape[0], n_rows):
        n = min(n_rows, shape[0] - start)
        yield np.frombuffer(_exactly(content, n * row_size, name), dtype).reshape(n, *shape[1:])


def _exactly(content: BinaryIO, size: int, name: str) -> bytes:
    """Read a number of bytes, all of them."""
    pieces = []
    while size and (piece := content.read(min(size, 1 << 24))):
        pieces.append(piece)
        size -= len(piece)
    if size:
        raise ValueError(f"{name} is cut off: {size} more bytes were expected.")
    return b"".join(pieces)
