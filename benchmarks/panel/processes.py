"""Run a cell in a process of its own, with a number of threads and limits of processor time and memory."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measuring import ROOT

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
    "CRAFTMAPS_NUM_THREADS",
)
STARTING_SECONDS = 20.0  # beyond the time limit: imports, reading rows, warming up
PATIENCE = 4.0  # wall seconds for a processor second, on a busy machine
POLL_SECONDS = 0.2


def result_of(command: Sequence[str], threads: int, seconds: float, memory_gb: float) -> dict[str, Any]:
    """Run a command; return the JSON of its last line, or why there is none."""
    variables = dict.fromkeys(THREAD_VARIABLES, str(threads))
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | variables, stdout=output, stderr=errors)
        status = watched(process, threads * seconds + STARTING_SECONDS, memory_gb)
        output.seek(0)
        errors.seek(0)
        if status is not None:
            return {"status": status, "limit_seconds": seconds}
        if process.returncode:
            last = (errors.read().strip().splitlines() or ["no message"])[-1]
            return {"status": "failed", "reason": last[:300], "limit_seconds": seconds}
        return json.loads(output.read().strip().splitlines()[-1]) | {"limit_seconds": seconds}


def watched(process: subprocess.Popen, seconds: float, memory_gb: float) -> str | None:
    """Wait for a process; end it if it takes too many processor seconds or too much memory, and say which."""
    started = time.monotonic()
    try:
        while process.poll() is None:
            if _processor_seconds(process.pid) > seconds or time.monotonic() - started > PATIENCE * seconds:
                return "timed out"
            if _resident_gb(process.pid) > memory_gb:
                return "out of memory"
            time.sleep(POLL_SECONDS)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return None


def _processor_seconds(pid: int) -> float:
    """Return user and system time of a process; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_gb(pid: int) -> float:
    """Return the memory of a process; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**30
