"""Model files: safetensors with a JSON header, never pickle.

The header says everything but the arrays; random maps are drawn again from their seed.
Files are written to a new name, synced and renamed, so that there is always a whole one.

A checksum over header and arrays tells a file that was changed by accident. Who changes one on purpose can compute it
too, so nothing relies on it: what is read is checked as if there were none. Files of before have none.
"""

import json
import math
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.atomic_files import new_file
from craftmaps._system.fields import DamagedError

VERSION = 2  # 1: features did not share their Hadamard blocks
_KEY, _CHECKSUM = "craftmaps", "checksum"
# CRC-32 takes 0.4 ms a megabyte, a third of what a cryptographic hash takes, which would protect no better here.
_METHOD = "crc32"
_DEEPEST = 24  # of objects in objects; our own headers have nine
_ALIGNMENT = 8
_TYPES = {
    np.dtype(name): code
    for name, code in {
        "float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16",
        "int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
    }.items()
}  # fmt: skip


_DTYPES = {code: dtype for dtype, code in _TYPES.items()}
_LONGEST_HEAD = 100_000_000  # as in other readers of safetensors


class ModelFileError(ValueError):
    """A file is no model of this library, or not one that this version can read."""


@contextmanager
def named(path: str | os.PathLike) -> Iterator[None]:
    """Name the file in what is wrong with its header.

    `DamagedError` says what that is. Any other error is of values that fit no better, and its words are about code.
    """
    try:
        yield
    except ModelFileError:
        raise
    except DamagedError as error:
        raise ModelFileError(f"{os.fspath(path)} has a damaged header: {error}.") from None
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError):
        raise ModelFileError(f"{os.fspath(path)} has a damaged header: its parts do not fit each other.") from None


def write(path: str | os.PathLike, header: dict[str, Any]) -> None:
    """Write a header, which may hold arrays at any depth, to a file."""
    path = Path(path)
    arrays: dict[str, NDArray] = {}
    plain = _take_arrays({"version": VERSION} | header | {_CHECKSUM: _METHOD}, arrays, "")
    write_safetensors(path, arrays, json.dumps(plain))


def write_safetensors(path: Path, arrays: dict[str, NDArray], text: str) -> None:
    """Write arrays and the text of a header, with their checksum; arrays are not copied, as they may be large."""
    # Wide types first, so that all arrays are aligned.
    names = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    entries: dict[str, Any] = {"__metadata__": {_KEY: text, _CHECKSUM: _checksum(text, arrays)}}
    start = 0
    for name in names:
        array = arrays[name]
        entries[name] = {
            "dtype": _TYPES[array.dtype],
            "shape": array.shape,
            "data_offsets": (start, start + array.nbytes),
        }
        start += array.nbytes
    head = json.dumps(entries).encode()
    head += b" " * (-len(head) % _ALIGNMENT)
    with new_file(path) as new, open(new, "wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for name in names:
            file.write(_bytes(arrays[name]))


def read(path: str | os.PathLike, needs_checksum: bool = False) -> dict[str, Any]:
    """Read a header back, with its arrays."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no model file {path}.")
    metadata, arrays = _content(path)
    if _KEY not in metadata:
        raise ModelFileError(f"{path} is a safetensors file, but not a model of craftmaps.")
    header = _parsed(metadata[_KEY], path)
    _check_version(header, path)
    method, checksum = header.pop(_CHECKSUM, None), metadata.get(_CHECKSUM)
    if method is None and checksum is None:
        if needs_checksum:
            raise ModelFileError(
                f"{path} has no checksum, so it is of an earlier version of craftmaps: begin the run again."
            )
    elif method != _METHOD or checksum != _checksum(metadata[_KEY], arrays):
        raise ModelFileError(f"{path} is damaged: its content does not agree with its checksum.")
    return _give_arrays(header, arrays, path)


def _content(path: Path) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Return the metadata and, of files of this library, the arrays, as views of the one piece of memory they fill."""
    try:
        with open(path, "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            if not 2 <= size <= min(os.fstat(file.fileno()).st_size, _LONGEST_HEAD):
                raise ValueError("no size of a header")
            entries = json.loads(file.read(size).decode(), object_pairs_hook=_with_names_once)
            metadata = dict(entries.pop("__metadata__", {}))
            if _KEY not in metadata:
                return metadata, {}
            return metadata, _arrays(entries, np.fromfile(file, np.uint8))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise ModelFileError(f"{path} is not a model file, or not a whole one.") from None


def _arrays(entries: dict[str, Any], data: NDArray[np.uint8]) -> dict[str, NDArray]:
    """Cut data into arrays, which must fill it, one behind the other."""
    arrays, end = {}, 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1]["data_offsets"]):
        dtype, shape, (start, stop) = _DTYPES[entry["dtype"]], tuple(entry["shape"]), entry["data_offsets"]
        if not all(type(number) is int and number >= 0 for number in (start, stop, *shape)):
            raise ValueError("sizes that are no numbers")
        if start != end or math.prod(shape) * dtype.itemsize != stop - start or stop > data.size:
            raise ValueError("arrays that do not fill the file")
        piece = data[start:stop]
        # Loops want numbers where the processor does; files of other writers may be packed more tightly.
        arrays[name] = (piece if start % dtype.itemsize == 0 else piece.copy()).view(dtype).reshape(shape)
        end = stop
    if end != data.size:
        raise ValueError("more than the arrays")
    return arrays


