"""The same on Spark Connect, where a driver talks to a server and has no other way to a cluster."""

import subprocess
import sys

import pytest

from tests.engines.spark_session import ROOT, set_up

SCRIPT = """
import sys
import warnings
import numpy as np
from pyspark.sql import SparkSession
from craftmaps import CraftClassifier, Polynomial
from craftmaps.spark import CraftClassifierSpark, CraftClassifierSparkModel, fit, predict
from tests.engines.spark_rows import SMALL, X, Y, assert_same, frame
from tests.engines.spark_session import CONFIGURATION

warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
spark = SparkSession.builder.remote("local[2]").config(map=CONFIGURATION).getOrCreate()
assert "connect" in type(spark).__module__
explicit = CraftClassifier(Polynomial(2), metric=None, **SMALL)
whole = CraftClassifier(Polynomial(2), metric=None, **SMALL).fit(X, Y)
df = frame(spark, 3)
stage = CraftClassifierSpark(estimator=explicit).fit(df)
assert_same(stage.learner, whole)
stage.save(sys.argv[1])
loaded = CraftClassifierSparkModel.load(sys.argv[1])
for found in (predict(whole, df, features="features"), loaded.transform(df)):
    labels = found.orderBy("at").select("prediction").toArrow()["prediction"].to_pylist()
    np.testing.assert_array_equal(labels, whole.predict(X))
try:
    fit(explicit, df.selectExpr("if(at = 7, null, features) x", "label"), features="x", label="label")
except ValueError as error:
    assert str(error) == "Partition 0, row 7: features must not be null.", error
else:
    raise AssertionError("rows that are null were not refused")
spark.stop()
"""


def test_connect(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        set_up(patch, tmp_path / "java")
        for module in ("grpc", "grpc_status", "zstandard"):
            pytest.importorskip(module, reason="Spark Connect needs grpcio and others: pip install 'pyspark[connect]'.")
        patch.setenv("PYTHONPATH", f"{ROOT / 'src'}", prepend=":")
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path / "model")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-3000:]
