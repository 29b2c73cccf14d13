"""Files that are written whole or not at all."""

import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HOST = re.sub(r"[^\w-]", "_", platform.node())[:32] or "host"


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a new name to write to; rename the file if all went well, else remove it.

    Whatever happens, a file that was there before stays whole. The name is that of this process alone, so two that
    write the same file do not mix. What processes of this machine left that were killed while they wrote is removed.
    """
    new = path.with_name(f"{path.name}.{_HOST}.{os.getpid()}.new")
    _remove_leftovers(path)
    try:
        yield new
        with open(new, "rb") as file:
            os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def _remove_leftovers(path: Path) -> None:
    """Remove unfinished versions of a file whose process has ended; only POSIX tells that without harm."""
    if os.name != "posix":
        return
    pattern = re.compile(rf"{re.escape(path.name)}\.{re.escape(_HOST)}\.(\d{{1,9}})\.new")
    with suppress(OSError):
        for left in path.parent.iterdir():
            match = pattern.fullmatch(left.name)
            if match and not _is_running(int(match[1])):
                left.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    """Tell whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
