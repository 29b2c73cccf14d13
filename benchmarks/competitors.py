"""Fits on clusters against Spark ML and dask-ml on the same features; results: benchmarks/results/competitors.json.

    python benchmarks/competitors.py                 # about three minutes; Spark needs Java 17 or later
    python benchmarks/competitors.py --only dask     # without Spark

One run, two worker processes of one core each on either engine, the same rows for all. craftmaps maps rows to features
while it fits. Spark ML and dask-ml are given features of the same map, which are computed and kept in the memory of the
workers beforehand, and not timed. Every model is scored on the same test rows; penalties are 1e-3 in the units of each
library, which differ, so errors show that the models are comparable and not which one is better.

- Spark ML: `LinearRegression` with the normal solver (on labels 0 and 1) and `LogisticRegression`. Without a BLAS
  library for Java they compute in Java, and Spark says so on standard error.
- dask-ml: `Incremental(SGDClassifier())`, which passes a model from block to block, one pass and ten. dask-ml is not
  among the extras of craftmaps: without `pip install dask-ml` the result says "not installed".

Everything is timed twice in turns, and the second time is reported: the first one starts workers and compiles loops. A
control that counts on one process and on two tells whether the machine was free: ratios are withheld below 1.8.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from measuring import environment, say, update_results
from pyarrow import parquet
from spark import FREE, control, settings, started

from craftmaps import CraftClassifier, CraftRegressor

RESULTS = Path(__file__).parent / "results" / "competitors.json"
COLUMNS, BLOCK_ROWS, TEST_ROWS = 64, 5_000, 5_000


class Rows(NamedTuple):
    """Rows with labels 0 and 1, their features, and test rows."""

    X: np.ndarray
    y: np.ndarray
    Z: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    Z_test: np.ndarray


def make_rows(n_rows: int, n_components: int) -> Rows:
    """Return random rows and their features by the map that craftmaps draws for them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows + TEST_ROWS, COLUMNS), dtype=np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(np.float64)
    train, test = slice(n_rows), slice(n_rows, None)
    features = CraftRegressor(**settings(n_components), random_state=0).settle(X[train], y[train]).features_
    return Rows(X[train], y[train], np.array(features(X[train])), X[test], y[test], np.array(features(X[test])))


class Fit(NamedTuple):
    """A fit to be timed, and how to get labels of test rows from what it returns."""

    run: Callable[[], Any]
    labels: Callable[[Any], np.ndarray]


@contextmanager
def dask_fits(rows: Rows, n_components: int) -> Iterator[dict[str, Fit | str]]:
    """Give the fits on a Dask cluster of two processes."""
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    import craftmaps.dask

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        chunks = (BLOCK_ROWS, -1)
        X, Z = (da.from_array(values, chunks=chunks).persist() for values in (rows.X, rows.Z))
        y = da.from_array(rows.y, chunks=BLOCK_ROWS).persist()
        wait([X, Z, y])

        def ours() -> Any:
            model = CraftClassifier(**settings(n_components), random_state=0)
            return craftmaps.dask.fit(model, X, y, client=client)

        fits: dict[str, Fit | str] = {
            "craftmaps.dask.fit(CraftClassifier)": Fit(ours, lambda model: model.predict(rows.X_test))
        }
        try:
            version("dask-ml")
        except PackageNotFoundError:
            yield fits | {"dask-ml Incremental(SGDClassifier), one pass": "not installed"}
            return
        from dask_ml.wrappers import Incremental
        from sklearn.linear_model import SGDClassifier

        def incremental(n_passes: int) -> Any:
            model = Incremental(SGDClassifier(loss="log_loss", random_state=0), shuffle_blocks=True, random_state=0)
            for _ in range(n_passes):
                model.partial_fit(Z, y, classes=[0.0, 1.0])
            return model

        for n_passes, name in ((1, "one pass"), (10, "ten passes")):
            fits[f"dask-ml Incremental(SGDClassifier), {name}"] = Fit(
                lambda n_passes=n_passes: incremental(n_passes),
                lambda model: np.asarray(model.estimator_.predict(rows.Z_test)),
            )
        yield fits


