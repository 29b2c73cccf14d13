"""A fit on a Spark cluster gives the model that a local fit on the same rows gives."""

import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from craftmaps import CraftClassifier, CraftRegressor, Polynomial
from tests.engines.spark_rows import NUMBERS, RNG, SMALL, WEIGHT, Y, assert_same, frame
from tests.engines.spark_rows import X as ROWS
from tests.engines.spark_session import PYSPARK_WARNINGS, spark  # noqa: F401 - a fixture

pytestmark = PYSPARK_WARNINGS
EXPLICIT = SMALL | {"kernel": Polynomial(2), "metric": None}


def fit(*arguments, features="features", label="label", **options):
    from craftmaps import spark as craftmaps_spark

    return craftmaps_spark.fit(*arguments, features=features, label=label, **options)


@pytest.mark.parametrize("n_partitions", [1, 2, 4, 7])
def test_any_number_of_partitions(spark, n_partitions):  # noqa: F811
    df = frame(spark, n_partitions, RNG.permutation(400))
    assert df.select("label").distinct().count() == 3
    assert_same(fit(CraftClassifier(**EXPLICIT), df), CraftClassifier(**EXPLICIT).fit(ROWS, Y))


def test_automatic_choices(spark):  # noqa: F811
    model = fit(CraftClassifier(**SMALL), frame(spark, 4, RNG.permutation(400)))
    assert model.loss_ == "logistic"
    assert_same(model, CraftClassifier(**SMALL).fit(ROWS, Y))


def test_what_needs_all_rows(spark):  # noqa: F811
    settings = EXPLICIT | {"class_weight": "balanced", "loss": "logistic"}
    df = frame(spark, 4, np.argsort(Y, kind="stable"), weight=WEIGHT)
    model = fit(CraftClassifier(**settings), df, weight="weight")
    assert_same(model, CraftClassifier(**settings).fit(ROWS, Y, WEIGHT))


def test_as_many_tasks_as_asked_for(spark):  # noqa: F811
    settings = SMALL | {"kernel": Polynomial(5), "metric": "covariance", "feature_map": "landmarks"}
    model = fit(CraftClassifier(**settings), frame(spark, 4), n_tasks=4)
    assert_same(model, CraftClassifier(**settings).fit(ROWS, Y))


def test_a_label_in_one_partition_only_and_empty_partitions(spark):  # noqa: F811
    labels, order = Y.copy(), np.argsort(Y, kind="stable")
    labels[order[:3]] = "w"
    df = frame(spark, 7, order, label=labels).where("spark_partition_id() not in (2, 3, 5)")
    places = df.selectExpr("spark_partition_id() p", "label", "at").collect()
    assert {row.p for row in places} == {0, 1, 4, 6}
    assert {row.p for row in places if row.label == "w"} == {0}
    kept = order[[row["at"] for row in places]]
    whole = CraftClassifier(**EXPLICIT).fit(ROWS[kept], labels[kept])
    assert_same(fit(CraftClassifier(**EXPLICIT), df, n_tasks=7), whole)


def test_one_partition_a_hundred_times_larger(spark):  # noqa: F811
    df = frame(spark, 1)
    df = df.where("at < 4").unionByName(df.where("at >= 4"))
    assert_same(fit(CraftClassifier(**EXPLICIT), df, n_tasks=2), CraftClassifier(**EXPLICIT).fit(ROWS, Y))


def test_vectors_with_numeric_labels(spark):  # noqa: F811
    from pyspark.ml.functions import array_to_vector

    numbers = np.searchsorted(["x", "y", "z"], Y)
    df = frame(spark, 2, label=numbers).withColumn("features", array_to_vector("features"))
    model = fit(CraftClassifier(**EXPLICIT), df)
    assert_same(model, CraftClassifier(**EXPLICIT).fit(ROWS, numbers))
    assert model.classes_.tolist() == [0, 1, 2]


def test_several_columns_and_weights(spark):  # noqa: F811
    columns = {f"x{i}": values for i, values in enumerate(ROWS.T)}
    df = frame(spark, 3, RNG.permutation(400), label=NUMBERS, weight=WEIGHT, **columns)
    model = fit(CraftRegressor(**EXPLICIT), df, features=list(columns), weight="weight")
    assert_same(model, CraftRegressor(**EXPLICIT).fit(ROWS, NUMBERS, WEIGHT))


def test_single_precision_and_several_targets(spark):  # noqa: F811
    rows, targets = ROWS.astype(np.float32), np.column_stack([NUMBERS, -ROWS[:, 2]])
    df = frame(spark, 3, X=rows, first=targets[:, 0], second=targets[:, 1])
    model = fit(CraftRegressor(**EXPLICIT), df, label=["first", "second"])
    whole = CraftRegressor(**EXPLICIT).fit(rows, targets)
    assert model.features_(rows).dtype == np.float32
    np.testing.assert_array_equal(model.tally_.held_out.sample.hashes, whole.tally_.held_out.sample.hashes)
    # Rounding errors of features are as large in any order of the rows, and more in weights than in predictions.
    np.testing.assert_allclose(model.predict(rows), whole.predict(rows), atol=2e-5)


