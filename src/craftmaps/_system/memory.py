"""How much memory there is to use."""

import os
from pathlib import Path

_MEMORY = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Return the bytes that this process can still use, as far as the system tells."""
    bounds = [bound for bound in (_of_machine(), _of_group()) if bound is not None]
    return min(bounds) if bounds else None


def _of_machine() -> int | None:
    """Return what the machine has free, or all it has where only that is known."""
    try:
        for line in _MEMORY.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _of_group() -> int | None:
    """Return what the control group, such as a container, leaves."""
    try:
        limit = (_GROUP / "memory.max").read_text().strip()
        return None if limit == "max" else int(limit) - int((_GROUP / "memory.current").read_text())
    except (OSError, ValueError):
        return None
