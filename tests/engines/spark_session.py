"""A Spark cluster of two executors, each a process of its own, for the tests of one session."""

import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# PySpark says so of every function that it is given, on pandas 3.
PANDAS = "ignore:PySpark does not yet fully support pandas:FutureWarning"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # a short run is over before more compilation pays
CONFIGURATION = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
    "spark.executorEnv.PYTHONPATH": str(ROOT / "src"),
    "spark.sql.shuffle.partitions": "2",
}


def needs_java() -> None:
    """Skip a test where Spark cannot start."""
    pytest.importorskip("pyspark", reason="pip install 'craftmaps[spark]'")
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and Path(home, "bin", "java").exists())):
        pytest.skip("Spark needs Java 17 or later, such as Debian's openjdk-17-jre-headless, and none was found.")


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    needs_java()
    import pyspark
    from pyspark.sql import SparkSession

    # Executors write below SPARK_HOME: a folder of links keeps them out of the installed package.
    home = tmp_path_factory.mktemp("spark_home")
    for name in ("bin", "jars", "sbin", "python"):
        (home / name).symlink_to(Path(pyspark.__file__).parent / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(home))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("craftmaps")
        session = builder.config(map=CONFIGURATION).getOrCreate()
        yield session
        session.stop()
