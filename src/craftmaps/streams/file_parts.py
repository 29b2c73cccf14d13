"""Parts of the files of a stream that workers read on their own, in the rows and the order of the whole.

A file of text is cut between rows, Parquet between row groups, and NPY between rows. Compressed text, Arrow, NPZ, IDX
and HDF5 files are parts as they are; small files are put together.
"""

import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from craftmaps.streams.errors import errors_named
from craftmaps.streams.opening import open_files
from craftmaps.streams.request import Request
from craftmaps.streams.sources.data_file import DataFile, Part
from craftmaps.streams.sources.sniffing import TEXT_FORMATS
from craftmaps.streams.stream import Block, Stream

_READ_BYTES = 1 << 22

Step = Callable[[Iterator[Block]], Iterator[Block]]
Spread = Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]


@dataclass(frozen=True)
class FileRows:
    """Rows of one part; it pickles, and opens its files where it is iterated over.

    Parameters
    ----------
    paths : tuple of str
        Absolute paths.
    request : Request
        With the column rule of the stream, and the part of the files to read.
    n_bytes : int
        Bytes of the files.
    steps : tuple of functions
        Applied to the blocks one after another.
    """

    paths: tuple[str, ...]
    request: Request
    n_bytes: int
    steps: tuple[Step, ...] = ()

    def __iter__(self) -> Iterator[Block]:
        try:
            blocks: Iterator[Block] = open_files(list(self.paths), self.request).blocks()
        except (FileNotFoundError, PermissionError) as error:
            raise ValueError(
                f"The worker on {platform.node()} must find the files at the paths that they have here: {error}"
            ) from None
        for step in self.steps:
            blocks = step(blocks)
        return blocks

    @property
    def name(self) -> str:
        """The files, for messages."""
        return self.paths[0] + (f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else "")


class Lines(NamedTuple):
    """What a scan of a range of bytes tells: the quotes in it, and where the first lines begin.

    `outside` is the beginning of the first line that has an even number of quotes before it in the range, `inside` of
    the first with an odd number; None if there is none.
    """

    n_quotes: int
    outside: int | None
    inside: int | None


def parts_of(stream: Stream, n_bytes: int, steps: Sequence[Step] = (), spread: Spread = map) -> list[FileRows]:
    """Return the parts of a stream, of about so many bytes each, in the order of its rows.

    CSV files of more bytes are scanned for quotes, which may enclose line ends; `spread` maps a function over the
    ranges to scan, perhaps on the workers.
    """
    request = replace(stream._request, columns=stream.columns)
    parts: list[FileRows] = []
    waiting: list[DataFile] = []  # small files

    def end() -> None:
        if waiting:
            size = sum(file.n_bytes for file in waiting)
            paths = tuple(path for file in waiting for path in _paths(file))
            parts.append(FileRows(paths, request, size, tuple(steps)))
            waiting.clear()

    for reader in stream._readers:
        file: DataFile = reader.file
        cuts = _cuts(reader, n_bytes, spread)
        if len(cuts) <= 2:
            if file.labels_path is not None or sum(other.n_bytes for other in waiting) + file.n_bytes > n_bytes:
                end()
            waiting.append(file)
            continue
        end()
        size = file.n_bytes // (len(cuts) - 1)
        own = [replace(request, part=Part(*bounds)) for bounds in pairwise(cuts)]
        parts += [FileRows(_paths(file), one, size, tuple(steps)) for one in own]
    end()
    return parts


def _paths(file: DataFile) -> tuple[str, ...]:
    """Return the path of a file and that of its labels, if it was given, as other processes find them."""
    paths = [file.path] if file.labels_path is None else [file.path, file.labels_path]
    return tuple(os.path.abspath(path) for path in paths)


def _cuts(reader: Any, n_bytes: int, spread: Spread) -> list[int]:
    """Return where to cut a file: the bounds of its parts."""
    file = reader.file
    if file.n_bytes <= n_bytes:
        return []
    if file.format == "Parquet":
        return _cuts_between(reader.table.group_sizes, n_bytes)
    if file.format == "NPY":
        step = max(1, n_bytes * reader.n_rows // file.n_bytes)
        return [*range(0, reader.n_rows, step), reader.n_rows]
    if file.format in TEXT_FORMATS and not file.compression:
        head = reader.table.head_bytes if file.format == "CSV" else 0
        return _cuts_of_text(file, head, n_bytes, spread)
    return []


def _cuts_between(sizes: Sequence[int], n_bytes: int) -> list[int]:
    """Return where to cut between row groups, for parts of about so many bytes."""
    cuts, held = [0], 0
    for i, size in enumerate(sizes):
        if held and held + size > n_bytes:
            cuts.append(i)
            held = 0
        held += size
    return [*cuts, len(sizes)]


def _cuts_of_text(file: DataFile, head: int, n_bytes: int, spread: Spread) -> list[int]:
    """Return where to cut text that follows a head of some bytes: where rows begin."""
    bounds = [*range(0, file.n_bytes, n_bytes), file.n_bytes]
    ranges = [(str(file.path.absolute()), file.format == "CSV", *pair) for pair in pairwise(bounds)]
    n_quotes, cuts = 0, [0]
    for i, lines in enumerate(spread(scan, ranges)):
        begins = lines.inside if n_quotes % 2 else lines.outside
        if i and begins is not None and head < begins < file.n_bytes:
            cuts.append(begins)
        n_quotes += lines.n_quotes
    return [*cuts, file.n_bytes]


def scan(where: tuple[str, bool, int, int]) -> Lines:
    """Scan a range (path, whether line ends may be quoted, start, stop) of a file for the first line in it."""
    path, has_quotes, start, stop = where
    n_quotes, outside, inside = 0, None, None
    with errors_named(path), open(path, "rb") as file:
        file.seek(start)
        while file.tell() < stop and (has_quotes or outside is None):
            position = file.tell()
            text = file.read(min(_READ_BYTES, stop - position))
            if not text:
                break
            if outside is None or (inside is None and has_quotes):
                for is_inside, end in _first_ends(text, n_quotes % 2 == 1 and has_quotes, has_quotes):
                    if is_inside and inside is None:
                        inside = position + end
                    elif not is_inside and outside is None:
                        outside = position + end
            n_quotes += text.count(b'"') if has_quotes else 0
    return Lines(n_quotes, outside, inside)


def _first_ends(text: bytes, is_odd: bool, has_quotes: bool) -> Iterator[tuple[bool, int]]:
    """Yield whether an odd number of quotes comes before the first line ends, and where these are: one of each kind."""
    first = text.find(b"\n")
    if first < 0:
        return
    if not has_quotes or b'"' not in text:
        yield is_odd, first + 1
        return
    letters = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    odd = (np.searchsorted(np.flatnonzero(letters == ord('"')), ends) + is_odd) % 2 == 1
    for kind in (False, True):
        if (odd == kind).any():
            yield kind, int(ends[(odd == kind).argmax()]) + 1
