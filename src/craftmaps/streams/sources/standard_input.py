"""Standard input as a source of rows."""

import io
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from craftmaps.streams.errors import errors_named
from craftmaps.streams.limits import Limits
from craftmaps.streams.sources.data_file import DataFile
from craftmaps.streams.sources.sniffing import HEAD_BYTES, TEXT_FORMATS, compression_of, format_of_bytes

_NAME = "standard input"
_KEPT_IN_MEMORY = 1 << 26


class SpooledInput(DataFile):
    """Standard input copied to a temporary file, which is removed with the object."""

    def __init__(self, head: bytes, source: BinaryIO, limits: Limits):
        spool = tempfile.NamedTemporaryFile(prefix="craftmaps-")
        weakref.finalize(self, spool.close)
        with errors_named(_NAME):
            spool.write(head)
            shutil.copyfileobj(source, spool)
            spool.flush()
        super().__init__(Path(spool.name), limits, _NAME)


class StandardInput:
    """Text that comes once: the bytes of the first look are kept, and replayed to the one pass that follows."""

    name = _NAME
    n_bytes = None
    is_tabbed = False
    part = None

    def __init__(self, head: bytes, source: BinaryIO, format: str, limits: Limits):
        self.format, self.limits = format, limits
        self.is_looking = True
        self._source = source
        self._kept = tempfile.SpooledTemporaryFile(_KEPT_IN_MEMORY)
        weakref.finalize(self, self._kept.close)
        self._kept.write(head)

    @contextmanager
    def opened(self) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
        """Give the input from its beginning: any number of times during the first look, then once."""
        replay = _Replay(self._kept, self._source, self.is_looking)
        with errors_named(self.name), io.BufferedReader(replay) as content:
            yield content, lambda: replay.n_read

    opened_part = opened


class _Replay(io.RawIOBase):
    """The kept bytes of a source, followed by the rest of the source."""

    def __init__(self, kept: tempfile.SpooledTemporaryFile, source: BinaryIO, is_keeping: bool):
        self._kept, self._source, self._is_keeping = kept, source, is_keeping
        self.n_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        self._kept.seek(self.n_read)  # past its end once the source is read and nothing more is kept
        data = self._kept.read(len(buffer))
        if not data:
            data = self._source.read(len(buffer))
            if self._is_keeping:
                self._kept.write(data)
        self.n_read += len(data)
        buffer[: len(data)] = data
        return len(data)


def standard_input(is_read_twice: Callable[[str], bool], limits: Limits) -> DataFile | StandardInput:
    """Return standard input: text as it comes, other formats and text that is read twice from a temporary file."""
    # Unbuffered: a thread that waits inside the buffer when the program ends would crash it.
    source = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    head = b""
    with errors_named(_NAME):
        while len(head) < HEAD_BYTES and (data := source.read(HEAD_BYTES - len(head))):
            head += data
    if not head:
        raise ValueError("Standard input is empty.")
    if compression_of(head) is None:
        format = format_of_bytes(head, _NAME)
        if format in TEXT_FORMATS and not is_read_twice(format):
            return StandardInput(head, source, format, limits)
    return SpooledInput(head, source, limits)
