"""What `predict` writes: probabilities that sum to one, names of rows, and CSV to standard output."""

import io
import os
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from craftmaps import CraftClassifier, load_model
from craftmaps.scores.probabilities import rounded
from tests.cli.running import PLAIN, example_rows, example_table, run, trained

FLOAT_SPACING = 2.0**-24  # of float32 below one


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    trained(folder, n_rows=600, labels=np.arange(600) % 20)
    return folder


def test_written_probabilities_sum_to_one(folder, tmp_path):
    for name in ("p.csv", "p.parquet", "p.npy"):
        run("predict", folder / "model.craft", folder / "train.parquet", "--out", tmp_path / name, "--probabilities")
    lines = (tmp_path / "p.csv").read_text().splitlines()[1:]
    # Decimals as they are written, without rounding.
    assert {sum(map(Decimal, line.split(",")[1:])) for line in lines} == {Decimal(1)}
    table = np.column_stack(pa.parquet.read_table(tmp_path / "p.parquet").columns[1:])
    array = np.load(tmp_path / "p.npy")
    assert array.dtype == np.float32
    assert np.array_equal(table, array)
    assert np.abs(array.astype(np.float64).sum(axis=1) - 1).max() <= FLOAT_SPACING / 2


@pytest.mark.parametrize("n_classes", [2, 3, 10, 1000])
@pytest.mark.parametrize("spread", [0.0, 1.0, 10.0])
def test_rounding_moves_probabilities_little(n_classes, spread):
    odds = np.random.default_rng(0).normal(scale=spread, size=(200, n_classes))
    exact = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    near = rounded(exact.astype(np.float32))
    assert np.abs(near.astype(np.float64).sum(axis=1) - 1).max() <= FLOAT_SPACING / 2
    assert np.abs(near - exact).max() < 1e-6
    assert (near > 0).all()
    written = rounded(exact.astype(np.float32), decimals=9)
    units = written * 1e9
    assert np.abs(units - units.round()).max() < 1e-6
    assert (units.round().sum(axis=1) == 1e9).all()
    assert np.array_equal(written.argmax(axis=1), exact.argmax(axis=1)) or spread == 0


def test_standard_output_is_the_csv_file(folder, tmp_path):
    arguments = ["predict", folder / "model.craft", folder / "train.parquet", "--probabilities"]
    run(*arguments, "--out", tmp_path / "p.csv")
    result = run(*arguments, "--out", "-")
    assert result.stdout == (tmp_path / "p.csv").read_text()
    assert "Predicting: 600 rows" in result.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "p.csv"]


def test_a_reader_that_goes_ends_the_program_silently(folder):
    code = "from craftmaps.cli import main; main()"
    arguments = ["predict", folder / "model.craft", folder / "train.parquet", "--probabilities", "--out", "-"]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing) as closed:
        result = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)], stdout=closed, stderr=subprocess.PIPE, text=True
        )
    assert result.returncode == 1
    assert result.stderr == ""


@pytest.mark.parametrize("ids", [np.arange(240) + 10**12, [f"row {i}, {i % 3}" for i in range(240)]])
def test_names_of_rows_come_first(folder, tmp_path, ids):
    table = example_table().add_column(2, "name", pa.array(ids))
    pa.parquet.write_table(table, tmp_path / "named.parquet")
    run("train", tmp_path / "named.parquet", "--drop", "name", "--out", tmp_path / "m.craft", *PLAIN)
    for suffix in ("csv", "parquet"):
        out = tmp_path / f"p.{suffix}"
        run(
            "predict", tmp_path / "m.craft", tmp_path / "named.parquet", "--out", out, "--id", "name", "--batch-rows", 9
        )
        written = pa.parquet.read_table(out) if suffix == "parquet" else pa.csv.read_csv(out)
        assert written.column_names == ["name", "prediction"]
        assert written["name"].to_pylist() == list(ids)
    printed = run("predict", tmp_path / "m.craft", tmp_path / "named.parquet", "--out", "-", "--id", "name").stdout
    assert pa.csv.read_csv(io.BytesIO(printed.encode()))["name"].to_pylist() == list(ids)


@pytest.mark.parametrize("labels", [np.arange(240) % 4, np.arange(240) % 2, ["no", "yes"] * 120])
def test_rows_are_mapped_once_for_predictions_probabilities_and_scores(tmp_path, monkeypatch, labels):
    model, data = trained(tmp_path, labels=labels)
    learned = load_model(model)
    X = example_rows()[0].astype(np.float32)
    expected = learned.predict(X), learned.predict_proba(X), learned.decision_function(X)
    outcomes, n_mapped = CraftClassifier._outcomes, []

    def counted(model, X):
        n_mapped.append(X.shape[0])
        return outcomes(model, X)

    def refused(model, X):
        pytest.fail("the rows are mapped once more")

    for name in ("predict", "predict_proba", "decision_function"):
        monkeypatch.setattr(CraftClassifier, name, refused)
    monkeypatch.setattr(CraftClassifier, "_outcomes", counted)
    run("predict", model, data, "--out", tmp_path / "p.parquet", "--probabilities", "--scores", "--batch-rows", 100)
    assert n_mapped == [100, 100, 40]
    table = pa.parquet.read_table(tmp_path / "p.parquet")
    n_classes = learned.classes_.size
    assert table["prediction"].to_pylist() == expected[0].tolist()
    np.testing.assert_allclose(np.column_stack(table.columns[1 : 1 + n_classes]), expected[1], rtol=0, atol=1e-6)
    scores = np.column_stack(table.columns[1 + n_classes :])
    np.testing.assert_allclose(scores, expected[2].reshape(240, -1), rtol=0, atol=1e-6)
