"""Wide rows against the rate of memory, on one thread; results go to benchmarks/results/wide_rows.json.

    python benchmarks/wide_rows.py                  # about two minutes
    python benchmarks/wide_rows.py --label before   # of an older version: run it with that version installed

Times are processor time. The rate of memory is that of reading the same array once, in its order, by a product of
BLAS with itself. "input" is what is left of a transform without its loop: checking, reading and transposing rows.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse
from measuring import environment, median_ratio, say, update_results

import craftmaps
from craftmaps import CraftMap, LandmarkMap, Polynomial, RandomMaclaurin, SubsampledHadamard, TensorSketch
from craftmaps._loops import lanes
from craftmaps._rows import tiling
from craftmaps._system.threads import PRODUCT_ROWS
from craftmaps.maps import tensor_sketch

RESULTS = Path(__file__).parent / "results" / "wide_rows.json"
N_ROWS, WIDTH = 4_096, 8_192
KERNEL = Polynomial(degree=3)
ROUNDS = 9
LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "rows contiguous": lambda X: X,
    "columns contiguous": np.asfortranarray,
    "columns 100 to 8,292 of 8,392": lambda X: np.hstack([X[:, :100], X, X[:, :100]])[:, 100 : 100 + WIDTH],
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}
MAPS = {
    "SubsampledHadamard 16": SubsampledHadamard(16, random_state=0),
    "SubsampledHadamard 1024": SubsampledHadamard(1024, random_state=0),
    "RandomMaclaurin 256": RandomMaclaurin(KERNEL, 256, random_state=0),
    "CraftMap 256": CraftMap(KERNEL, 256, random_state=0),
    "TensorSketch 256": TensorSketch(KERNEL, 256, random_state=0),
    "LandmarkMap 64": LandmarkMap(KERNEL, 64, random_state=0),
}


def processor_times(tasks: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """Run all tasks in turn, several rounds; return the seconds of processor time of each."""
    for task in tasks.values():
        task()
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            started = time.process_time()
            task()
            seconds[name].append(time.process_time() - started)
    return seconds


@contextmanager
def loaded() -> Iterator[None]:
    """Let the rows of every block be in tiles already: what is left of a transform is its loop."""
    ready: dict[tuple, np.ndarray] = {}
    zeroed: set[int] = set()
    load_tiles = getattr(tiling, "load_tiles", None)

    def kept(X: Any, start: int, stop: int, layout: Any, width: int, line: tuple) -> np.ndarray:
        if (key := (stop - start, width, line)) not in ready:
            ready[key] = load_tiles(X, start, stop, layout, width, line)
            ready[key][:] = 0  # loops may overwrite tiles, and must not overflow
        return ready[key]

    def skipped(X: Any, position: Any, factor: Any, tiles: np.ndarray, line: tuple) -> None:
        if tiles.ctypes.data not in zeroed:
            zeroed.add(tiles.ctypes.data)
            tiles[:] = 0

    with ExitStack() as stack:
        if load_tiles is None:  # an older version: blocks are made elsewhere, but one after the other in one place
            stack.enter_context(patch.object(lanes, "load_dense", skipped))
        for module in (tiling, tensor_sketch):
            if hasattr(module, "load_tiles"):
                stack.enter_context(patch.object(module, "load_tiles", kept))
        yield


def loop_alone(feature_map: Any, X: np.ndarray) -> Callable[[], None]:
    """Return the loop of a map over all rows of X, run on rows that are in tiles, or of landmarks in the cache."""

    def run() -> None:
        if isinstance(feature_map, LandmarkMap):
            for _ in range(0, N_ROWS, PRODUCT_ROWS):
                feature_map._transform_rows(X[:PRODUCT_ROWS])
            return
        with loaded():
            feature_map._transform_rows(X)

    return run


def measure() -> dict[str, Any]:
    """Measure every map on every layout of dense rows and on CSR ones."""
    X = np.random.default_rng(0).standard_normal((N_ROWS, WIDTH), dtype=np.float32)
    X /= np.linalg.norm(X, axis=1)[:, None]
    flat = X.ravel()
    fitted = {name: feature_map.fit(X) for name, feature_map in MAPS.items()}
    result: dict[str, Any] = {"gigabytes": X.nbytes / 1e9}
    for layout, lay_out in LAYOUTS.items():
        part = lay_out(X)
        for name, feature_map in fitted.items():
            seconds = processor_times(
                {
                    "transform": lambda m=feature_map, p=part: m.transform(p),
                    "loop": loop_alone(feature_map, X),
                    "memory": lambda: flat @ flat,
                }
            )
            rest = np.subtract(seconds["transform"], seconds["loop"])
            result[f"{name}, {layout}"] = {
                "gigabytes_per_second": X.nbytes / 1e9 / float(np.median(seconds["transform"])),
                "memory_gigabytes_per_second": X.nbytes / 1e9 / float(np.median(seconds["memory"])),
                "rate_over_memory": median_ratio(seconds["memory"], seconds["transform"]),
                # The difference of two long times may be negative by chance, and its median is close to the truth.
                "input_rate_over_memory": 1 / median_ratio(rest, seconds["memory"]),
                "transform_over_loop": median_ratio(seconds["transform"], seconds["loop"]),
            }
            say(f"{name}, {layout}: {result[f'{name}, {layout}']}")
    sparse = scipy.sparse.random(N_ROWS, WIDTH, 0.02, format="csr", dtype=np.float32, random_state=0)
    for name, feature_map in fitted.items():
        tasks = {"transform": lambda m=feature_map: m.transform(sparse), "memory": lambda: flat @ flat}
        seconds = processor_times(tasks)
        ratio = median_ratio(seconds["transform"], seconds["memory"])
        result.setdefault("times the reading of memory", {})[f"{name}, CSR of 2 %"] = ratio
    return result


def main() -> None:
    """Measure and keep the results under a label."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--label", default="after", choices=("before", "after"), help="where the results stand")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go (default: %(default)s)")
    arguments = parser.parse_args()
    with craftmaps.threads(1):
        result = {"about": __doc__.splitlines()[0], "environment": environment(), "result": measure()}
    update_results(arguments.out, {arguments.label: result})
    say(json.dumps(result["result"], indent=1))


if __name__ == "__main__":
    main()
