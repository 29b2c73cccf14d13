"""Format and compression of a file, by its suffix or by its first bytes."""

import bz2
import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from craftmaps.tables.lazy_arrow import import_arrow

TEXT_FORMATS = ("CSV", "JSON lines", "svmlight")
HEAD_BYTES = 1 << 16

_SUFFIXES = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".arrows": "Arrow",
    ".ipc": "Arrow",
    ".feather": "Arrow",
    ".csv": "CSV",
    ".tsv": "CSV",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".json": "JSON lines",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npy": "NPY",
    ".npz": "NPZ",
    ".h5": "HDF5",
    ".hdf5": "HDF5",
}
_FIRST_BYTES = {
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"\xff\xff\xff\xff": "Arrow",
    b"\x93NUMPY": "NPY",
    b"PK\x03\x04": "NPZ",
    b"\x89HDF": "HDF5",
}
_COMPRESSED_SUFFIXES = (".gz", ".bz2", ".zst")
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_IDX_NAME = re.compile(r"-idx\d-ubyte(\.gz)?$")
_IDX_BYTES = re.compile(rb"\x00\x00[\x08\x09\x0b-\x0e][\x01-\x08]")
_SVMLIGHT_LINE = re.compile(rb"[-+.\w]+([ \t]+qid:\d+)?([ \t]+\d+:[-+.\w]+)+[ \t]*(#.*)?$")


def format_of_name(path: Path) -> str | None:
    """Return the format that the name of a file tells, None if it tells none."""
    return "IDX" if is_idx_name(path) else _SUFFIXES.get(inner_suffix(path))


def format_of_bytes(head: bytes, name: str) -> str:
    """Return the format that the first, decompressed bytes of a file tell."""
    for magic, format in _FIRST_BYTES.items():
        if head.startswith(magic):
            return format
    if _IDX_BYTES.match(head):
        return "IDX"
    if not head.strip():
        raise ValueError(f"{name} is empty.")
    if b"\x00" in head:
        raise ValueError(f"{name} is in no known format: its first bytes are {head[:8]!r}.")
    lines = [line for line in head.splitlines() if line.strip() and not line.startswith(b"#")]
    first = lines[0].strip() if lines else b""
    if first.startswith((b"{", b"[{")):
        return "JSON lines"
    return "svmlight" if _SVMLIGHT_LINE.match(first) else "CSV"


def is_idx_name(path: Path) -> bool:
    """Tell whether a file is named like the IDX files of MNIST."""
    return _IDX_NAME.search(path.name) is not None


def inner_suffix(path: Path) -> str:
    """Return the suffix in lower case, without that of a compression."""
    inner = path.with_suffix("") if path.suffix.lower() in _COMPRESSED_SUFFIXES else path
    return inner.suffix.lower()


def compression_of(head: bytes) -> str | None:
    """Return the compression that the first bytes of a file tell."""
    return next((name for magic, name in _COMPRESSIONS.items() if head.startswith(magic)), None)


@contextmanager
def decompressed(raw: BinaryIO, compression: str | None) -> Iterator[BinaryIO]:
    """Give the decompressed content of an open file."""
    if compression is None:
        yield raw
    elif compression == "zstd":
        arrow = import_arrow()
        with arrow.CompressedInputStream(arrow.PythonFile(raw, "r"), "zstd") as content:
            yield content
    else:
        with gzip.GzipFile(fileobj=raw) if compression == "gzip" else bz2.BZ2File(raw) as content:
            yield content  # type: ignore[misc]
