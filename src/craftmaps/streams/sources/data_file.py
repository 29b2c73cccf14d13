"""A file of rows: its name for messages, its format, its limits, and how to open it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from craftmaps.streams.errors import errors_named
from craftmaps.streams.limits import DEFAULT_LIMITS, Limits
from craftmaps.streams.sources.sniffing import (
    HEAD_BYTES,
    TEXT_FORMATS,
    compression_of,
    decompressed,
    format_of_bytes,
    format_of_name,
    inner_suffix,
)


class DataFile:
    """A file of rows."""

    def __init__(self, path: Path, limits: Limits = DEFAULT_LIMITS, name: str | None = None):
        self.path, self.limits = path, limits
        self.name = name or str(path)
        self.is_tabbed = inner_suffix(path) == ".tsv"
        with errors_named(self.name), open(path, "rb") as raw:
            head = raw.read(HEAD_BYTES)
            if not head:
                raise ValueError(f"{self.name} is empty.")
            self.compression = compression_of(head)
            self.format = format_of_name(path)
            if self.format is None:
                raw.seek(0)
                with decompressed(raw, self.compression) as content:
                    self.format = format_of_bytes(content.read(HEAD_BYTES), self.name)
        if self.compression and self.format not in (*TEXT_FORMATS, "IDX"):
            raise ValueError(f"{self.name} is a compressed {self.format} file: decompress it first.")

    @property
    def n_bytes(self) -> int:
        """Size of the file."""
        return self.path.stat().st_size

    @contextmanager
    def opened(self) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
        """Give the decompressed content, and a function that returns how many bytes of the file were read."""
        with errors_named(self.name), open(self.path, "rb") as raw, decompressed(raw, self.compression) as content:
            yield content, raw.tell
