"""Output files: checked before the work, and named if they cannot be written."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

from craftmaps.cli.interrupts import unfinished


def check_outputs(outputs: Mapping[str, Path | None], sources: Sequence[str]) -> None:
    """Refuse, before the work, files of options that cannot be written, that are inputs, or two that are the same."""
    taken = list(sources)
    for option, path in outputs.items():
        if path is not None:
            check_output(path, option, taken)
            taken.append(str(path))


def check_output(path: Path, option: str, sources: Sequence[str], suffixes: Sequence[str] = ()) -> None:
    """Refuse, before the work, a file that cannot be written or that is an input."""
    if suffixes and path.suffix.lower() not in suffixes:
        raise typer.BadParameter(f"{option} must end in {', '.join(suffixes)}, got {str(path)!r}.")
    if path.is_dir():
        raise IsADirectoryError(f"{option} must be a file, got the folder {str(path)!r}.")
    if path.exists() and not path.is_file():
        raise OSError(f"{option} must be a file, got the device or pipe {str(path)!r}.")
    if any(_is_same(path, source) for source in sources):
        raise FileExistsError(f"{option} must be another file than those that are read or written, got {str(path)!r}.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{option} must be in a folder that exists, got {str(path)!r}.")
    try:
        # Permissions do not tell whether the file system is full or read-only.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.", suffix=".new"):
            pass
    except OSError as error:
        raise OSError(f"{option} must be a file that can be made, got {str(path)!r}: {error.strerror}.") from None


def _is_same(path: Path, other: str) -> bool:
    """Tell whether two paths are of one file, which may not exist yet."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file in errors such as that of a full disk; remove its unfinished version if interrupted."""
    try:
        with unfinished(path):
            yield
    except OSError as error:
        if error.errno is None:
            raise  # about an input; it has a message already
        raise OSError(f"{path} cannot be written: {os.strerror(error.errno)}.") from None
