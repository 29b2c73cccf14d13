"""Speed-up, overhead and traffic of cluster engines; results go to benchmarks/results/engines.json.

    python benchmarks/engines.py                                          # about two minutes on two free cores
    python benchmarks/engines.py --blocks 320 --rounds 2 --resume         # a pass of a minute, six minutes in all

Every round runs, one after another: `partial_fit` here, one worker process, two worker processes, all on one thread
each, and before and after them a control that spins on one and on two processes. Where the control does not reach 1.8,
other work kept the cores busy: such a round does not count, and if none counts there is no verdict. Results are written
after every round; `--resume` goes on from the rounds of the same number of rows that the file has.
"""

import argparse
import json
import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from measuring import environment, median_ratio, say, update_results

from craftmaps import CraftClassifier, Polynomial, threads
from craftmaps.learners.estimator import OnePassEstimator

RESULTS = Path(__file__).parent / "results" / "engines.json"
BLOCK_ROWS, COLUMNS, COMPONENTS = 8_000, 64, 1024
LEAST_CONTROL, LEAST_SPEED_UP, MOST_OVERHEAD = 1.8, 1.7, 1.15


def make_block(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels; workers make their own."""
    X = np.random.default_rng(seed).standard_normal((BLOCK_ROWS, COLUMNS))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def classifier() -> CraftClassifier:
    """Return a classifier that spends its time in the pass."""
    return CraftClassifier(
        Polynomial(3), COMPONENTS, metric=None, alphas=[1e-3], cv=2, holdout_rows=500, random_state=0
    )


class Engine(Protocol):
    """Worker processes of one thread each."""

    def fit(self, n_blocks: int) -> OnePassEstimator:
        """Fit to blocks that workers make."""
        ...

    def n_bytes_moved(self) -> int:
        """Return the bytes that workers have sent so far, without rows."""
        ...


class DaskEngine(AbstractContextManager):
    """A local Dask cluster that talks over TCP."""

    def __init__(self, n_workers: int):
        from distributed import Client, LocalCluster

        self.cluster = LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0"
        )
        self.client = Client(self.cluster, set_as_default=False)

    def fit(self, n_blocks: int) -> OnePassEstimator:
        """Fit to blocks that workers make."""
        from dask import delayed

        import craftmaps.dask

        blocks = [delayed(make_block)(seed) for seed in range(n_blocks)]
        return craftmaps.dask.fit(classifier(), blocks, client=self.client)

    def n_bytes_moved(self) -> int:
        """Return the bytes that workers have sent so far, without rows that an idle one read for another."""
        return sum(self.client.run(_sent).values())

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.cluster.close()


def _sent(dask_worker: Any) -> int:
    log = dask_worker.transfer_outgoing_log
    return sum(entry["compressed"] for entry in log if not any("make_block" in str(key) for key in entry["keys"]))


ENGINES: dict[str, Callable[[int], Any]] = {"dask": DaskEngine}


def fit_here(n_blocks: int) -> OnePassEstimator:
    """Learn from the same blocks in this process."""
    with threads(1):
        model = classifier()
        for seed in range(n_blocks):
            model.partial_fit(*make_block(seed))
        return model.finish()


def spin(seconds: float) -> int:
    """Count for so many seconds."""
    count, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        count += 1
    return count


def control(pool: ProcessPoolExecutor, seconds: float = 1.5) -> float:
    """Return how much further two processes count than one in the same time."""
    alone = pool.submit(spin, seconds).result()
    return sum(pool.map(spin, [seconds] * 2)) / alone


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of a call, and its result."""
    started = time.perf_counter()
    result = function()
    return time.perf_counter() - started, result


def measured(
    engine: Callable[[int], Any], n_blocks: int, n_rounds: int, before: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Time fits here, on one worker and on two, in turn, and count the bytes that two workers move.

    Yields the result of all rounds after each of them; `before` is that of earlier ones.
    """
    seconds: dict[str, list[float]] = before.get("seconds", {"here": [], "one": [], "two": []})
    controls = before.get("control", [])
    with engine(1) as one, engine(2) as two, ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for fit in (fit_here, one.fit, two.fit):  # loops are compiled, and all processes are up
            fit(4)
        for _ in range(n_rounds - len(controls)):
            first = control(pool)
            for name, fit in (("here", fit_here), ("one", one.fit)):
                spent, model = timed(partial(fit, n_blocks))
                seconds[name].append(spent)
            moved = two.n_bytes_moved()
            spent, model = timed(partial(two.fit, n_blocks))
            seconds["two"].append(spent)
            moved = two.n_bytes_moved() - moved
            controls.append(min(first, control(pool)))
            say(f"{ {name: round(times[-1], 1) for name, times in seconds.items()} }, control {controls[-1]:.2f}")
            yield summary(model, seconds, controls, moved)


def summary(
    model: OnePassEstimator, seconds: dict[str, list[float]], controls: list[float], moved: int
) -> dict[str, Any]:
    """Return medians over the rounds that count, and the verdicts."""
    fair = [i for i, value in enumerate(controls) if value >= LEAST_CONTROL]
    here, one_worker, two_workers = (
        [seconds[name][i] for i in fair or range(len(controls))] for name in ("here", "one", "two")
    )
    speed_up, overhead = median_ratio(one_worker, two_workers), median_ratio(one_worker, here)
    tally = len(pickle.dumps(model.tally_, protocol=5))
    return {
        "rows": model.n_rows_seen_,
        "columns": COLUMNS,
        "components": COMPONENTS,
        "seconds": seconds,
        "control": controls,
        "speed_up": speed_up,
        "speed_up_is_enough": speed_up >= LEAST_SPEED_UP if fair else None,
        "overhead": overhead,
        "overhead_is_small": overhead <= MOST_OVERHEAD if fair else None,
        "bytes_moved": moved,
        "bytes_of_a_tally": tally,
        "tallies_moved": moved / tally,
    }


def main() -> None:
    """Measure one engine after another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--blocks", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    for name in options.engines:
        before = json.loads(RESULTS.read_text()).get(name, {}) if options.resume and RESULTS.exists() else {}
        before = before if before.get("rows") == options.blocks * BLOCK_ROWS else {}
        for result in measured(ENGINES[name], options.blocks, options.rounds, before):
            say(f"{name}: {result}")
            update_results(RESULTS, {name: result | {"environment": environment()}})


if __name__ == "__main__":
    main()
