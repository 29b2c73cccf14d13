"""Paths, folders and globs as files of rows."""

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

from craftmaps.streams.errors import errors_named
from craftmaps.streams.limits import Limits
from craftmaps.streams.sources.data_file import DataFile, Part
from craftmaps.streams.sources.sniffing import format_of_name, inner_suffix, is_idx_name

PathLike = str | os.PathLike[str]

# Text in a folder that is not data.
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


def find_files(paths: PathLike | Sequence[PathLike], limits: Limits, part: Part | None = None) -> list[DataFile]:
    """Return the files that paths, folders and globs name, in order; all must have one format.

    A part is one of each file, such as rows and their labels.
    """
    if isinstance(paths, (str, os.PathLike)):
        found = _paths_of(os.fspath(paths))
    elif isinstance(paths, Sequence) and paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
        found = [file for path in paths for file in _paths_of(os.fspath(path))]
    else:
        raise TypeError(f"path must be a path or a sequence of paths, got {paths!r}.")
    files = [DataFile(path, limits, part=part) for path in _without_labels(found)]
    formats = {file.format: file.name for file in files}
    if len(formats) > 1:
        one, other = list(formats)[:2]
        raise ValueError(
            f"All files of a stream must have one format, got {formats[one]} ({one}) and {formats[other]} ({other})."
        )
    return files


def labels_beside(path: Path) -> Path | None:
    """Return the file that by custom holds the labels of a file: `y.npy` for `X.npy`, IDX labels for images."""
    if is_idx_name(path):
        stem = re.sub(r"-images-idx\d-ubyte(\.gz)?$", "-labels-idx1-ubyte", path.name)
        candidates = [path.with_name(stem), path.with_name(f"{stem}.gz")] if stem != path.name else []
    elif path.suffix.lower() == ".npy" and path.name[0] in "xX":
        candidates = [path.with_name(first + path.name[1:]) for first in "yY"]
    else:
        candidates = []
    return next((candidate for candidate in candidates if candidate.is_file()), None)


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
    """Return the data files of a folder, sorted by name; other files are ignored."""
    with errors_named(str(folder)):
        paths = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] not in "._")
    formats = _formats_in_folder(paths)
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


def _formats_in_folder(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the format of each data file among the files of a folder."""
    formats = {path: format for path in paths if (format := format_of_name(path))}
    # A .json file beside data of another format holds settings, not rows.
    rows = {path: format for path, format in formats.items() if inner_suffix(path) != ".json"}
    if rows or formats:
        return rows or formats
    formats = {path: format for path in paths if (format := _format_of_content(path))}
    # Any text may be CSV, but the first bytes of other formats leave no doubt.
    return {path: format for path, format in formats.items() if format != "CSV"} or formats


def _format_of_content(path: Path) -> str | None:
    """Return the format of a file without a known suffix, None if it is not data."""
    if path.suffix.lower() in _OTHER_SUFFIXES or path.stem.upper() in _OTHER_NAMES:
        return None
    try:
        return DataFile(path).format
    except (ValueError, OSError):
        return None


def _without_labels(paths: list[Path]) -> list[Path]:
    """Leave out the files that hold the labels of other files."""
    labels = {labels_beside(path) for path in paths}
    return [path for path in paths if path not in labels]
