"""`craftmaps train --dask` and `--spark`: workers read the files, and the model is that of a run without a cluster."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from craftmaps import CraftClassifier, Polynomial, load_model, load_tally, streams
from craftmaps.learners.partitions import settled_on_first, to_ship
from tests.cli.running import PLAIN, run, run_json
from tests.engines.spark_session import set_up

ROOT = Path(__file__).resolve().parents[2]
AUTOMATIC = ("--components", "32", "--alpha", "1e-4", "--alpha", "1e-2")


def table(n_rows=6000, seed=0):
    """Return rows with a category, text with line ends, missing numbers, weights, and a label that is rare at first."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 3))
    label = np.digitize(x[:, 0] * x[:, 1], [-0.5, 0.5])
    label[-20:] = 3
    missing = np.where(rng.random(n_rows) < 0.02, np.nan, x[:, 2])
    words = np.array(["red", 'a "fine"\nblue', "green, dark"])[rng.integers(0, 3, n_rows)]
    columns = {"a": x[:, 0], "b": x[:, 1], "c": missing, "colour": words, "w": rng.integers(0, 3, n_rows).astype(float)}
    return pa.table(columns | {"label": np.array(["one", "two", "three", "four"])[label]})


def write(folder, format):
    rows = table()
    if format == "parquet":
        pa.parquet.write_table(rows, folder / "rows.parquet", row_group_size=700)
        return folder / "rows.parquet"
    if format == "csv":
        pa.csv.write_csv(rows, folder / "rows.csv")
        return folder / "rows.csv"
    for i in range(5):
        pa.feather.write_feather(rows.slice(1200 * i, 1200), folder / f"{i}.feather")
    return folder / "*.feather"


def assert_same_files(one, other, rows):
    """Assert that two runs held out the same rows, chose the same, and predict the same but for rounding."""
    mine, theirs = (load_tally(f"{name}.tally") for name in (one, other))
    np.testing.assert_array_equal(mine.held_out.sample.hashes, theirs.held_out.sample.hashes)
    np.testing.assert_array_equal(mine.held_out.spent.hashes, theirs.held_out.spent.hashes)
    assert (mine.n_rows, mine.classes.tolist()) == (theirs.n_rows, theirs.classes.tolist())
    assert not mine.features.difference(theirs.features)
    gram = np.tril(theirs.statistic.gram)
    # Products of float32 features are rounded block by block.
    np.testing.assert_allclose(np.tril(mine.statistic.gram), gram, rtol=0, atol=1e-6 * gram.max())
    models = [load_model(f"{name}.craft") for name in (one, other)]
    assert repr(models[0].choices_) == repr(models[1].choices_)
    np.testing.assert_allclose(models[0].alpha_, models[1].alpha_, rtol=1e-5)
    first, second = (model.predict_proba(rows) for model in models)
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-3)


def train(path, out, *options):
    return run_json("train", path, "--out", f"{out}.craft", "--tally", f"{out}.tally", *options)


@pytest.mark.parametrize("format", ["parquet", "csv", "feather"])
def test_the_model_of_dask_is_that_of_a_local_run(client, tmp_path, format):
    path, address = write(tmp_path, format), client.scheduler.address
    options = ("--weight", "w", "--test-share", "0.2", *AUTOMATIC)
    here, there = train(path, tmp_path / "here", *options), train(path, tmp_path / "there", *options, "--dask", address)
    rows = table(500, seed=1).drop_columns(["w", "label"]).to_pandas()
    assert_same_files(tmp_path / "there", tmp_path / "here", rows)
    for name in ("error", "rows"):
        assert there["test"][name] == pytest.approx(here["test"][name], abs=2e-3)
    assert there["seconds"].keys() == here["seconds"].keys()


def test_progress_is_told(client, tmp_path):
    path, address = write(tmp_path, "parquet"), client.scheduler.address
    result = run("train", path, "--out", tmp_path / "m.craft", *PLAIN, "--drop", "w", "--dask", address)
    assert re.match(r"Learning: [2-9] parts of files on 2 workers\n", result.stderr)
    assert "Learning: 6,000 rows in" in result.stderr


