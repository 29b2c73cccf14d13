"""A file of rows: its name for messages, its format, its limits, and how to open it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

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


class Part(NamedTuple):
    """Consecutive rows of a file: bytes of text, row groups of Parquet, or rows of an array, from start to stop."""

    start: int
    stop: int


class DataFile:
    """A file of rows, of which perhaps a part alone is to be read."""

    labels_path: Path | None = None  # another file that was given for the labels

    def __init__(self, path: Path, limits: Limits = DEFAULT_LIMITS, name: str | None = None, part: Part | None = None):
        self.path, self.limits, self.part = path, limits, part
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
        if part is not None and part.start and self.format in TEXT_FORMATS:
            # Lines and rows are counted from there.
            self.name = f"{self.name} from byte {part.start} on"

    @property
    def n_bytes(self) -> int:
        """Size of the file."""
        return self.path.stat().st_size

    @contextmanager
    def opened(self) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
        """Give the decompressed content, and a function that returns how many bytes of the file were read."""
        with errors_named(self.name), open(self.path, "rb") as raw, decompressed(raw, self.compression) as content:
            yield content, raw.tell

    @contextmanager
    def opened_part(self) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
        """Give the part of uncompressed content that is to be read, or all content."""
        if self.part is None:
            with self.opened() as content:
                yield content
            return
        with errors_named(self.name), open(self.path, "rb") as raw:
            raw.seek(self.part.start)
            yield _Bounded(raw, self.part.stop), raw.tell  # type: ignore[misc]


class _Bounded:
    """A file that ends early."""

    def __init__(self, raw: BinaryIO, stop: int):
        self._raw, self._stop = raw, stop

    def read(self, size: int) -> bytes:
        """Read some bytes."""
        return self._raw.read(max(0, min(size, self._stop - self._raw.tell())))
