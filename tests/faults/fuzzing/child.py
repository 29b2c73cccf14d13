"""A child process that judges one file after another, with limits on memory and time.

Requests come as lines of JSON on standard input; answers go as lines of JSON to the descriptor that is given.
"""

import importlib
import json
import os
import resource
import signal
import sys
import warnings
from pathlib import Path

import numpy as np

MEMORY = 3 * 2**30


def main() -> None:
    """Answer until standard input ends."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    answers = os.fdopen(int(sys.argv[1]), "w")
    seconds, judged = float(sys.argv[2]), importlib.import_module(sys.argv[3]).judged
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        # Processor time, as the machine may be busy; where loops run, only the default action of a signal ends them.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        outcome, words = judged(request["kind"], request["name"], Path(request["path"]), request["expected"])
        left = signal.setitimer(signal.ITIMER_PROF, 0)[0]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        answer = {"outcome": outcome, "words": words, "seconds": seconds - left, "peak": peak}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