@contextmanager
def spark_fits(rows: Rows, n_components: int) -> Iterator[dict[str, Fit | str]]:
    """Give the fits on a Spark cluster of two executors."""
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.functions import array_to_vector
    from pyspark.ml.regression import LinearRegression

    from craftmaps import spark as craftmaps_spark

    with tempfile.TemporaryDirectory() as name:
        spark = started(Path(name))
        try:
            columns = {"x": list(rows.X), "z": list(rows.Z.astype(np.float64)), "label": rows.y}
            parquet.write_table(pa.table(columns), f"{name}/rows.parquet", row_group_size=1000)
            df = spark.read.parquet(f"{name}/rows.parquet")
            both = df.select("x", array_to_vector("z").alias("features"), "label").repartition(2).cache()
            both.count()

            def ours(kind: Any) -> Any:
                model = kind(**settings(n_components), random_state=0)
                return craftmaps_spark.fit(model, both, features="x", label="label")

            def of_weights(model: Any, threshold: float) -> np.ndarray:
                weights = getattr(model, "coefficients", None)
                return (rows.Z_test @ weights.toArray() + model.intercept > threshold).astype(float)

            linear = LinearRegression(solver="normal", regParam=1e-3, standardization=False)
            logistic = LogisticRegression(regParam=1e-3)
            yield {
                "craftmaps.spark.fit(CraftClassifier)": Fit(
                    lambda: ours(CraftClassifier), lambda model: model.predict(rows.X_test)
                ),
                "craftmaps.spark.fit(CraftRegressor)": Fit(
                    lambda: ours(CraftRegressor), lambda model: (model.predict(rows.X_test) > 0.5).astype(float)
                ),
                "Spark ML LinearRegression(solver='normal')": Fit(
                    lambda: linear.fit(both), lambda model: of_weights(model, 0.5)
                ),
                "Spark ML LogisticRegression": Fit(lambda: logistic.fit(both), lambda model: of_weights(model, 0.0)),
            }
        finally:
            spark.stop()


ENGINES = {"dask": dask_fits, "spark": spark_fits}


def measured(fits: dict[str, Fit | str], rows: Rows) -> dict[str, Any]:
    """Time all fits twice in turns, and score them; what cannot be run says why."""
    found: dict[str, Any] = {name: fit for name, fit in fits.items() if isinstance(fit, str)}
    for _ in range(2):
        for name, fit in fits.items():
            if isinstance(fit, str):
                continue
            begun = time.perf_counter()
            model = fit.run()
            seconds = time.perf_counter() - begun
            error = float((fit.labels(model) != rows.y_test).mean())
            found[name] = {"seconds": seconds, "test error": error}
            say(f"{name}: {seconds:.1f} s, {100 * error:.2f} %")
    return found


def main() -> None:
    """Run one engine after another, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=ENGINES)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--components", type=int, default=1024)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    rows, controls = make_rows(options.rows, options.components), [control()]
    found: dict[str, Any] = {}
    for engine in [options.only] if options.only else list(ENGINES):
        with ENGINES[engine](rows, options.components) as fits:
            found |= measured(fits, rows)
        controls.append(control())
    ours = {name: found[name]["seconds"] for name in found if name.startswith("craftmaps")}
    ratios: dict[str, Any] = {}
    for name, value in found.items():
        if isinstance(value, dict) and name not in ours:
            engine, kind = "dask" if "dask" in name else "spark", "Regressor" if "Linear" in name else "Classifier"
            ratios[name] = value["seconds"] / ours[f"craftmaps.{engine}.fit(Craft{kind})"]
    result = {
        "rows": options.rows,
        "columns": COLUMNS,
        "components": options.components,
        "control": controls,
        "fits": found,
        "seconds over those of craftmaps": ratios if min(controls) >= FREE else "withheld: the machine was busy",
    }
    try:
        versions = {"dask-ml": version("dask-ml")}
    except PackageNotFoundError:
        versions = {"dask-ml": "not installed"}
    versions |= {name: version(name) for name in ("pyspark", "dask")}
    update_results(RESULTS, result | {"environment": environment() | versions})
    say(str(result))


if __name__ == "__main__":
    main()
