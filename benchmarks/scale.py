"""What a fit costs on clusters that are not here: a cost model, calibrated and checked on this machine.

    python benchmarks/scale.py          # about five minutes; writes benchmarks/results/scale.json
    python benchmarks/scale.py --again  # at once: predictions anew from the rates in that file
    python benchmarks/scale_table.py    # writes the tables of docs/internals/scale.rst from that file

Three steps. *Rates*: seconds of one core to read, map and count a row at several widths, to add tallies, and to solve.
*Check*: fits on Dask with one and two worker processes of one core, against what the model says of them: processor
seconds of the workers, bytes moved, memory. Processor seconds are compared because they mean something on a machine
that does other work too; wall-clock seconds stand beside them, with a control. *Predictions* for clusters.
"""

import argparse
import json
import math
import pickle
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from engines import control
from measuring import environment, exponent, say, update_results
from pyarrow import parquet

from craftmaps import CraftClassifier, Polynomial, streams, threads
from craftmaps._system.memory import peak_memory
from craftmaps.least_squares.panel_gram import PanelGram
from craftmaps.least_squares.square_gram import SquareGram

RESULTS = Path(__file__).parent / "results" / "scale.json"
COLUMNS, HELD_OUT = 256, 10_000
WIDTHS = (2**11, 2**12, 2**14, 2**16)
PACKED_FROM = 2**14  # one triangle in float32 from here on
CHECKED = 2048
MOST_WORKERS = 2**20


def classifier(width: int, **options: Any) -> CraftClassifier:
    """Return a classifier whose features depend on no rows."""
    settings: dict[str, Any] = {"metric": None, "packed": width >= PACKED_FROM, "random_state": 0} | options
    return CraftClassifier(Polynomial(3), width, **settings)


