"""Fit on Spark against a local pass; results go to benchmarks/results/spark.json. Spark ML: competitors.py.

    python benchmarks/spark.py                                       # about five minutes; needs Java 17 or later
    python benchmarks/spark.py --rows 1500000 --rounds 2 --resume    # a pass of a minute, about seven minutes in all
    python benchmarks/spark.py --rows 20000 --rounds 1               # quickly, to see whether it works

On a cluster of two executors of one core each, in turns: a pass over the same Parquet file by a local `partial_fit` on
one thread, and by `craftmaps.spark.fit` with one task and with two. Kernel and penalty are given, so that the file is
read once and little but the pass is measured. Bytes shuffled are counted by Spark, and given in units of the tiles of
one Gram matrix.

Two processes that count to a number, against one, before and after a round, show what a second executor could gain at
best: below 1.8 the machine is busy with something else, and the round does not count. If none counts, overhead and
speed-up are withheld; the seconds of all rounds are kept. Results are written after every round; `--resume` goes on
from the rounds of the same number of rows and features that the file has.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from measuring import ROOT, environment, median_ratio, say, update_results
from pyarrow import parquet

from craftmaps import CraftClassifier, Polynomial, threads
from craftmaps import spark as craftmaps_spark
from craftmaps.least_squares.gram_tiles import TILE, n_tiles

RESULTS = Path(__file__).parent / "results" / "spark.json"
COLUMNS, GROUP_ROWS = 64, 10_000
FREE = 1.8  # what two processes must do more than one for a speed-up to mean something
COUNT = "import sys\nfor _ in range(20_000_000): pass"


def settings(n_components: int) -> dict[str, Any]:
    return {"kernel": Polynomial(3), "n_components": n_components, "metric": None, "cv": None, "alphas": 1e-3}


def write_rows(path: Path, n_rows: int) -> None:
    """Write random rows of float32, an array each, with labels 0 and 1."""
    rng = np.random.default_rng(0)
    schema = pa.schema({"features": pa.list_(pa.float32()), "label": pa.float64()})
    with parquet.ParquetWriter(path, schema) as writer:
        for _ in range(0, n_rows, GROUP_ROWS):
            X = rng.standard_normal((GROUP_ROWS, COLUMNS), dtype=np.float32)
            label = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(float)
            starts = np.arange(0, X.size + 1, COLUMNS, dtype=np.int32)
            features = pa.ListArray.from_arrays(starts, pa.array(X.ravel()))
            writer.write_table(pa.table([features, label], schema=schema))


def local_pass(path: Path, n_components: int) -> Any:
    """Learn from a file on one thread, without Spark."""
    model = CraftClassifier(**settings(n_components), random_state=0)
    with threads(1):
        for batch in parquet.ParquetFile(path).iter_batches(GROUP_ROWS):
            X = batch.column("features").flatten().to_numpy().reshape(batch.num_rows, -1)
            model.partial_fit(X, batch.column("label").to_numpy())
        return model.finish()


def started(folder: Path) -> Any:
    """Start a cluster of two executors."""
    import pyspark
    from pyspark.sql import SparkSession

    home = folder / "spark"
    home.mkdir()
    for name in ("bin", "jars", "sbin", "python"):  # executors write below SPARK_HOME
        (home / name).symlink_to(Path(pyspark.__file__).parent / name)
    os.environ |= {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    options = {
        "spark.log.level": "OFF",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.memory": "2g",
        "spark.executorEnv.PYTHONPATH": str(ROOT / "src"),
        "spark.sql.files.maxPartitionBytes": "4m",
    }
    return SparkSession.builder.master("local-cluster[2,1,2048]").config(map=options).getOrCreate()


def shuffled(spark: Any) -> int:
    """Return the bytes that all stages have shuffled so far."""
    context = spark.sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages?status=complete"
    with urllib.request.urlopen(address) as answer:
        return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))


def seconds(task: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    task()
    return time.perf_counter() - begun


def control() -> float:
    """Return by how much two processes do more than one."""

    def run(n: int) -> None:
        for process in [subprocess.Popen([sys.executable, "-c", COUNT]) for _ in range(n)]:
            process.wait()

    return 2 * seconds(lambda: run(1)) / seconds(lambda: run(2))


def compare_passes(
    spark: Any, folder: Path, n_rows: int, n_components: int, rounds: int, before: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Compare a local pass with passes on Spark, in turns; yield the result of all rounds after each of them."""
    path = folder / "rows.parquet"
    write_rows(path, n_rows)
    df = spark.read.parquet(str(path))

    def fit(n_tasks: int) -> Any:
        model = CraftClassifier(**settings(n_components), random_state=0)
        return craftmaps_spark.fit(model, df, features="features", label="label", n_tasks=n_tasks)

    names = {1: "spark, tasks: 1", 2: "spark, tasks: 2"}
    moved: dict[str, int] = {}

    def measured_fit(n_tasks: int) -> None:
        before = shuffled(spark)
        fit(n_tasks)
        moved[names[n_tasks]] = shuffled(spark) - before

    tasks = {"local partial_fit, 1 thread": lambda: local_pass(path, n_components)}
    tasks |= {name: lambda n_tasks=n_tasks: measured_fit(n_tasks) for n_tasks, name in names.items()}
    small = df.limit(1000).cache()  # starts the workers, which import and compile
    craftmaps_spark.fit(CraftClassifier(**settings(64)), small, features="features", label="label", n_tasks=2)
    spent: dict[str, list[float]] = before.get("seconds", {name: [] for name in tasks})
    controls = before.get("control", [])
    for _ in range(rounds - len(controls)):
        first = control()
        for name, task in tasks.items():
            spent[name].append(seconds(task))
            say(f"{name}: {spent[name][-1]:.1f} s")
        controls.append(min(first, control()))
        yield (
            {"rows": n_rows, "columns": COLUMNS, "components": n_components}
            | summary([spent[name] for name in tasks], controls, moved, 8 * TILE**2 * n_tiles(n_components))
            | {"seconds": spent}
        )


