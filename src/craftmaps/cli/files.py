"""Output files: checked before the work, and named if they cannot be written."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

from craftmaps.cli.interrupts import unfinished


def check_output(path: Path, option: str, sources: Sequence[str], suffixes: Sequence[str] = ()) -> None:
    """Refuse, before the work, a file that cannot be written or that is an input."""
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
        # Permissions do not tell whether the file system is full or read-only.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.", suffix=".new"):
            pass
    except OSError as error:
        raise OSError(f"{option} must be a file that can be made, got {str(path)!r}: {error.strerror}.") from None


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