def test_parts_that_are_done_are_told_once(client, tmp_path):
    from craftmaps.dask.files import DaskEngine
    from craftmaps.learners.counting import Counting
    from craftmaps.streams.file_parts import parts_of

    parts = parts_of(streams.open(write(tmp_path, "parquet"), drop=["w"]), 10_000)
    model = CraftClassifier(Polynomial(2), 16, metric=None, random_state=0)
    settled, told = settled_on_first(model, ((block.X, block.y) for block in parts[0])), []
    tally = DaskEngine(client).tally(Counting(to_ship(settled)), parts, lambda *part: told.append(part))
    assert tally.n_rows == 6000
    # Events come on their own way: the last ones may be late.
    assert 0 < len({number for number, _ in told}) == len(told) <= len(parts)
    assert all(n_rows in (700, 6000 % 700) for _, n_rows in told)


def test_regression_from_numbers(client, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", X[:, 0] * X[:, 1])
    options = ("--regression", *PLAIN)
    run("train", tmp_path / "X.npy", "--out", tmp_path / "here.craft", *options)
    run("train", tmp_path / "X.npy", "--out", tmp_path / "there.craft", *options, "--dask", client.scheduler.address)
    here, there = (load_model(tmp_path / f"{name}.craft") for name in ("here", "there"))
    assert there.n_rows_seen_ == here.n_rows_seen_ == 3000
    np.testing.assert_allclose(there.predict(X), here.predict(X), rtol=0, atol=1e-3)


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            ("--dask", "tcp://127.0.0.1:{port}"),
            1,
            "No Dask scheduler answers at 'tcp://127.0.0.1:{port}': Connection ref",
        ),
        (("--dask", "somewhere"), 2, "--dask must be an address such as tcp://host:8786, or local:N, got 'somewhere'."),
        (("--dask", "local:0"), 2, "--dask must be local:N with 1 to 9999 worker processes, got 'local:0'."),
        (
            ("--spark", "spark://127.0.0.1:{port}"),
            1,
            "No Spark master answers at 'spark://127.0.0.1:{port}': Connection",
        ),
        (
            ("--spark", "sc://127.0.0.1:{port}"),
            1,
            "No Spark master answers at 'sc://127.0.0.1:{port}': Connection refused.",
        ),
        (
            ("--spark", "cluster"),
            2,
            "--spark must be a master such as local[4], spark://host:7077 or yarn, or sc://host",
        ),
        (("--dask", "local", "--spark", "local[2]"), 2, "--dask and --spark must not both be given."),
        (("--dask", "local", "--max-rows", "5"), 2, "it cannot be combined with --max-rows."),
        (("--spark", "yarn", "--checkpoint", "folder"), 2, "it cannot be combined with --checkpoint."),
    ],
)
def test_clusters_that_cannot_be_used(tmp_path, options, code, message):
    pytest.importorskip("pyspark")
    pytest.importorskip("distributed")
    port = free_port()
    options = [word.format(port=port) for word in options]
    path = write(tmp_path, "parquet")
    result = run("train", path, "--out", tmp_path / "m.craft", *PLAIN, *options, code=code)
    assert message.format(port=port) in " ".join(result.stderr.split())
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "m.craft").exists()