def summary(spent: list[list[float]], controls: list[float], moved: dict[str, int], tiles: int) -> dict[str, Any]:
    """Return medians over the rounds that count, or that they are withheld."""
    fair = [i for i, value in enumerate(controls) if value >= FREE]
    local, one, two = ([times[i] for i in fair] for times in spent)

    def unless_busy(ratio: Callable[[], float]) -> float | str:
        return ratio() if fair else "withheld: the machine was busy"

    return {
        "control": controls,
        "overhead of one task, by round": [round(a / b - 1, 4) for a, b in zip(spent[1], spent[0], strict=True)],
        "overhead of one task, median": unless_busy(lambda: median_ratio(one, local) - 1),
        "speed-up of two tasks": unless_busy(lambda: median_ratio(one, two)),
        "bytes shuffled": moved,
        "bytes of the tiles of a Gram matrix": tiles,
        "Gram matrices shuffled": {name: size / tiles for name, size in moved.items()},
    }


def main() -> None:
    """Start a cluster, compare, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=600_000)
    parser.add_argument("--components", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    before = json.loads(RESULTS.read_text())["passes"] if options.resume and RESULTS.exists() else {}
    if (before.get("rows"), before.get("components")) != (options.rows, options.components):
        before = {}
    about = environment() | {"pyspark": version("pyspark")}
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    with tempfile.TemporaryDirectory() as name:
        spark = started(Path(name))
        try:
            folder, rounds = Path(name), options.rounds
            for passes in compare_passes(spark, folder, options.rows, options.components, rounds, before):
                update_results(RESULTS, {"passes": passes, "environment": about})
                say(json.dumps(passes, indent=1))
        finally:
            spark.stop()


if __name__ == "__main__":
    main()
