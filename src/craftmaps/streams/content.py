"""What the first bytes of a file tell, how it is decompressed, and errors in one sentence."""

import bz2
import gzip
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from craftmaps.tables.arrow import import_arrow

_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_FIRST_BYTES = {
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"\xff\xff\xff\xff": "Arrow",
    b"\x93NUMPY": "NPY",
    b"PK\x03\x04": "NPZ",
    b"\x89HDF": "HDF5",
}
_IDX = re.compile(rb"\x00\x00[\x08\x09\x0b-\x0e][\x01-\x08]")
_SVMLIGHT_LINE = re.compile(rb"[-+.\w]+([ \t]+qid:\d+)?([ \t]+\d+:[-+.\w]+)+[ \t]*(#.*)?$")


def compression_of(head: bytes) -> str | None:
    """Return the compression that the first bytes tell."""
    return next((name for magic, name in _COMPRESSIONS.items() if head.startswith(magic)), None)


def format_of(head: bytes, name: str) -> str:
    """Return the format that the first, decompressed bytes tell."""
    for magic, format in _FIRST_BYTES.items():
        if head.startswith(magic):
            return format
    if _IDX.match(head):
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


@contextmanager
def said_of(name: str) -> Iterator[None]:
    """Turn what libraries raise about the content of a file into one sentence that names it."""
    try:
        yield
    except (EOFError, zlib.error, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise ValueError(f"{name} is damaged or cut off: {first_line(error)}.") from None
    except MemoryError:
        raise ValueError(f"{name} cannot be read: a part of it does not fit in memory.") from None
    except OSError as error:
        if str(error).startswith(name):
            raise  # it is such a sentence already
        raise OSError(f"{name} cannot be read: {error.strerror or first_line(error)}.") from None
    except Exception as error:
        if not (_is_of_library(error) or isinstance(error, NotImplementedError)):
            raise
        raise ValueError(f"{name} cannot be read: {first_line(error)}.") from None


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says, without its full stop."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:300].rstrip(".")


def _is_of_library(error: BaseException) -> bool:
    """Tell whether an error was raised by pyarrow, as its class shows."""
    return type(error).__module__.split(".")[0] == "pyarrow"
