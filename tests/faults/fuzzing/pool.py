"""Cases are spread over child processes, which are started again when they die."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from tests.faults.fuzzing.bases import Base
from tests.faults.fuzzing.judging import GOOD, case_folder
from tests.faults.fuzzing.mutations import mutated

SECONDS = 5.0
JUDGE = "tests.faults.fuzzing.judging"  # the module whose `judged` children call
_WEIGHTS = {"model": 5, "tally": 4, "checkpoint": 3, "run": 0.5, "data": 3}  # how often kinds of files come
_LONGEST_WAIT = 120.0  # by the clock, of a child that does not compute
_ROOT = Path(__file__).resolve().parents[3]


class Result(NamedTuple):
    """What became of a case."""

    number: int
    base: Base
    outcome: str
    words: str
    seconds: float
    peak: float

    @property
    def is_good(self) -> bool:
        return self.outcome in GOOD


class Child:
    """A process that judges files; one that dies or takes too long is replaced."""

    def __init__(self, seconds: float, judge: str = JUDGE):
        self._seconds, self._judge = seconds, judge
        self._start()

    def _start(self) -> None:
        read, write = os.pipe()
        one_thread = {"CRAFTMAPS_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.fuzzing.child", str(write), str(self._seconds), self._judge],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(write,),
            env=os.environ | one_thread,
            cwd=_ROOT,
            text=True,
        )
        os.close(write)
        self._answers = os.fdopen(read)
        if self._line() != "ready\n":
            raise RuntimeError("A child process did not start.")

    def _line(self) -> str | None:
        ready, _, _ = select.select([self._answers], [], [], _LONGEST_WAIT)
        return self._answers.readline() if ready else None

    def judge(self, base: Base, path: Path, expected: str | None) -> dict[str, Any]:
        request = {"kind": base.kind, "name": base.name, "path": str(path), "expected": expected}
        print(json.dumps(request), file=self._process.stdin, flush=True)
        line = self._line()
        if line:
            return json.loads(line)
        self.end()
        code = self._process.returncode
        name = signal.Signals(-code).name if code and code < 0 else f"exit {code}"
        outcome = "timeout" if line is None or name == "SIGPROF" else name
        self._start()
        return {"outcome": outcome, "words": "", "seconds": self._seconds, "peak": 0.0}

    def end(self) -> None:
        try:
            self._process.stdin.close()  # type: ignore[union-attr]
            self._process.wait(timeout=10)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            self._process.wait()
        self._answers.close()


class Fuzzer:
    """Runs cases, each made of a seed and its number alone.

    Parameters
    ----------
    all_bases : list of Base
    seed : int
    folder : Path
        Where mutated files are written.
    seconds : float
        Processor time that a case may take.
    """

    def __init__(self, all_bases: list[Base], seed: int, folder: Path, seconds: float = SECONDS):
        self._bases, self._seed, self._folder, self._seconds = all_bases, seed, folder, seconds
        self._kinds = sorted({base.kind for base in all_bases})
        self._contents = {base.path: base.path.read_bytes() for base in all_bases}
        self._expected: dict[Path, str] = {}

    def _outputs_of_good_files(self) -> dict[Path, str]:
        """Judge the good files, without limits of time: loops may have to be compiled."""
        child, expected = Child(600.0), {}
        for base in self._bases:
            answer = child.judge(base, case_folder(base.path, self._folder / "good"), None)
            if answer["outcome"] != "accepted":
                raise RuntimeError(f"{base.kind} {base.name} is not accepted: {answer}")
            expected[base.path] = answer["words"]
        child.end()
        return expected

    def case(self, number: int) -> tuple[Base, bytes, bool]:
        """Return the good file of a case, the mutated one, and whether its checksum is still the old one."""
        rng = np.random.default_rng([self._seed, number])
        weights = np.array([_WEIGHTS[kind] for kind in self._kinds])
        kind = self._kinds[int(rng.choice(len(self._kinds), p=weights / weights.sum()))]
        some = [base for base in self._bases if base.kind == kind]
        base = some[int(rng.integers(0, len(some)))]
        content, is_sealed = mutated(rng, kind, base.name, self._contents[base.path])
        return base, content, is_sealed

    def run(self, numbers: Iterable[int], n_jobs: int = 1) -> Iterator[Result]:
        """Yield what becomes of cases, in the order in which they end."""
        self._expected = self._outputs_of_good_files()
        todo: SimpleQueue[int] = SimpleQueue()
        done: SimpleQueue[Result | BaseException | None] = SimpleQueue()
        for number in numbers:
            todo.put(number)
        for job in range(n_jobs):
            threading.Thread(target=self._work, args=(job, todo, done), daemon=True).start()
        running = n_jobs
        while running:
            result = done.get()
            if isinstance(result, BaseException):
                raise result
            running -= result is None
            if result is not None:
                yield result

    def _work(self, job: int, todo: SimpleQueue, done: SimpleQueue) -> None:
        """Judge cases until there are no more."""
        try:
            child = Child(self._seconds)
            while True:
                try:
                    number = todo.get_nowait()
                except Empty:
                    break
                done.put(self._result(child, number, self._folder / f"case {job}"))
            child.end()
            done.put(None)
        except BaseException as error:
            done.put(error)

    def _result(self, child: Child, number: int, folder: Path) -> Result:
        base, content, is_sealed = self.case(number)
        path = case_folder(base.path, folder)
        path.write_bytes(content)
        answer = child.judge(base, path, self._expected[base.path] if is_sealed else None)
        return Result(number, base, answer["outcome"], answer["words"], answer["seconds"], answer["peak"])
