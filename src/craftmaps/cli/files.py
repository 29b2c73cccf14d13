"""Files to write: checked before the work, and named where they cannot be written."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

from craftmaps.cli.interrupts import unfinished


def check_output(path: Path, option: str, sources: Sequence[str], suffixes: Sequence[str] = ()) -> None:
    """Refuse a file that cannot be written, or that is read, before the work and not after it."""
    if suffixes and path.suffix.lower() not in suffixes:
        raise typer.BadParameter(f"{option} must end in {', '.join(suffixes)}, got {str(path)!r}.")
    if path.is_dir():
        raise IsADirectoryError(f"{option} must be a file, got the folder {str(path)!r}.")
    if path.exists() and not path.is_file():
        raise OSError(f"{option} must be a file, got the device or pipe {str(path)!r}.")
    if path.exists() and any(os.path.exists(source) and path.samefile(source) for source in sources):
        raise FileExistsError(f"{option} must be another file than those that are read, got {str(path)!r}.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{option} must be in a folder that exists, got {str(path)!r}.")
    try:
        # Rights do not tell: a file system may be full, or can only be read.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.", suffix=".new"):
            pass
    except OSError as error:
        raise OSError(f"{option} must be a file that can be made, got {str(path)!r}: {error.strerror}.") from None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file that could not be written, which an error of a full disk does not; clean up if interrupted."""
    try:
        with unfinished(path):
            yield
    except OSError as error:
        if error.errno is None:
            raise  # a sentence already, about a file that was read
        raise OSError(f"{path} cannot be written: {os.strerror(error.errno)}.") from None