def _parsed(text: str, path: Path) -> dict[str, Any]:
    """Return the header, if it is an object of bounded depth with every name once."""
    try:
        header = json.loads(text, object_pairs_hook=_with_names_once)
        if isinstance(header, dict) and _depth(header) <= _DEEPEST:
            return header
    except (ValueError, RecursionError):
        pass
    raise ModelFileError(f"{path} has a damaged header: it is not the JSON that a model has.")


def _with_names_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its names and values."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name stands twice")
    return values


def _depth(header: dict[str, Any]) -> int:
    """Return how deep objects and lists stand within each other, as far as it is bounded."""
    depth, level = 0, [header]
    while level and depth <= _DEEPEST:
        depth += 1
        inner = [value for outer in level for value in (outer.values() if isinstance(outer, dict) else outer)]
        level = [value for value in inner if isinstance(value, dict | list)]
    return depth


def _check_version(header: dict[str, Any], path: Path) -> None:
    """Refuse another version of the format."""
    version = header.get("version")
    if type(version) is not int or not 0 <= version < 2**31:
        raise ModelFileError(f"{path} has a damaged header: it has no format version.")
    if version > VERSION:
        raise ModelFileError(f"{path} has format version {version}, this craftmaps reads up to {VERSION}: update it.")
    if version < VERSION:
        raise ModelFileError(
            f"{path} has format version {version}, whose maps this craftmaps draws otherwise: train the model again."
        )


def _checksum(text: str, arrays: dict[str, NDArray]) -> str:
    """Return the checksum of a header and of names, types, shapes and numbers of arrays."""
    value = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = arrays[name]
        value = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode("utf-8", "surrogatepass"), value)
        value = zlib.crc32(_bytes(array), value)
    return f"{value:08x}"


def _bytes(array: NDArray) -> Any:
    """Return the bytes of a contiguous array, without a copy."""
    return array.reshape(-1).view(np.uint8)


def _take_arrays(value: Any, arrays: dict[str, NDArray], name: str) -> Any:
    """Replace arrays by their names."""
    if isinstance(value, np.ndarray):
        arrays[name] = np.ascontiguousarray(value)
        return {"array": name}
    if isinstance(value, dict):
        return {key: _take_arrays(inner, arrays, f"{name}.{key}".lstrip(".")) for key, inner in value.items()}
    return value


def _give_arrays(value: Any, arrays: dict[str, NDArray], path: Path) -> Any:
    """Replace names by their arrays."""
    if isinstance(value, dict):
        if value.keys() == {"array"}:
            name = value["array"]
            if not isinstance(name, str) or name not in arrays:
                raise ModelFileError(f"{path} lacks the array {ascii(name)[:80]}.")
            return arrays[name]
        return {key: _give_arrays(inner, arrays, path) for key, inner in value.items()}
    return value
