"""Files of one array: NPY, NPZ, IDX and HDF5, as batches of its first axis."""

import math
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tokenize import TokenError
from typing import Any, BinaryIO
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.content import first_line, said_of
from craftmaps.streams.files import DataFile

_IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
# What NumPy raises about a header that is none.
_NPY_ERRORS = (ValueError, TypeError, SyntaxError, TokenError)


@dataclass(frozen=True)
class StoredArray:
    """An array in a file: its shape, its type, and how to read it in batches."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    batches: Callable[[int], Iterator[NDArray]]


def npy_array(file: DataFile) -> StoredArray:
    """Map an NPY file into memory; nothing is read before it is used."""
    name = file.name
    with said_of(name):
        try:
            array = np.load(file.path, mmap_mode="r", allow_pickle=False)
        except _NPY_ERRORS as error:
            raise ValueError(f"{name} cannot be read as NPY: {first_line(error)}.") from None

    def batches(n_rows: int) -> Iterator[NDArray]:
        for start in range(0, array.shape[0], n_rows):
            yield array[start : start + n_rows]

    return StoredArray(name, array.shape, array.dtype, batches)


def npz_array(file: DataFile, key: str) -> StoredArray:
    """Read one array of an NPZ file as it comes, compressed or not."""
    member = f"{key}.npy"

    @contextmanager
    def opened() -> Iterator[tuple[BinaryIO, Any]]:
        with said_of(file.name), ZipFile(file.path) as archive, archive.open(member) as content:
            try:
                major, _ = np.lib.format.read_magic(content)
                read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
                header = read(content)
            except _NPY_ERRORS as error:
                raise ValueError(f"{key!r} of {file.name} is no array: {first_line(error)}.") from None
            yield content, header  # type: ignore[misc]

    with opened() as (_, (shape, is_fortran, dtype)):
        pass

    def batches(n_rows: int) -> Iterator[NDArray]:
        with opened() as (content, _):
            if is_fortran and len(shape) > 1:
                # Rows of such an array are scattered over all of the file.
                size = math.prod(shape) * dtype.itemsize
                array = np.frombuffer(_exactly(content, size, file.name), dtype).reshape(shape[::-1]).T
                for start in range(0, shape[0], n_rows):
                    yield array[start : start + n_rows]
            else:
                yield from _sequential(content, shape, dtype, n_rows, file.name)

    return StoredArray(f"{key!r} of {file.name}", shape, dtype, batches)


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
        pass

    def batches(n_rows: int) -> Iterator[NDArray]:
        with opened() as (content, _, _):
            yield from _sequential(content, shape, dtype, n_rows, file.name)

    return StoredArray(file.name, shape, dtype, batches)


def stored_array(file: DataFile, key: str) -> StoredArray:
    """Return one array of an NPZ or HDF5 file."""
    return (npz_array if file.format == "NPZ" else hdf5_array)(file, key)


def hdf5_array(file: DataFile, key: str) -> StoredArray:
    """Read one dataset of an HDF5 file in slices."""
    h5py = _h5py(file.name)

    @contextmanager
    def opened() -> Iterator[Any]:
        with _opened_hdf5(file) as content:
            if not isinstance(content[key], h5py.Dataset):
                raise ValueError(f"{key!r} of {file.name} must be a dataset, got a group.")
            yield content[key]

    with opened() as dataset:
        shape, dtype = dataset.shape, dataset.dtype
        is_text = h5py.check_string_dtype(dtype) is not None

    def batches(n_rows: int) -> Iterator[NDArray]:
        with opened() as dataset:
            content = dataset.asstr() if is_text else dataset
            for start in range(0, shape[0], n_rows):
                rows = content[start : start + n_rows]
                yield rows.astype(np.str_) if is_text else rows

    return StoredArray(f"{key!r} of {file.name}", shape, np.dtype(np.str_) if is_text else dtype, batches)


def array_names(file: DataFile) -> list[str]:
    """Return the names of the arrays of an NPZ or HDF5 file."""
    if file.format == "NPZ":
        with said_of(file.name), ZipFile(file.path) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
    with _opened_hdf5(file) as content:
        return list(content)


@contextmanager
def _opened_hdf5(file: DataFile) -> Iterator[Any]:
    """Open an HDF5 file; damage inside it comes as errors of many kinds."""
    with said_of(file.name):
        try:
            with _h5py(file.name).File(file.path, "r") as content:
                yield content
        except (RuntimeError, KeyError) as error:
            raise ValueError(f"{file.name} is damaged or cut off: {first_line(error)}.") from None


def _h5py(name: str) -> Any:
    """Import h5py, or say how to install it."""
    try:
        import h5py
    except ImportError:
        raise ImportError(f"{name} is an HDF5 file, which is read with h5py: pip install h5py.") from None
    return h5py


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
