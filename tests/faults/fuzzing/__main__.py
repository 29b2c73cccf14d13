"""Run mutated files and count what becomes of them; see `tests.faults.fuzzing`."""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.faults.fuzzing.bases import KINDS, write_bases
from tests.faults.fuzzing.pool import SECONDS, Fuzzer, Result


def main() -> int:
    """Run cases; return whether one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.fuzzing", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--replay", type=int, nargs="+", help="numbers of cases, of the same seed and kinds")
    parser.add_argument("--keep", type=Path, help="a folder for the files of replayed cases")
    options = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        all_bases = write_bases(Path(folder) / "good files", tuple(options.kinds))
        fuzzer = Fuzzer(all_bases, options.seed, Path(folder))
        results = []
        for result in fuzzer.run(options.replay or range(options.cases), options.jobs):
            results.append(result)
            if options.replay or not result.is_good:
                _show(result)
            if options.replay and options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                name = f"{result.number} {result.base.path.name}"
                (options.keep / name).write_bytes(fuzzer.case(result.number)[1])
    _summarise(results, time.perf_counter() - start)
    return int(not all(result.is_good for result in results))


def _show(result: Result) -> None:
    print(f"case {result.number}: {result.base.kind} ({result.base.name}): {result.outcome} {result.words[:300]}")


def _summarise(results: list[Result], seconds: float) -> None:
    """Print counts, the largest memory and the slowest case."""
    for (kind, outcome), count in sorted(Counter((r.base.kind, r.outcome) for r in results).items()):
        print(f"{kind:12} {outcome:30} {count:6}")
    slowest, largest = max(results, key=lambda r: r.seconds), max(results, key=lambda r: r.peak)
    n_failed = sum(not result.is_good for result in results)
    print(f"{len(results)} cases, {n_failed} failed, {seconds:.0f} s; a case may take {SECONDS:g} s of processor time")
    print(f"slowest: {slowest.seconds:.2f} s, case {slowest.number}; peak memory of a process: {largest.peak:.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
