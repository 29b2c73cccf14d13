"""Where rows come from: paths, folders, globs and standard input, and which format they are in."""

import glob
import io
import os
import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from craftmaps.streams.content import compression_of, decompressed, format_of, said_of

PathLike = str | os.PathLike[str]

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
# Text in a folder that is no data, where no suffix tells which files are.
_OTHER_SUFFIXES = {
    ".md",
    ".rst",
    ".html",
    ".py",
    ".ipynb",
    ".r",
    ".sh",
    ".log",
    ".toml",
    ".yaml",
    ".yml",
    ".xml",
    ".craft",
}
_OTHER_NAMES = {"README", "LICENSE", "MAKEFILE", "DOCKERFILE"}
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_TEXTS = ("CSV", "JSON lines", "svmlight")
_IDX_NAME = re.compile(r"-idx\d-ubyte(\.gz)?$")
_HEAD = 1 << 16
_KEPT_IN_MEMORY = 1 << 26


class DataFile:
    """A file of rows: its name for messages, its format, and how to open it."""

    def __init__(self, path: Path, name: str | None = None):
        self.path = path
        self.name = name or str(path)
        suffix = _inner_suffix(path)
        with said_of(self.name), open(path, "rb") as raw:
            head = raw.read(_HEAD)
            self.compression = compression_of(head)
            if not head:
                raise ValueError(f"{self.name} is empty.")
            self.format = _format_of_name(path)
            if self.format is None:
                raw.seek(0)
                with decompressed(raw, self.compression) as content:
                    self.format = format_of(content.read(_HEAD), self.name)
        self.is_tabbed = suffix == ".tsv"
        if self.compression and self.format not in (*_TEXTS, "IDX"):
            raise ValueError(f"{self.name} is a compressed {self.format} file: decompress it first.")

    @property
    def n_bytes(self) -> int:
        """The size of the file."""
        return self.path.stat().st_size

    @contextmanager
    def opened(self) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
        """Open the file, decompressed; give it and a function that tells how many of its bytes were read."""
        with said_of(self.name), open(self.path, "rb") as raw, decompressed(raw, self.compression) as content:
            yield content, raw.tell


class SpooledInput(DataFile):
    """Standard input in a temporary file, which goes when the object does."""

    def __init__(self, head: bytes, source: BinaryIO):
        spool = tempfile.NamedTemporaryFile(prefix="craftmaps-")
        weakref.finalize(self, spool.close)
        with said_of("standard input"):
            spool.write(head)
            shutil.copyfileobj(source, spool)
            spool.flush()
        super().__init__(Path(spool.name), "standard input")


class StandardInput:
    """Text that comes once: what a first look reads is kept, and given again to the one pass that follows."""

    name = "standard input"
    n_bytes = None
    is_tabbed = False

    def __init__(self, head: bytes, source: BinaryIO, format: str):
        self.format = format
        self.is_looking = True
        self._source = source
        self._kept = tempfile.SpooledTemporaryFile(_KEPT_IN_MEMORY)
        weakref.finalize(self, self._kept.close)
        self._kept.write(head)

    @contextmanager
    def opened(self) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
        """Give the input from its beginning, as often as wanted while looking and then once."""
        replay = _Replay(self._kept, self._source, self.is_looking)
        with said_of(self.name), io.BufferedReader(replay) as content:
            yield content, lambda: replay.n_read


class _Replay(io.RawIOBase):
    """What was kept of a source, followed by what the source still has."""

    def __init__(self, kept: tempfile.SpooledTemporaryFile, source: BinaryIO, is_keeping: bool):
        self._kept, self._source, self._is_keeping = kept, source, is_keeping
        self.n_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        self._kept.seek(self.n_read)  # beyond its end, once the source is read and nothing more is kept
        data = self._kept.read(len(buffer))
        if not data:
            data = self._source.read(len(buffer))
            if self._is_keeping:
                self._kept.write(data)
        self.n_read += len(data)
        buffer[: len(data)] = data
        return len(data)


def find_files(paths: PathLike | Sequence[PathLike]) -> list[DataFile]:
    """Return the files that paths, folders and globs name, in order; they must be of one format."""
    if isinstance(paths, (str, os.PathLike)):
        found = _paths_of(os.fspath(paths))
    elif isinstance(paths, Sequence) and paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
        found = [file for path in paths for file in _paths_of(os.fspath(path))]
    else:
        raise TypeError(f"path must be a path or a sequence of paths, got {paths!r}.")
    files = [DataFile(path) for path in _without_partners(found)]
    formats = {file.format: file.name for file in files}
    if len(formats) > 1:
        one, other = list(formats)[:2]
        raise ValueError(
            f"All files of a stream must have one format, got {formats[one]} ({one}) and {formats[other]} ({other})."
        )
    return files


