"""HDF5 datasets, as batches of rows. Links and storage outside the file are refused: files are not trusted."""

import math
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.errors import errors_named, first_line
from craftmaps.streams.formats.stored_array import StoredArray, check_claim
from craftmaps.streams.limits import Limits
from craftmaps.streams.sources.data_file import DataFile

_MOST_LINKS = 8
# Signature and version of a heap of strings.
_HEAP = b"GCOL\x01"


def hdf5_array(file: DataFile, key: str) -> StoredArray:
    """Read one dataset of an HDF5 file in slices."""
    name, limits = f"{key!r} of {file.name}", file.limits
    h5py = _h5py(file.name)

    @contextmanager
    def opened() -> Iterator[Any]:
        with _opened_hdf5(file) as content:
            yield _dataset(content, key, name)

    with opened() as dataset:
        shape, dtype = dataset.shape, dataset.dtype
        is_text = h5py.check_string_dtype(dtype) is not None
        if is_text:
            if h5py.check_string_dtype(dtype).length is None:
                _check_heaps(dataset.file, name)
            dtype = np.dtype("U1")
        check_claim(name, shape, dtype, limits)
        _check_storage(dataset, file.n_bytes, name, limits)

    def batches(n_rows: int) -> Iterator[NDArray]:
        with opened() as dataset:
            content = dataset.asstr() if is_text else dataset
            for start in range(0, shape[0], n_rows):
                rows = content[start : start + n_rows]
                yield _strings(rows, name, limits) if is_text else rows

    return StoredArray(name, shape, dtype, batches)


def hdf5_names(file: DataFile) -> list[str]:
    """Return the names in the root of an HDF5 file."""
    with _opened_hdf5(file) as content:
        return list(content)


@contextmanager
def _opened_hdf5(file: DataFile) -> Iterator[Any]:
    """Open an HDF5 file; damage inside it raises errors of many types."""
    with errors_named(file.name):
        try:
            with _h5py(file.name).File(file.path, "r") as content:
                yield content
        except ValueError as error:
            if file.name in str(error):
                raise  # named already
            raise ValueError(f"{file.name} is damaged or cut off: {first_line(error)}.") from None
        except (RuntimeError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
            raise ValueError(f"{file.name} is damaged or cut off: {first_line(error)}.") from None


def _dataset(content: Any, key: str, name: str) -> Any:
    """Return a dataset by its name in the root of a file, if all of it is in that file."""
    h5py = _h5py(name)
    dataset = _followed(content, key, name, _MOST_LINKS)
    if not isinstance(dataset, h5py.Dataset):
        raise ValueError(f"{name} must be a dataset, got another object, such as a group.")
    if dataset.shape is None:
        raise ValueError(f"{name} must hold an array, got an empty dataset.")
    if dataset.external is not None or dataset.is_virtual:
        raise ValueError(f"{name} must store its values in the file itself, got a dataset that refers to other files.")
    return dataset


def _followed(group: Any, path: str, name: str, n_links: int) -> Any:
    """Follow a path over hard links, and over soft links within the file."""
    h5py = _h5py(name)
    found = group.file if path.startswith("/") else group
    for part in filter(None, path.split("/")):
        if not isinstance(found, h5py.Group):
            raise ValueError(f"{name} must be a dataset, got a dangling link.")
        link = found.get(part, getlink=True)
        if isinstance(link, h5py.HardLink):
            found = found[part]
        elif isinstance(link, h5py.SoftLink) and n_links:
            found = _followed(found, link.path, name, n_links - 1)
        else:
            raise ValueError(
                f"{name} must be a dataset of the file itself, got a link to another file, to itself or to nothing."
            )
    return found


def _check_storage(dataset: Any, file_bytes: int, name: str, limits: Limits) -> None:
    """Refuse a dataset with huge chunks, or with far more values than are stored."""
    chunk = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
    if chunk > limits.largest_whole:
        raise ValueError(f"{name} must have chunks of at most {limits.largest_whole >> 30} GB, got {chunk:,} bytes.")
    claimed = math.prod(dataset.shape) * dataset.dtype.itemsize
    stored = min(dataset.id.get_storage_size(), file_bytes)
    if claimed > max(limits.largest_unstored, limits.largest_ratio * stored):
        raise ValueError(f"{name} must store its values, got {stored:,} bytes for {claimed:,} bytes of values.")


def _check_heaps(content: Any, name: str) -> None:
    """Refuse a heap of strings with free space of size zero, in which the HDF5 library would loop forever."""
    _, n_length = content.id.get_create_plist().get_sizes()
    n_header = 8 + -(-n_length // 8) * 8
    with open(content.filename, "rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start, n_left = data.find(_HEAP), len(data) // n_header  # bounds the walk over heaps that overlap
        while start >= 0:
            end = start + int.from_bytes(data[start + 8 : start + 8 + n_length], "little")
            place = start + n_header
            while place + n_header <= min(end, len(data)):
                size = int.from_bytes(data[place + 8 : place + 8 + n_length], "little")
                is_free = data[place : place + 2] == b"\0\0"
                n_left -= 1
                if (is_free and not size) or n_left < 0:
                    raise ValueError(f"{name} is damaged: it has a heap of strings without end.")
                place += size if is_free else n_header + -(-size // 8) * 8
            start = data.find(_HEAP, start + 1)


def _strings(rows: NDArray, name: str, limits: Limits) -> NDArray[np.str_]:
    """Return strings as a NumPy array, in which all take the memory of the longest."""
    longest = max(map(len, rows.ravel()), default=0)
    if longest > limits.longest_label:
        raise ValueError(f"{name} must hold strings of at most {limits.longest_label} characters, got {longest:,}.")
    return rows.astype(np.str_)


def _h5py(name: str) -> Any:
    """Import h5py; if it is not installed, raise an error that names the package."""
    try:
        import h5py
    except ImportError:
        raise ImportError(f"{name} is an HDF5 file, which is read with h5py: pip install h5py.") from None
    return h5py
