"""Atomic writes: a file is replaced by a complete new version or left as it was."""

import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HOST = re.sub(r"[^\w-]", "_", platform.node())[:32] or "host"


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; rename it to `path` on success, remove it on failure.

    The temporary name contains the host and the process id, so that processes that write the same file do not
    collide. Temporary files of processes of this host that were killed are removed.
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
    """Remove temporary versions of a file whose process has ended."""
    if os.name != "posix":
        return  # elsewhere signal 0 ends the process that is asked about
    pattern = re.compile(rf"{re.escape(path.name)}\.{re.escape(_HOST)}\.(\d{{1,9}})\.new")
    with suppress(OSError):
        for left in path.parent.iterdir():
            match = pattern.fullmatch(left.name)
            if match and not _is_running(int(match[1])):
                left.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    """Tell whether a process of this id exists."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
