"""Read files in processes with limits on memory and time: hostile files may hang, exhaust memory or crash.

Imports take some seconds, so one process imports everything and forks for each file.
"""

import json
import os
import subprocess
import sys

SERVER = """
import json, os, resource, sys
import h5py, pyarrow.compute, pyarrow.csv, pyarrow.dataset, pyarrow.json, pyarrow.parquet, sklearn.datasets
from craftmaps import streams

def read(path, settings, seconds, n_bytes):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        shapes = [X.shape for X, _ in streams.open(path, **settings)]
        outcome = {"kind": "rows", "said": "", "shape": [sum(n for n, _ in shapes), shapes[0][1]]}
    except BaseException as error:
        outcome = {"kind": type(error).__name__, "said": str(error)}
    outcome["taken"] = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    os.write(1, json.dumps(outcome).encode() + b"\\n")
    os._exit(0)

for line in sys.stdin:
    child = os.fork()
    if not child:
        read(*json.loads(line))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        print(json.dumps({"kind": f"exit code {code}", "said": "", "taken": 0}), flush=True)
"""


class LimitedReader:
    """A process that reads files, each in a fork with limits."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(os.environ, OPENBLAS_NUM_THREADS="1", CRAFTMAPS_NUM_THREADS="1"),
        )

    def read(self, path, settings=None, seconds=30, n_bytes=4 << 30):
        """Return the outcome: its kind ("rows", an error or an exit code), the error message, and the memory taken."""
        self._process.stdin.write(json.dumps([str(path), settings or {}, seconds, n_bytes]).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        """End the process."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
