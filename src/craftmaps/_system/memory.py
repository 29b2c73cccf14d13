"""Memory of the machine, of its control group, and of this process."""

import os
import sys
from contextlib import suppress
from pathlib import Path

_MACHINE = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")
_PROCESS = Path("/proc/self/status")


def available_memory() -> int | None:
    """Return the bytes that this process can still allocate, or None if the system does not tell."""
    bounds = [bound for bound in (_available_on_machine(), _available_in_group()) if bound is not None]
    return min(bounds) if bounds else None


def total_memory() -> int:
    """Return the bytes of the machine, or of the container if it has fewer; 2^63 if the system tells neither."""
    return min(_machine_bytes() or 2**63, _group_limit() or 2**63)


def peak_memory() -> int | None:
    """Return the largest resident size of this process so far, in bytes, or None if the system does not tell."""
    # On Linux `getrusage` includes the memory of the program that started this one.
    with suppress(OSError):
        peak = _kilobytes(_PROCESS, "VmHWM:")
        if peak is not None:
            return peak
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _available_on_machine() -> int | None:
    """Return the free bytes of the machine, or all its bytes if only these are known."""
    free = None
    with suppress(OSError):
        free = _kilobytes(_MACHINE, "MemAvailable:")
    return _machine_bytes() if free is None else free


def _available_in_group() -> int | None:
    """Return the bytes that the control group, such as a container, has left."""
    limit = _group_limit()
    try:
        return None if limit is None else limit - int((_GROUP / "memory.current").read_text())
    except (OSError, ValueError):
        return None


def _machine_bytes() -> int | None:
    """Return the bytes of physical memory."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _group_limit() -> int | None:
    """Return the limit of the control group, or None if it has none."""
    try:
        limit = (_GROUP / "memory.max").read_text().strip()
    except OSError:
        return None
    return int(limit) if limit.isdecimal() else None


def _kilobytes(file: Path, name: str) -> int | None:
    """Return an entry of a file in /proc, in bytes."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith(name):
            return 1024 * int(line.split()[1])
    return None
