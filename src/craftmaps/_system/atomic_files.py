"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a new name to write to; rename the file if all went well, else remove it.

    Whatever happens, a file that was there before stays whole. The name is that of this process alone, so two that
    write the same file do not mix.
    """
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        yield new
        with open(new, "rb") as file:
            os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