def make_block(seed: int, n_rows: int = 8192) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels; workers make their own."""
    X = np.random.default_rng(seed).standard_normal((n_rows, COLUMNS), dtype=np.float32)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def spent(task: Callable[[], Any], rounds: int = 3) -> float:
    """Return the least processor seconds of some rounds."""
    seconds = []
    for _ in range(rounds):
        begun = time.process_time()
        task()
        seconds.append(time.process_time() - begun)
    return min(seconds)


# The model.


@dataclass(frozen=True)
class Rates:
    """Seconds of one core."""

    read_row: float
    map_row: dict[str, float]  # by width
    count_row: dict[str, float]  # by width: products of all columns of the triangle
    other_row: float  # labels, hashes, checks: what a pass costs beside map and products, and
    other_feature: float  # for each feature of a row: sums of features and labels
    add_byte: float
    pack_byte: float  # pickling and unpickling
    solve: dict[str, float]  # by width, packed from 2^14 on


@dataclass(frozen=True)
class Cluster:
    """Workers that are alike."""

    n_workers: int
    cores: int = 8
    memory: float = 32e9
    bandwidth: float = 1.25e9  # bytes a second


def statistic_bytes(width: int) -> float:
    """Return the memory of a statistic."""
    return (2 if width >= PACKED_FROM else 8) * width**2


def moved_bytes(width: int, n_held_out: int = HELD_OUT) -> float:
    """Return the bytes of a tally on the way: a triangle and the held-out rows."""
    return (2 if width >= PACKED_FROM else 4) * width**2 + 4 * COLUMNS * n_held_out


def block_bytes(width: int) -> float:
    """Return the memory of the features of a block, twice: so much was seen in the runs here."""
    return 2 * max(2**26, 4 * 1024 * width)


def predicted(rates: Rates, cluster: Cluster, n_rows: float, width: int, n_held_out: int = HELD_OUT) -> dict[str, Any]:
    """Return what a fit with explicit settings costs, in seconds and bytes.

    A worker counts on all its cores in one chain, which holds two statistics; where they take more than half of its
    memory, several owners share the columns, and rows are read and mapped once for each.
    """
    name, W = str(width), cluster.n_workers
    n_owners = math.ceil(2 * statistic_bytes(width) / (cluster.memory / 2))
    other = rates.other_row + rates.other_feature * width
    per_row = n_owners * (rates.read_row + rates.map_row[name] + other) + rates.count_row[name]
    one = moved_bytes(width, n_held_out)
    levels = math.ceil(math.log2(W)) if W > 1 else 0
    link = one / cluster.bandwidth + rates.pack_byte * one
    return {
        "passes": n_owners,
        "core seconds": n_rows * per_row,
        "pass": n_rows / W * per_row / cluster.cores,
        # Dask: a tree, in which a tally crosses a link and is added at each level, then one to the driver.
        "tree": levels * (link + rates.add_byte * statistic_bytes(width)) + link,
        # Spark: every task sends its tiles, every reducer receives as many bytes as a tally has, and the driver one.
        "shuffle": 2 * link + rates.add_byte * statistic_bytes(width) + link,
        "solve": rates.solve[name] / cluster.cores,
        "bytes moved": W * one,
        "bytes of a tally": one,
        "memory of a worker": 2 * statistic_bytes(width) / n_owners + block_bytes(width),
        "memory of the driver": 2 * statistic_bytes(width) if width >= PACKED_FROM else 28 * width**2,
    }


def workers_worth_having(rates: Rates, n_rows: float, width: int) -> int:
    """Return the number of workers, a power of two, from which on adding and solving take longer than counting."""
    n_workers = 1
    while n_workers < MOST_WORKERS:
        found = predicted(rates, Cluster(n_workers), n_rows, width)
        if found["pass"] < found["tree"] + found["solve"]:
            break
        n_workers *= 2
    return n_workers


def predictions(rates: Rates) -> dict[str, Any]:
    """Return predictions for all clusters, and where more workers are hardly worth having."""
    numbers, widths = (10**9, 10**12), WIDTHS[1:]
    return {
        "predictions": [
            {"rows": n_rows, "components": width, "workers": n_workers}
            | predicted(rates, Cluster(n_workers), n_rows, width)
            for n_rows in numbers
            for width in widths
            for n_workers in (10, 100, 1000)
        ],
        "workers worth having": [
            {"rows": n_rows, "components": width, "workers": workers_worth_having(rates, n_rows, width)}
            for n_rows in numbers
            for width in widths
        ],
    }


# Rates of this machine.


def rate_of_reading() -> float:
    """Return the seconds to read a row of float32 columns from Parquet."""
    X, y = make_block(0, 65_536)
    with tempfile.TemporaryDirectory() as folder:
        values = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), COLUMNS)
        parquet.write_table(pa.table({"x": values, "label": y}), f"{folder}/rows.parquet", row_group_size=8192)
        stream = streams.open(f"{folder}/rows.parquet")
        return spent(lambda: sum(len(block.y) for block in stream.blocks())) / len(y)


def rates_of_width(width: int) -> tuple[float, float]:
    """Return the seconds to map a row, and to form the products of all columns."""
    X, y = make_block(0, max(1024, 2**24 // width))
    features = classifier(width).settle(X[:64], y[:64]).features_
    Z = features(X)
    mapping = spent(lambda: features(X, Z)) / len(X)
    if width < PACKED_FROM:
        whole = SquareGram(width)
        return mapping, spent(lambda: whole.add(Z)) / len(X)
    # The panels of one owner, whose share is known, where the whole does not fit beside other work.
    share = PanelGram(width, 0, max(1, width // 1024), packed=True)
    n_entries = sum(panel.size for panel in share.panels.values())
    return mapping, spent(lambda: share.add(Z)) / len(X) * (width * (width + 1) / 2) / n_entries


def rates_beside() -> tuple[float, float]:
    """Return the seconds of a row beside its map and its products, and how many more for each feature.

    Labels, hashes, checks and the other sums, at two widths below the one that is checked.
    """
    X, y = make_block(0)
    widths, found = (256, 1024), []
    for width in widths:
        model = classifier(width).settle(X, y)
        found.append(spent(partial(model.tally, X, y), 5) / len(y) - sum(rates_of_width(width)))
    slope = max(0.0, (found[1] - found[0]) / (widths[1] - widths[0]))
    return max(0.0, found[0] - slope * widths[0]), slope


def rates_of_tallies() -> tuple[float, float]:
    """Return the seconds to add a byte of a statistic, and to send and receive one beside the link."""
    X, y = make_block(0)
    model = classifier(CHECKED).settle(X, y)
    one, other = model.tally(X, y), model.tally(X, y)

    def add() -> None:
        nonlocal one
        one += other

    size = len(pickle.dumps(one, protocol=5))
    packing = spent(lambda: pickle.loads(pickle.dumps(one, protocol=5))) / size
    return spent(add) / statistic_bytes(CHECKED), packing


def seconds_of_solving() -> dict[str, Any]:
    """Return the seconds to choose alpha and solve, measured at small widths and continued by their power law."""
    measured: dict[bool, dict[int, float]] = {False: {}, True: {}}
    for packed, widths in ((False, (1024, 2048, 4096)), (True, (2048, 4096))):
        for width in widths:
            model = classifier(width, packed=packed, holdout_rows=2000)
            blocks = [make_block(seed) for seed in range(2)]
            model.settle(*blocks[0])
            tally = sum((model.tally(*block) for block in blocks[1:]), model.tally(*blocks[0]))
            measured[packed][width] = spent(partial(model.finish, tally), 1)
            say(f"solve, packed {packed}, {width}: {measured[packed][width]:.2f} s")
    found = {str(width): measured[False][width] for width in (2048, 4096)}
    powers = {packed: exponent(list(times), list(times.values())) for packed, times in measured.items()}
    for width in WIDTHS:
        if width >= PACKED_FROM:
            # A decomposition grows with the third power; conjugate gradients with the second.
            found[str(width)] = measured[True][4096] * (width / 4096) ** 3
    return {"seconds": found, "measured": {str(k): v for k, v in measured.items()}, "powers": str(powers)}


def calibrated() -> tuple[Rates, dict[str, Any]]:
    """Measure all rates, on one thread."""
    with threads(1):
        by_width = {}
        for width in WIDTHS:
            by_width[str(width)] = rates_of_width(width)
            say(
                f"E = {width}: map {1e6 * by_width[str(width)][0]:.1f}, products {1e6 * by_width[str(width)][1]:.1f} us"
            )
        adding, packing = rates_of_tallies()
        solving = seconds_of_solving()
        rates = Rates(
            rate_of_reading(),
            {name: mapping for name, (mapping, _) in by_width.items()},
            {name: counting for name, (_, counting) in by_width.items()},
            *rates_beside(),
            adding,
            packing,
            solving["seconds"],
        )
    return rates, solving


# Runs here.


def _memory_and_time() -> tuple[float, int]:
    import craftmaps.learners.partitions  # noqa: F401 - imports are no part of a fit

    return time.process_time(), peak_memory() or 0


def _sent(dask_worker: Any) -> int:
    log = dask_worker.transfer_outgoing_log
    return sum(entry["compressed"] for entry in log if not any("make_block" in str(key) for key in entry["keys"]))


def checked(rates: Rates, n_workers: int, n_blocks: int) -> dict[str, Any]:
    """Fit on Dask, and return what was measured beside what the model says."""
    from dask import delayed
    from distributed import Client, LocalCluster

    import craftmaps.dask

    n_held_out = 1000
    settings: dict[str, Any] = {"alphas": [1e-3], "cv": 2, "holdout_rows": n_held_out}
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):

        def fit(n: int, width: int = CHECKED) -> Any:
            blocks = [delayed(make_block)(seed) for seed in range(n)]
            return craftmaps.dask.fit(classifier(width, **settings), blocks, client=client)

        fit(2 * n_workers, 64)  # libraries are loaded, and loops compiled
        at_first = max(peak for _, peak in client.run(_memory_and_time).values())
        before, moved = client.run(_memory_and_time), sum(client.run(_sent).values())
        begun = time.perf_counter()
        n_rows = fit(n_blocks).n_rows_seen_
        wall = time.perf_counter() - begun
        after, moved = client.run(_memory_and_time), sum(client.run(_sent).values()) - moved
    making = spent(lambda: make_block(0))
    expected = predicted(rates, Cluster(n_workers, cores=1), n_rows, CHECKED, n_held_out)
    # Rows are made and not read, and a partition that is counted alone is added to the sum before it.
    seconds = expected["core seconds"] - n_rows * rates.read_row
    seconds += n_blocks * (making + rates.add_byte * statistic_bytes(CHECKED))
    return {
        "rows": n_rows,
        "processor seconds": sum(after[name][0] - before[name][0] for name in after),
        "processor seconds, predicted": seconds,
        "wall-clock seconds": wall,
        "bytes moved": moved,
        "bytes moved, predicted": expected["bytes moved"],
        "memory of a worker": max(peak for _, peak in after.values()) - at_first,
        "memory of a worker, predicted": expected["memory of a worker"],
    }


def main() -> None:
    """Measure, check, predict, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=24)
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    if options.again:
        results = json.loads(RESULTS.read_text())
        for n_workers, run in results["runs"].items():
            expected = predicted(Rates(**results["rates"]), Cluster(int(n_workers), cores=1), run["rows"], CHECKED)
            run["memory of a worker, predicted"] = expected["memory of a worker"]
        update_results(RESULTS, {"runs": results["runs"]} | predictions(Rates(**results["rates"])))
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        controls = [control(pool)]
        rates, solving = calibrated()
        runs = {str(n): checked(rates, n, options.blocks) for n in (1, 2)}
        controls.append(control(pool))
    for n, run in runs.items():
        say(f"{n} workers: {run}")
    update_results(
        RESULTS,
        {
            "columns": COLUMNS,
            "cluster": asdict(Cluster(0)) | {"n_workers": "10, 100, 1000"},
            "control": controls,
            "rates": asdict(rates),
            "solving": solving,
            "runs": runs,
            "environment": environment(),
        }
        | predictions(rates),
    )


if __name__ == "__main__":
    main()