@pytest.mark.parametrize(("module", "option"), [("distributed", "dask"), ("pyspark", "spark")])
def test_an_extra_that_is_missing(tmp_path, monkeypatch, module, option):
    for name in [name for name in sys.modules if name.startswith(f"craftmaps.{option}")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    path = write(tmp_path, "parquet")
    result = run(
        "train",
        path,
        "--out",
        tmp_path / "m.craft",
        *PLAIN,
        f"--{option}",
        "local[2]" * (option == "spark") or "local",
        code=1,
    )
    assert f"pip install 'craftmaps[{option}]'" in result.stderr


def test_without_java(tmp_path, monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    path = write(tmp_path, "parquet")
    result = run("train", path, "--out", tmp_path / "m.craft", *PLAIN, "--spark", "local[2]", code=1)
    assert f"Spark needs Java 17 or later, and none is in JAVA_HOME, {tmp_path}" in result.stderr


def test_a_bad_row_is_named(client, tmp_path):
    path = write(tmp_path, "csv")
    lines = path.read_text().splitlines(keepends=True)
    lines[-3] = lines[-3].replace(lines[-3].split(",")[0], "oops", 1)
    path.write_text("".join(lines))
    result = run("train", path, "--out", tmp_path / "m.craft", *PLAIN, "--dask", client.scheduler.address, code=1)
    assert "oops" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_scheduler_without_workers_and_workers_of_another_version(client, tmp_path):
    import craftmaps

    path, here, address = write(tmp_path, "parquet"), craftmaps.__version__, next(iter(client.nthreads()))

    def set_version(version):
        import craftmaps

        craftmaps.__version__ = version

    client.run(set_version, "9.0", workers=[address])
    try:
        result = run("train", path, "--out", tmp_path / "m.craft", *PLAIN, "--dask", client.scheduler.address, code=1)
    finally:
        client.run(set_version, here, workers=[address])
    assert f"Workers must have craftmaps {here} as here, but {address} has 9.0." in result.stderr


def in_process(*arguments, **environment):
    """Run the program in a process of its own; return what it printed on standard output and error."""
    script = "import sys\nfrom craftmaps.cli import main\nif __name__ == '__main__':\n    main()"
    program = Path(arguments[0])
    program.write_text(script)
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")} | environment,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_worker_processes_here(tmp_path):
    """A cluster of two processes that the program starts and ends."""
    pytest.importorskip("distributed")
    path, options = write(tmp_path, "csv"), (*AUTOMATIC, "--drop", "w")
    train(path, tmp_path / "here", *options)
    out = ("--out", tmp_path / "there.craft", "--tally", tmp_path / "there.tally")
    in_process(tmp_path / "program.py", "train", path, *out, *options, "--dask", "local:2")
    rows = table(500, seed=1).drop_columns(["w", "label"]).to_pandas()
    assert_same_files(tmp_path / "there", tmp_path / "here", rows)


def test_a_session_of_spark(tmp_path, monkeypatch):
    java = tmp_path / "java"
    java.mkdir()
    set_up(monkeypatch, java)
    path, options = write(tmp_path, "csv"), (*AUTOMATIC, "--drop", "w", "--test-share", "0.2")
    here = train(path, tmp_path / "here", *options)
    out = ("--out", tmp_path / "there.craft", "--tally", tmp_path / "there.tally", "--json")
    done = in_process(tmp_path / "program.py", "train", path, *out, *options, "--spark", "local[2]")
    rows = table(500, seed=1).drop_columns(["w", "label"]).to_pandas()
    assert_same_files(tmp_path / "there", tmp_path / "here", rows)
    assert json.loads(done.stdout)["test"]["rows"] == here["test"]["rows"]
    assert "parts of files on 2 workers" in done.stderr


def test_an_interrupted_run_ends_its_workers(tmp_path):
    pytest.importorskip("distributed")
    path, program = tmp_path / "rows.csv", tmp_path / "program.py"
    pa.csv.write_csv(table(60_000), path)
    program.write_text("from craftmaps.cli import main\nif __name__ == '__main__':\n    main()")
    arguments = ["train", path, "--out", tmp_path / "m.craft", *PLAIN, "--drop", "w", "--dask", "local:2"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "CRAFTMAPS_TEST_RUN": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, program, *map(str, arguments)], stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        line = process.stderr.readline()
        assert "parts of files on 2 workers" in line
        assert len(marked(tmp_path)) >= 3
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "craftmaps: Interrupted: nothing was kept."
    deadline = time.monotonic() + 300
    while marked(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not marked(tmp_path)
    assert not (tmp_path / "m.craft").exists()


def marked(folder):
    """Return the processes of a run, by a variable of their environment."""
    mark, found = f"CRAFTMAPS_TEST_RUN={folder}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
