"""What every benchmark needs: interleaved timing, and a record of where it ran."""

import ctypes
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def interleaved(
    tasks: dict[str, Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Run all tasks in turn, several rounds; return the seconds of each.

    The machine may be noisy: what runs in the same round is compared with each other.
    """
    for task in tasks.values():
        task()
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            started = clock()
            task()
            seconds[name].append(clock() - started)
    return seconds


def median_ratio(numerator: Sequence[float], denominator: Sequence[float]) -> float:
    """Return the median over rounds of the ratio of two timings."""
    return float(np.median(np.asarray(numerator) / np.asarray(denominator)))


def keep_memory() -> None:
    """Let this process keep the memory of arrays that are gone; the C library must be glibc.

    Otherwise every large array comes fresh from the kernel, which has to clear it, and on a virtual machine from the
    host, which takes longer than to compute what is written to it.
    """
    mallopt = ctypes.CDLL(None).mallopt
    trim_threshold, mmap_max = -1, -4
    if not (mallopt(mmap_max, 0) and mallopt(trim_threshold, 2**31 - 1)):
        raise OSError("mallopt was refused.")


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Fit the power of the size that the time grows with."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def environment(*competitors: str) -> dict[str, Any]:
    """Describe machine, commit and versions; those of competitors where they are installed."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        cpu = next((line.split(":")[1].strip() for line in info.read_text().splitlines() if "model name" in line), cpu)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    packages = ("craftmaps", "numpy", "scipy", "scikit-learn", "numba", "llvmlite")
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages} | _installed(competitors),
        "commit": commit,
        "date": time.strftime("%Y-%m-%d"),
    }


def _installed(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of the packages that are installed."""
    versions = {}
    for name in packages:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def say(text: str) -> None:
    """Print progress to standard error."""
    print(text, file=sys.stderr, flush=True)


def update_results(path: Path, results: dict[str, Any]) -> None:
    """Merge results into a file, written anew and renamed, so that a run can go on where one stopped."""
    merged = json.loads(path.read_text()) if path.exists() else {}
    merged.update(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(merged, indent=1, sort_keys=True) + "\n")
    new.replace(path)