def standard_input(is_read_twice: Callable[[str], bool]) -> DataFile | StandardInput:
    """Return standard input: text as it comes, everything else and what must be read twice from a temporary file."""
    # Without its buffer: a thread that waits in one when the program ends would make that end a crash.
    source = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    head = b""
    with said_of("standard input"):
        while len(head) < _HEAD and (data := source.read(_HEAD - len(head))):
            head += data
    if not head:
        raise ValueError("Standard input is empty.")
    if compression_of(head) is None:
        format = format_of(head, "standard input")
        if format in _TEXTS and not is_read_twice(format):
            return StandardInput(head, source, format)
    return SpooledInput(head, source)


def _paths_of(path: str) -> list[Path]:
    """Return the paths of the files that one path names."""
    if os.path.isdir(path):
        return _paths_of_folder(Path(path))
    if os.path.isfile(path):
        return [Path(path)]
    if os.path.exists(path):
        raise ValueError(f"{path} must be a file or a folder, got something else: give '-' and pipe it in.")
    if glob.has_magic(path):
        matches = sorted(match for match in glob.glob(path, recursive=True) if os.path.isfile(match))
        if not matches:
            raise FileNotFoundError(f"No file matches {path!r}.")
        return [Path(match) for match in matches]
    raise FileNotFoundError(f"There is no file {path!r}.")


def _paths_of_folder(folder: Path) -> list[Path]:
    """Return the paths of the data files of a folder, sorted by name; other files beside them are ignored."""
    with said_of(str(folder)):
        paths = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] not in "._")
    formats = {path: format for path in paths if (format := _format_of_name(path))}
    # A .json file beside data of another format is settings, not rows.
    rows = {path: format for path, format in formats.items() if _inner_suffix(path) != ".json"}
    formats = rows or formats or {path: format for path in paths if (format := _format_of_content(path))}
    if "CSV" in formats.values() and not any(map(_format_of_name, formats)):
        # Without suffixes any text may be CSV, but the first bytes of other formats leave no doubt.
        formats = {path: format for path, format in formats.items() if format != "CSV"} or formats
    if not formats:
        raise ValueError(f"The folder {folder} holds no data files.")
    firsts = {format: path for path, format in reversed(formats.items())}
    if len(firsts) > 1:
        shown = " and ".join(f"{path.name} ({format})" for format, path in list(firsts.items())[::-1][:3])
        suffix = next(reversed(firsts.values())).suffix
        raise ValueError(
            f"The folder {folder} must hold data of one format, got {shown}: name the files to read, for example "
            f"{str(folder / f'*{suffix}')!r}."
        )
    return list(formats)


def _format_of_content(path: Path) -> str | None:
    """Return the format that the content of a file without a known suffix tells, None if it is no data."""
    if path.suffix.lower() in _OTHER_SUFFIXES or path.stem.upper() in _OTHER_NAMES:
        return None
    try:
        return DataFile(path).format
    except (ValueError, OSError):
        return None


def labels_beside(path: Path) -> Path | None:
    """Return where labels of a file of rows alone are by custom: `y.npy` for `X.npy`, IDX labels for images."""
    if _IDX_NAME.search(path.name):
        stem = re.sub(r"-images-idx\d-ubyte(\.gz)?$", "-labels-idx1-ubyte", path.name)
        candidates = [path.with_name(stem), path.with_name(f"{stem}.gz")] if stem != path.name else []
    elif path.suffix.lower() == ".npy" and path.name[0] in "xX":
        candidates = [path.with_name(first + path.name[1:]) for first in "yY"]
    else:
        candidates = []
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _without_partners(paths: list[Path]) -> list[Path]:
    """Leave out the files that hold the labels of others."""
    labels = {labels_beside(path) for path in paths}
    return [path for path in paths if path not in labels]


def _inner_suffix(path: Path) -> str:
    """Return the suffix below that of a compression, in lower case."""
    inner = path.with_suffix("") if path.suffix.lower() in _COMPRESSIONS else path
    return inner.suffix.lower()


def _format_of_name(path: Path) -> str | None:
    """Return the format that a name tells, if it tells one."""
    return "IDX" if _IDX_NAME.search(path.name) else _SUFFIXES.get(_inner_suffix(path))
