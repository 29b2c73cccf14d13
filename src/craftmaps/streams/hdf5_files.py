"""Arrays of HDF5 files. What leaves the file, by a link or by storage elsewhere, is refused: files are not trusted."""

import math
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.content import first_line, said_of
from craftmaps.streams.files import DataFile
from craftmaps.streams.limits import LARGEST_RATIO, LARGEST_UNSTORED, LARGEST_WHOLE, LONGEST_LABEL
from craftmaps.streams.stored_arrays import StoredArray, check_claim

_MOST_LINKS = 8
# The signature and the version of a heap of strings.
_HEAP = b"GCOL\x01"


def hdf5_array(file: DataFile, key: str) -> StoredArray:
    """Read one dataset of an HDF5 file in slices."""
    name = f"{key!r} of {file.name}"
    h5py = _h5py(file.name)

    @contextmanager
    def opened() -> Iterator[Any]:
        with opened_hdf5(file) as content:
            yield _dataset(content, key, name)

    with opened() as dataset:
        shape, dtype = dataset.shape, dataset.dtype
        is_text = h5py.check_string_dtype(dtype) is not None
        if is_text:
            if h5py.check_string_dtype(dtype).length is None:
                _check_heaps(dataset.file, name)
            dtype = np.dtype("U1")
        check_claim(name, shape, dtype)
        _check_storage(dataset, file.n_bytes, name)

    def batches(n_rows: int) -> Iterator[NDArray]:
        with opened() as dataset:
            content = dataset.asstr() if is_text else dataset
            for start in range(0, shape[0], n_rows):
                rows = content[start : start + n_rows]
                yield _strings(rows, name) if is_text else rows

    return StoredArray(name, shape, dtype, batches)


def hdf5_names(file: DataFile) -> list[str]:
    """Return the names of what an HDF5 file holds."""
    with opened_hdf5(file) as content:
        return list(content)


@contextmanager
def opened_hdf5(file: DataFile) -> Iterator[Any]:
    """Open an HDF5 file; damage inside it comes as errors of many kinds."""
    with said_of(file.name):
        try:
            with _h5py(file.name).File(file.path, "r") as content:
                yield content
        except ValueError as error:
            if file.name in str(error):
                raise  # it is a sentence already
            raise ValueError(f"{file.name} is damaged or cut off: {first_line(error)}.") from None
        except (RuntimeError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
            raise ValueError(f"{file.name} is damaged or cut off: {first_line(error)}.") from None


def _dataset(content: Any, key: str, name: str) -> Any:
    """Return a dataset by its name in the root of a file, if all of it is in that file."""
    h5py = _h5py(name)
    dataset = _followed(content, key, name, _MOST_LINKS)
    if not isinstance(dataset, h5py.Dataset):
        raise ValueError(f"{name} must be a dataset, got something else, such as a group.")
    if dataset.shape is None:
        raise ValueError(f"{name} must hold an array, got an empty dataset.")
    if dataset.external is not None or dataset.is_virtual:
        raise ValueError(f"{name} must store its values in the file itself, got a dataset that refers to other files.")
    return dataset


def _followed(group: Any, path: str, name: str, n_links: int) -> Any:
    """Return what a path leads to, over hard links and links within the file alone."""
    h5py = _h5py(name)
    found = group.file if path.startswith("/") else group
    for part in filter(None, path.split("/")):
        if not isinstance(found, h5py.Group):
            raise ValueError(f"{name} must be a dataset, got a link that leads nowhere.")
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


def _check_storage(dataset: Any, file_bytes: int, name: str) -> None:
    """Refuse a dataset of chunks that are too large, or of far more values than are stored."""
    chunk = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
    if chunk > LARGEST_WHOLE:
        raise ValueError(f"{name} must have chunks of at most {LARGEST_WHOLE >> 30} GB, got {chunk:,} bytes.")
    claimed = math.prod(dataset.shape) * dataset.dtype.itemsize
    stored = min(dataset.id.get_storage_size(), file_bytes)
    if claimed > max(LARGEST_UNSTORED, LARGEST_RATIO * stored):
        raise ValueError(f"{name} must store its values, got {stored:,} bytes for {claimed:,} bytes of values.")


def _check_heaps(content: Any, name: str) -> None:
    """Refuse heaps of strings with free space of no size, in which the HDF5 library would loop for ever."""
    _, n_length = content.id.get_create_plist().get_sizes()
    n_header = 8 + -(-n_length // 8) * 8
    with open(content.filename, "rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start, n_left = data.find(_HEAP), len(data) // n_header  # heaps that overlap would be walked again and again
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


def _strings(rows: NDArray, name: str) -> NDArray[np.str_]:
    """Return strings in the type that NumPy has for them, in which all take the room of the longest."""
    longest = max(map(len, rows.ravel()), default=0)
    if longest > LONGEST_LABEL:
        raise ValueError(f"{name} must hold strings of at most {LONGEST_LABEL} characters, got {longest:,}.")
    return rows.astype(np.str_)


def _h5py(name: str) -> Any:
    """Import h5py, or say how to install it."""
    try:
        import h5py
    except ImportError:
        raise ImportError(f"{name} is an HDF5 file, which is read with h5py: pip install h5py.") from None
    return h5py
