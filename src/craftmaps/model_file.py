"""Model files: safetensors with a JSON header, never pickle.

The header says everything but the arrays; random maps are drawn again from their seed.
Files are written to a new name, synced and renamed, so that there is always a whole one.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from craftmaps.whole_files import new_file

VERSION = 2  # 1: features did not share their Hadamard blocks
_KEY = "craftmaps"


class ModelFileError(ValueError):
    """A file is no model of this library, or not one that this version can read."""


def write(path: str | os.PathLike, header: dict[str, Any]) -> None:
    """Write a header, which may hold arrays at any depth, to a file."""
    path = Path(path)
    arrays: dict[str, NDArray] = {}
    plain = _take_arrays({"version": VERSION} | header, arrays, "")
    content = save(arrays, metadata={_KEY: json.dumps(plain)})
    with new_file(path) as new:
        new.write_bytes(content)


def read(path: str | os.PathLike) -> dict[str, Any]:
    """Read a header back, with its arrays."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no model file {path}.")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()} if _KEY in metadata else {}
    except (SafetensorError, OSError, UnicodeDecodeError):
        raise ModelFileError(f"{path} is not a model file, or not a whole one.") from None
    if _KEY not in metadata:
        raise ModelFileError(f"{path} is a safetensors file, but not a model of craftmaps.")
    try:
        header = json.loads(metadata[_KEY])
        version = int(header["version"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise ModelFileError(f"{path} has a damaged header.") from None
    if version > VERSION:
        raise ModelFileError(f"{path} has format version {version}, this craftmaps reads up to {VERSION}: update it.")
    if version < VERSION:
        raise ModelFileError(
            f"{path} has format version {version}, whose maps this craftmaps draws otherwise: train the model again."
        )
    return _give_arrays(header, arrays, path)


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
        if set(value) == {"array"}:
            if value["array"] not in arrays:
                raise ModelFileError(f"{path} lacks the array {value['array']!r}.")
            return arrays[value["array"]]
        return {key: _give_arrays(inner, arrays, path) for key, inner in value.items()}
    return value