@pytest.mark.parametrize("packed", [False, True])
def test_a_triangle_of_several_tiles(spark, packed):  # noqa: F811
    settings = EXPLICIT | {"n_components": 1100, "packed": packed}
    model = fit(CraftClassifier(**settings), frame(spark, 3))
    whole = CraftClassifier(**settings).fit(ROWS, Y)
    assert model.tally_.statistic.packed == packed
    assert model.n_rows_seen_ == 400
    mine, theirs = (np.tril(one.tally_.statistic.gram) for one in (model, whole))
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=(1e-6 if packed else 1e-14) * theirs.max())


@pytest.mark.parametrize("packed", [False, True])
def test_columns_that_do_not_fit_a_task_are_counted_one_share_after_another(spark, caplog, packed):  # noqa: F811
    settings = EXPLICIT | {"n_components": 1300, "packed": packed}
    whole = CraftClassifier(**settings).fit(ROWS, Y)
    n_bytes = sys.getsizeof(whole.tally_)
    with caplog.at_level("INFO", "craftmaps.spark"):
        model = fit(CraftClassifier(**settings), frame(spark, 3), memory_limit=n_bytes // 2)
    assert re.search("in 2 tasks, in [23] passes", caplog.text)
    found, expected = (np.tril(one.tally_.statistic.gram) for one in (model, whole))
    np.testing.assert_allclose(found, expected, rtol=0, atol=(1e-6 if packed else 1e-14) * expected.max())
    if not packed:  # coefficients from sums in single precision depend on their order
        assert_same(model, whole)
    with pytest.raises(ValueError, match=r"Workers must have .* bytes for tallies of 1300 features, got 1,000"):
        fit(CraftClassifier(**settings), frame(spark, 3), memory_limit=1000)


def counting_readings(folder):
    """Return a function for `mapInArrow` that leaves a file for each time that a partition is read to its end."""

    def run(batches):
        yield from batches
        Path(folder, str(time.time_ns())).touch()

    return run


def test_rows_are_read_once_where_nothing_depends_on_them(spark, tmp_path):  # noqa: F811
    for name, settings in {"once": EXPLICIT, "twice": EXPLICIT | {"metric": "covariance"}}.items():
        folder = tmp_path / name
        folder.mkdir()
        df = frame(spark, 3)
        fit(CraftClassifier(**settings), df.mapInArrow(counting_readings(str(folder)), df.schema))
    once, twice = (len(list((tmp_path / name).iterdir())) for name in ("once", "twice"))
    assert twice == 6
    assert 3 <= once <= 4  # the survey of one row leaves off in the first partition, or at its end


def test_tasks_send_their_share_of_the_held_out_sample():
    """The rows of all tasks together are hardly more than those of the sample."""
    pytest.importorskip("pyspark")
    from craftmaps.learners.counting import Counting
    from craftmaps.learners.partitions import prepared, settled_on, survey_part, to_ship
    from craftmaps.spark import passes
    from craftmaps.spark.messages import received, rows_of

    rows = np.random.default_rng(0).normal(size=(4000, 5))
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    model = CraftClassifier(**EXPLICIT | {"metric": "covariance", "holdout_rows": 50})
    model.settle_rows = 50
    ready = prepared(model)
    found = survey_part(ready, rows, labels)
    counting = Counting(to_ship(settled_on(ready, found)), found.theta)

    class Block(NamedTuple):
        values: tuple

    kept = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "task_number", lambda: 0)
        for part in np.array_split(np.arange(4000), 8):
            batches = passes.tally_rows(iter([]), 1, lambda *_: iter([Block((rows[part], labels[part]))]), counting)  # noqa: B023
            *_, last = received(rows_of(batches))
            kept += last.value.held_out.sample.hashes.size
    assert 50 <= kept <= 100


def test_an_executor_is_killed_in_the_middle_of_the_pass(spark, tmp_path):  # noqa: F811
    def killing_once(batches):
        # A row of partition 1 passes: the first time in the survey, the second time in the pass that is interrupted.
        for batch in batches:
            yield batch
            if "x" not in batch.column("label").to_pylist():
                continue
            times = len(list(tmp_path.iterdir()))
            Path(tmp_path, str(times)).touch()
            if times == 1:
                daemon = os.getppid()
                executor = int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])
                os.kill(executor, signal.SIGKILL)

    df = frame(spark, 2, np.argsort(Y, kind="stable"))
    df = df.mapInArrow(killing_once, df.schema)
    settings = EXPLICIT | {"metric": "covariance"}
    model = fit(CraftClassifier(**settings), df)
    assert len(list(tmp_path.iterdir())) > 2  # the partition was read again
    assert_same(model, CraftClassifier(**settings).fit(ROWS, Y))
