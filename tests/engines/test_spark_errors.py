"""What cannot be learned on a cluster is refused in one sentence."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import craftmaps
from craftmaps import CraftClassifier, CraftRegressor, Polynomial
from tests.engines.spark_rows import SMALL, WEIGHT, Y, frame
from tests.engines.spark_rows import X as ROWS
from tests.engines.spark_session import PYSPARK_WARNINGS, spark  # noqa: F401 - a fixture

pytestmark = PYSPARK_WARNINGS
MODEL = CraftClassifier(Polynomial(2), metric=None, **SMALL)
COVARIANCE = CraftClassifier(Polynomial(2), metric="covariance", **SMALL)


def fit(df, model=MODEL, features="features", label="label", **options):
    from craftmaps import spark as craftmaps_spark

    return craftmaps_spark.fit(model, df, features=features, label=label, **options)


def test_a_number_that_is_none_is_named_by_partition_and_row(spark):  # noqa: F811
    rows = ROWS.copy()
    rows[250, 3] = np.nan
    df = frame(spark, 4, X=rows)
    sizes = df.selectExpr("spark_partition_id() p").groupBy("p").count().orderBy("p").collect()
    ends = np.cumsum([row["count"] for row in sizes])
    partition = int(np.searchsorted(ends, 250, side="right"))
    row = 250 - ends[partition - 1]
    for model in (MODEL, COVARIANCE):  # in the only pass, and in the first one
        with pytest.raises(ValueError, match=f"^Partition {partition}, row {row}: Input X contains NaN.$"):
            fit(df, model)


def with_null(values, row, value=None):
    values = list(values)
    values[row] = value
    return pa.array(values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": with_null(ROWS, 7)}, "features must not be null."),
        ({"X": with_null(ROWS, 7, [1.0])}, "features must have 5 numbers, got 1."),
        ({"X": with_null(ROWS, 7, [1.0, 2.0, None, 3.0, 4.0])}, "Input X contains NaN."),
        ({"X": with_null(ROWS, 7, [1.0, 2.0, np.inf, 3.0, 4.0])}, "Input X contains infinity"),
        ({"y": with_null(Y.tolist(), 7)}, "label must not be null."),
        ({"weight": with_null(WEIGHT, 7)}, "sample_weight must be 400 finite numbers, none negative"),
        ({"weight": with_null(WEIGHT, 7, -1.0)}, "sample_weight must be 400 finite numbers, none negative"),
    ],
)
@pytest.mark.parametrize("batch_rows", [3, 400])
def test_rows_that_cannot_be_learned_from(change, message, batch_rows):
    """In any batch of a task, and in a partition that begins in the middle of one."""
    pytest.importorskip("pyspark")
    from craftmaps.learners.partitions import prepared
    from craftmaps.spark.passes import survey_rows
    from craftmaps.spark.rows import blocks

    place = np.r_[np.arange(5) + (2 << 33), np.arange(395) + (3 << 33)]
    columns = {"X": pa.array(list(ROWS)), "y": pa.array(Y), "place": pa.array(place), "weight": pa.array(WEIGHT)}
    batches = pa.table(columns | change).combine_chunks().to_batches(batch_rows)
    with pytest.raises(ValueError, match=f"^Partition 3, row 2: {message}"):
        list(survey_rows(iter(batches), 1, blocks, prepared(MODEL)))


def test_no_row_has_a_weight(spark):  # noqa: F811
    with pytest.raises(ValueError, match=r"^There must be at least one row with a positive weight, got none.$"):
        fit(frame(spark, 2, weight=np.zeros(400)), weight="weight")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"features": "text"},
            TypeError,
            "features must be a column of vectors .* got the column 'text' of type string",
        ),
        ({"features": ["x", "text"]}, TypeError, "features must be of numeric columns, got the column 'text'"),
        ({"features": []}, TypeError, r"features must be a column or a list of columns, got \[\]"),
        ({"features": "nothing"}, ValueError, "features must name columns of df, got 'nothing'"),
        ({"features": 3}, TypeError, "features must be a column or a list of columns, got 3"),
        ({"weight": "text"}, TypeError, "weight must be of numeric columns, got the column 'text'"),
        ({"n_tasks": 0}, ValueError, "n_tasks must be an integer of at least 1, got 0"),
        ({"memory_limit": "1GB"}, ValueError, "memory_limit must be an integer of at least 1, got '1GB'"),
        ({"model": CraftClassifier(cv=[([0], [1])])}, TypeError, "cv must be an int or None .* got list"),
        ({"model": CraftClassifier(n_components=0)}, ValueError, "n_components"),
    ],
)
def test_bad_arguments(spark, options, error, message):  # noqa: F811
    df = spark.createDataFrame([([1.0], 0, "a", 1.0)], "features array<double>, label int, text string, x double")
    with pytest.raises(error, match=message):
        fit(df, **options)


def test_a_query_that_is_not_deterministic(spark, tmp_path):  # noqa: F811
    def fewer_rows(batches):
        number = len(list(tmp_path.iterdir()))
        (tmp_path / str(number)).touch()
        for batch in batches:
            yield batch.slice(3 * number)

    df = frame(spark, 1)
    with pytest.warns(UserWarning, match="df had 400 rows when it was first read, and then 397: cache it"):
        fit(df.mapInArrow(fewer_rows, df.schema), COVARIANCE, n_tasks=1)


def test_a_worker_with_another_version(spark, monkeypatch):  # noqa: F811
    monkeypatch.setattr(craftmaps, "__version__", "0.0.0")
    with pytest.raises(RuntimeError, match=r"^The worker on .* has craftmaps \d.*, the driver has 0.0.0: install the"):
        fit(frame(spark, 2))


@pytest.mark.parametrize("module", ["numba", "craftmaps"])
def test_a_worker_that_lacks_a_module(module):
    """The function that a worker is sent must load without this library, and say what is missing."""
    pytest.importorskip("pyspark")
    from pyspark import cloudpickle

    from craftmaps.spark.workers import on_workers

    sent = cloudpickle.dumps(on_workers(iter))
    script = f"""if True:
        import pickle, sys
        sys.modules[{module!r}] = None  # importing it fails
        from pyspark import cloudpickle
        row, = next(pickle.loads({sent!r})(iter([]))).to_pylist()
        print(pickle.loads(row["data"]))
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert f"cannot import {module}: install craftmaps {craftmaps.__version__} there." in done.stdout


def test_predictions_are_refused_early(spark):  # noqa: F811
    from craftmaps.spark import predict

    model = CraftRegressor(Polynomial(2), metric=None, **SMALL).fit(ROWS, ROWS[:, 0])
    with pytest.raises(TypeError, match="probability must be None for a CraftRegressor, got 'p'"):
        predict(model, frame(spark, 1), features="features", probability="p")
