"""Runs of the program in processes of their own, which can be killed, interrupted and kept from writing.

To import and load everything takes some seconds, so one process does that and forks for every run.
"""

import json
import os
import subprocess
import sys

SERVER = """
import json, os, resource, signal, sys, time
import numpy as np
from craftmaps import CraftClassifier, Polynomial
from craftmaps.cli import main, progress_bar, training
from craftmaps.streams import Stream

# Compiled loops and libraries are loaded here, and not by every run.
rows = np.random.default_rng(0).random((60, 5), dtype=np.float32)
CraftClassifier(Polynomial(3), 24, metric=None, random_state=0).fit(rows, rows[:, 0] > 0.5).predict_proba(rows)

slowness = 0.0
read = Stream.blocks

def slow_blocks(stream, *arguments):
    for block in read(stream, *arguments):
        time.sleep(slowness)
        yield block

Stream.blocks = slow_blocks

def obey(request):
    global slowness
    slowness = request["slowness"]
    progress_bar.SECONDS_BETWEEN_LINES = request["seconds_between_lines"]
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if request["most_bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["most_bytes"],) * 2)
    sys.argv = ["craftmaps", *request["arguments"]]
    main()

for line in sys.stdin:
    request = json.loads(line)
    if "wait" in request:
        print("code", os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1]), flush=True)
        continue
    child = os.fork()
    if not child:
        try:
            obey(request)
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(end.code)
    print("process", child, flush=True)
"""


class Server:
    """A process that runs the program in forks of itself, one after the other."""

    def __init__(self, folder):
        # One thread: a fork has none but the one that forked.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "CRAFTMAPS_NUM_THREADS": "1"}
        self._output = folder / "output"
        self._run = None
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def start(self, *arguments, slowness=0.0, most_bytes=None, seconds_between_lines=10.0):
        """Start a run; the one before must have been waited for."""
        assert self._run is None
        self._output.unlink(missing_ok=True)
        request = {
            "arguments": [str(argument) for argument in arguments],
            "slowness": slowness,
            "most_bytes": most_bytes,
            "seconds_between_lines": seconds_between_lines,
            "output": str(self._output),
        }
        self._run = self._asked(request, "process")

    @property
    def is_running(self):
        """Whether a run has not been waited for."""
        return self._run is not None

    def signal(self, number):
        """Send a signal to the run, which may have ended.

        Its number is its own until `end` waits for it, so that no other process can be hit.
        """
        assert self._run is not None
        assert self._run > 1
        os.kill(self._run, number)

    def end(self):
        """Wait for the run to end; return its exit code and what it printed."""
        code = self._asked({"wait": self._run}, "code")
        self._run = None
        return code, self.printed()

    def run(self, *arguments, **options):
        """Run to the end; return the exit code and what was printed."""
        self.start(*arguments, **options)
        return self.end()

    def _asked(self, request, expected):
        """Return the number that the server answers a request with."""
        print(json.dumps(request), file=self._process.stdin, flush=True)
        word, number = self._process.stdout.readline().split()
        assert word == expected
        return int(number)

    def printed(self):
        """Return what the run has printed so far."""
        return self._output.read_text() if self._output.exists() else ""

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
