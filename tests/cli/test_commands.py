"""What the commands print and write, on standard output, on standard error and in files."""

import json
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from rich.console import Console

from craftmaps import CraftClassifier, Polynomial, load_model
from craftmaps._system.memory_budget import Budget, TooWideError, memory_budget
from craftmaps._system.progress import Phase, Step
from craftmaps.cli.model_rows import blocks_of
from craftmaps.cli.progress_bar import ProgressBar
from craftmaps.cli.training_rows import TrainingRows
from craftmaps.report import Run
from craftmaps.report.gather import gather
from tests.cli.running import PLAIN, example_rows, run, run_json, trained, write_parquet


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, its rows, and others to test on."""
    folder = tmp_path_factory.mktemp("model")
    trained(folder)
    write_parquet(folder / "test.parquet", n_rows=90, seed=1)
    return folder


@pytest.fixture(scope="module")
def test_rows():
    X, y = example_rows(90, seed=1)
    return X.astype(np.float32), y


def test_train_prints_a_summary_and_progress_apart(tmp_path):
    data = write_parquet(tmp_path / "train.parquet")
    test = write_parquet(tmp_path / "test.parquet", seed=1)
    result = run("train", data, "--out", tmp_path / "m.craft", "--test", test, "--report", tmp_path / "r.html", *PLAIN)
    facts = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in result.stdout.splitlines())
    assert facts["learned from"] == "240 rows of 5 columns"
    assert facts["target"] == "label, 3 classes: 0, 1, 2"
    assert facts["kernel"] == "poly:3:1"
    assert facts["test"].endswith("on 240 rows")
    assert facts["report"] == str(tmp_path / "r.html")
    assert "Learning: 240 rows" in result.stderr
    assert "Testing: 240 rows" in result.stderr
    assert "\x1b" not in result.stdout + result.stderr
    assert "\r" not in result.stderr
    page = (tmp_path / "r.html").read_text()
    assert "<html" in page
    assert "train.parquet" in page


def test_train_as_json(tmp_path):
    data, test = write_parquet(tmp_path / "train.parquet"), write_parquet(tmp_path / "test.parquet", seed=1)
    summary = run_json("train", data, "--out", tmp_path / "m.craft", "--test", test, *PLAIN)
    model = load_model(tmp_path / "m.craft")
    assert summary["model"]["rows"] == 240
    assert summary["model"]["classes"] == [0, 1, 2]
    assert summary["model"]["bytes"] == (tmp_path / "m.craft").stat().st_size
    assert summary["model"]["alpha"] == model.alpha_
    X, y = example_rows(seed=1)
    assert summary["test"]["errors"] == np.sum(model.predict(X.astype(np.float32)) != y)
    low, high = summary["test"]["error_interval"]
    assert low < summary["test"]["error"] < high
    assert summary["seconds"].keys() == {"learning", "solving", "testing"}
    assert summary["cross_validation"]["rows"] == 240


def test_options_reach_the_learner(tmp_path):
    data = write_parquet(tmp_path / "train.parquet", label="kind", labels=[*"abcdef"] * 40)
    options = ["--target", "kind", "--components", 16, "--kernel", "exp:0.5", "--metric", "covariance", "--alpha", 0.5]
    options += ["--feature-map", "landmarks", "--code", "hadamard", "--seed", 7, "--threads", 1, "--drop", "x_3"]
    options += ["--calibration", "matrix"]
    summary = run_json("train", data, "--out", tmp_path / "m.craft", "--max-rows", 120, *options)
    model = load_model(tmp_path / "m.craft")
    assert model.n_rows_seen_ == 120
    assert model.n_features_in_ == 4
    assert model.code == "hadamard"
    assert model.classes_.tolist() == [*"abcdef"]
    told = summary["model"]
    assert (told["kernel"], told["feature_map"], told["features"], told["seed"]) == ("exp:0.5", "LandmarkMap", 16, 7)
    assert told["metric"].startswith("covariance")
    assert told["calibration"] == "matrix"
    assert model.calibration_.matrix.shape == (6, 6)


def test_no_map_and_automatic_choices(tmp_path):
    data = write_parquet(tmp_path / "train.parquet")
    linear = run_json("train", data, "--out", tmp_path / "m.craft", "--feature-map", "none", "--kernel", "poly:1")
    assert linear["model"]["feature_map"] is None
    chosen = run_json("train", data, "--out", tmp_path / "m.craft", "--components", 16)
    assert chosen["model"]["kernel"].startswith("poly:")


@pytest.mark.parametrize(("dtype", "flags"), [(float, ["--regression"]), (int, ["--regression"])])
def test_regression(tmp_path, dtype, flags):
    X, _ = example_rows()
    target = (10 * (X @ [3, -1, 2, 0, 1])).astype(dtype)
    data = write_parquet(tmp_path / "train.parquet", label="price", labels=target)
    options = ["--target", "price", *PLAIN, *flags]
    summary = run_json("train", data, "--out", tmp_path / "m.craft", "--test", data, *options)
    model = load_model(tmp_path / "m.craft")
    residual = target - model.predict(X.astype(np.float32))
    assert summary["test"]["rmse"] == pytest.approx(np.sqrt(np.mean(residual**2)), rel=1e-6)
    assert summary["test"]["r2"] == pytest.approx(1 - np.mean(residual**2) / np.var(target), rel=1e-6)
    low, high = summary["test"]["rmse_interval"]
    assert low < summary["test"]["rmse"] < high
    assert "root mean square error" in run("evaluate", tmp_path / "m.craft", data).stdout
    run("predict", tmp_path / "m.craft", data, "--out", tmp_path / "p.npy")
    assert np.allclose(np.load(tmp_path / "p.npy"), target - residual)


def test_whole_numbers_among_floats_are_classes(tmp_path):
    data = write_parquet(tmp_path / "train.parquet", labels=np.tile([0.0, 1.0], 120))
    run("train", data, "--out", tmp_path / "m.craft", *PLAIN)
    assert load_model(tmp_path / "m.craft").classes_.tolist() == [0.0, 1.0]


def test_memory_bounds_rows_and_components():
    assert memory_budget(8 * 10**9, 2048, 4 * 784, True).batch_rows == 8192
    assert not memory_budget(8 * 10**9, 2048, 4 * 784, True).is_packed
    assert 256 <= memory_budget(7 * 10**9, 2048, 80_000, False).batch_rows < 8192
    for is_automatic in (True, False):
        with pytest.raises(TooWideError, match=r"n_components=32768 needs about .* at most \d+ fit") as refusal:
            memory_budget(3 * 10**9, 32768, 4 * 784, is_automatic)
        largest = refusal.value.largest
        assert memory_budget(3 * 10**9, largest, 4 * 784, is_automatic).is_packed
        with pytest.raises(TooWideError, match=f"at most {largest} fit"):
            memory_budget(3 * 10**9, largest + 1, 4 * 784, is_automatic)


def test_a_run_stays_within_its_memory(tmp_path):
    data = tmp_path / "wide.parquet"
    rows = np.random.default_rng(0).random((16_000, 300), dtype=np.float32)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), 300)
    pa.parquet.write_table(pa.table({"x": vectors, "label": (rows[:, 0] > 0.5).astype(int)}), data)
    arguments = ["train", str(data), "--out", str(tmp_path / "m.craft"), *PLAIN, "--memory", "700MB", "--json"]
    arguments += ["--threads", "1"]
    code = f"from craftmaps.cli import main; main({arguments!r})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(result.stdout)["peak_memory"] < 700e6


def test_predictions_in_every_format_are_those_of_the_model(folder, tmp_path, test_rows):
    X, _ = test_rows
    model = load_model(folder / "model.craft")
    expected, probabilities, scores = model.predict(X), model.predict_proba(X), model.decision_function(X)
    for suffix in ("parquet", "csv"):
        out = tmp_path / f"p.{suffix}"
        # Blocks of another size than the writers' own.
        options = ["--probabilities", "--scores", "--batch-rows", 13]
        run("predict", folder / "model.craft", folder / "test.parquet", "--out", out, *options)
        table = pa.parquet.read_table(out) if suffix == "parquet" else pa.csv.read_csv(out)
        assert table.column_names == [
            "prediction",
            *(f"probability_{label}" for label in range(3)),
            *(f"score_{label}" for label in range(3)),
        ]
        assert table["prediction"].to_pylist() == expected.tolist()
        # Rounded so that they sum to one.
        assert np.abs(np.column_stack(table.columns[1:4]) - probabilities).max() < 1e-6
        # Products with weights round otherwise in blocks of another size.
        np.testing.assert_allclose(np.column_stack(table.columns[4:]), scores, rtol=0, atol=1e-6)
    for flag, values in ((None, expected), ("--probabilities", probabilities), ("--scores", scores)):
        flags = [] if flag is None else [flag]
        out = tmp_path / "p.npy"
        options = [*flags, "--batch-rows", 13]
        run("predict", folder / "model.craft", folder / "test.parquet", "--out", out, *options)
        if flag is None:
            assert np.array_equal(np.load(out), values)
        else:
            np.testing.assert_allclose(np.load(out), values, rtol=0, atol=1e-6)


def test_predictions_of_text_labels_and_two_classes(tmp_path):
    model, data = trained(tmp_path, n_rows=120, labels=["no", "maybe"] * 60)
    for suffix in ("npy", "csv", "parquet"):
        run("predict", model, data, "--out", tmp_path / f"p.{suffix}")
    expected = np.load(tmp_path / "p.npy")
    assert set(expected) <= {"no", "maybe"}
    assert pa.csv.read_csv(tmp_path / "p.csv")["prediction"].to_pylist() == expected.tolist()
    assert pa.parquet.read_table(tmp_path / "p.parquet")["prediction"].to_pylist() == expected.tolist()
    run("predict", model, data, "--out", tmp_path / "p.csv", "--scores")
    assert pa.csv.read_csv(tmp_path / "p.csv").column_names == ["prediction", "score"]


def test_rows_to_predict_need_no_labels(folder, tmp_path):
    table = pa.parquet.read_table(folder / "test.parquet")
    files = {
        "without": table.drop_columns(["label"]),
        "missing": table.set_column(5, "label", pa.nulls(90)),
        "reordered": table.select(table.column_names[::-1]),
    }
    run("predict", folder / "model.craft", folder / "test.parquet", "--out", tmp_path / "expected.npy")
    for name, changed in files.items():
        pa.parquet.write_table(changed, tmp_path / f"{name}.parquet")
        run("predict", folder / "model.craft", tmp_path / f"{name}.parquet", "--out", tmp_path / "p.npy")
        assert (tmp_path / "p.npy").read_bytes() == (tmp_path / "expected.npy").read_bytes()


def test_a_model_of_arrays_predicts_rows_by_position(tmp_path, test_rows):
    X, y = test_rows
    model = CraftClassifier(Polynomial(2), 16, metric=None, random_state=0).fit(X, y)
    model.save(tmp_path / "m.craft")
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    run("predict", tmp_path / "m.craft", tmp_path / "X.npy", "--out", tmp_path / "p.npy")
    assert np.array_equal(np.load(tmp_path / "p.npy"), model.predict(X))
    assert run_json("evaluate", tmp_path / "m.craft", tmp_path / "X.npy")["rows"] == 90


def test_evaluate_counts_what_the_model_gets_wrong(folder, test_rows):
    X, y = test_rows
    predicted = load_model(folder / "model.craft").predict(X)
    scores = run_json("evaluate", folder / "model.craft", folder / "test.parquet", "--batch-rows", 13)
    confusion = {(pair["true"], pair["predicted"]): pair["rows"] for pair in scores["confusion"]}
    expected = {(t, p): int(np.sum((y == t) & (predicted == p))) for t in range(3) for p in range(3)}
    assert confusion == {pair: n for pair, n in expected.items() if n}
    assert scores["errors"] == np.sum(y != predicted)
    for line in scores["classes"]:
        assert line["recall"] == pytest.approx(np.mean(predicted[y == line["label"]] == line["label"]))
        assert line["precision"] == pytest.approx(np.mean(y[predicted == line["label"]] == line["label"]))
    bins = scores["calibration"]["bins"]
    assert sum(line["rows"] for line in bins) == 90
    assert sum(line["rows"] * line["right"] for line in bins) == pytest.approx(90 - scores["errors"])
    gap = sum(line["rows"] * abs(line["right"] - line["probability"]) for line in bins) / 90
    assert scores["calibration"]["expected_calibration_error"] == pytest.approx(gap)


def test_evaluate_agrees_with_the_report(folder, test_rows):
    X, y = test_rows
    scores = run_json("evaluate", folder / "model.craft", folder / "test.parquet")
    numbers = gather(Run(model=load_model(folder / "model.craft"), X_test=X, y_test=y))["test"]
    for name in ("rows", "errors", "error", "error_interval"):
        assert scores[name] == numbers[name]
    gap = numbers["calibration"]["expected_calibration_error"]
    assert scores["calibration"]["expected_calibration_error"] == pytest.approx(gap)


def test_evaluate_prints_tables(folder):
    printed = run("evaluate", folder / "model.craft", folder / "test.parquet").stdout
    for word in ("error", "Rows by true class", "precision", "recall", "probability"):
        assert word in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_a_label_that_was_never_seen_is_a_mistake(folder, tmp_path):
    data = write_parquet(tmp_path / "new.parquet", n_rows=90, seed=1, labels=np.arange(90) % 5)
    scores = run_json("evaluate", folder / "model.craft", data)
    assert [line["label"] for line in scores["classes"]] == [0, 1, 2, 3, 4]
    assert scores["classes"][4]["recall"] == 0
    assert scores["classes"][4]["precision"] is None
    text = write_parquet(tmp_path / "text.parquet", n_rows=60, labels=["a", "bb"] * 30)
    run("train", text, "--out", tmp_path / "text.craft", *PLAIN)
    longer = write_parquet(tmp_path / "longer.parquet", n_rows=60, labels=["a", "a longer one"] * 30)
    labels = [line["label"] for line in run_json("evaluate", tmp_path / "text.craft", longer)["classes"]]
    assert labels == ["a", "a longer one", "bb"]


def test_many_classes_are_summed_up(tmp_path):
    labels = np.arange(400) % 40
    data = write_parquet(tmp_path / "train.parquet", n_rows=400, labels=labels)
    run("train", data, "--out", tmp_path / "m.craft", *PLAIN)
    printed = run("evaluate", tmp_path / "m.craft", data).stdout
    assert len(printed.splitlines()) < 70
    assert "40 classes" in run("inspect", tmp_path / "m.craft").stdout


def test_labels_cannot_steer_the_terminal(tmp_path):
    model, data = trained(tmp_path, labels=["a\x1b[2J\n", "b"] * 120)
    for command in (["inspect", model], ["evaluate", model, data]):
        printed = run(*command).stdout
        assert "\x1b" not in printed
        assert "a\\x1b[2J\\n" in printed


def test_long_labels_are_listed_and_not_in_a_matrix(tmp_path):
    model, data = trained(tmp_path, labels=[f"{'long ' * 8}{i % 4}" for i in range(240)])
    printed = run("evaluate", model, data).stdout
    assert "Most frequent mistakes" in printed
    assert "columns by predicted class" not in printed


def test_inspect(folder):
    printed = run("inspect", folder / "model.craft", "--columns").stdout
    assert "240 rows of 5 columns" in printed
    assert re.search(r"x_4\s+number\s+1\s+0", printed)
    described = run_json("inspect", folder / "model.craft")
    assert described["rule"]["target"] == "label"
    assert described["task"] == "classification"
    assert described["features"] == 24


def test_plan(folder):
    document = run_json("plan", folder / "train.parquet", "--kernel", "poly:2", "--error", 0.3, "--most", 3)
    assert document["rows"] == 240
    assert len(document["choices"]) == 3
    assert document["choices"][0]["within"]
    assert document["choices"][0]["predicted_error"] <= 0.3
    assert "meets goal" in run("plan", folder / "train.parquet", "--kernel", "poly:2", "--seconds", 10).stdout


def test_data(tmp_path, monkeypatch):
    monkeypatch.delenv("CRAFTMAPS_DATA", raising=False)
    found = run_json("data")
    assert found["digits"]
    assert not found["mnist"]
    assert re.search(r"digits\s+yes", run("data").stdout)
    files = run_json("data", "digits", "--out", tmp_path)
    assert pa.parquet.read_table(files["train"]).num_rows == 1438
    assert pa.parquet.read_table(files["test"]).num_rows == 359


def test_demo(tmp_path):
    out = tmp_path / "demo"
    printed = run("demo", "--out", out, "--components", 16, "--seeds", 2).stdout
    for word in ("TensorSketch", "Craft over Maclaurin", "exact kernel ridge", "support vector machine", "Next:"):
        assert word in printed
    assert max(map(len, printed.splitlines()[:10])) <= 80
    names = ["comparison.csv", "digits-test.parquet", "digits-train.parquet", "digits.craft", "draw.html", "index.html"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert run_json("evaluate", out / "digits.craft", out / "digits-test.parquet")["error"] < 0.5


def test_version_and_help():
    assert re.match(r"craftmaps \d+\.\d+\.\d+\nPython 3", run("--version").stdout)
    commands = (
        "train",
        "predict",
        "evaluate",
        "inspect",
        "settle",
        "tally",
        "combine",
        "export",
        "plan",
        "data",
        "demo",
    )
    listed = run("--help").stdout
    for command in commands:
        assert command in listed
        assert f"Example: craftmaps {command}" in run(command, "--help").stdout


def test_without_arguments_the_help_is_shown():
    assert run().stdout == run("--help").stdout
    assert len(run().stdout.splitlines()) > 15


@pytest.mark.parametrize(
    "command", ["train", "predict", "evaluate", "inspect", "settle", "tally", "combine", "plan", "data", "demo"]
)
def test_help_names_arguments_as_users_do(command):
    helped = run(command, "--help").stdout
    assert not re.search(r"<(list|lambda|str|path|function|Any)\b", helped)
    assert "{" not in helped


def test_help_offers_what_a_command_takes():
    helped = {command: " ".join(run(command, "--help").stdout.split()) for command in ("train", "plan")}
    assert "auto" in helped["train"]
    assert "auto" not in helped["plan"]
    assert "Without either it is classes" in helped["train"]


def test_the_program_without_typer_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None\nfrom craftmaps.cli import main\nmain()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == "craftmaps: The command line needs typer and rich: pip install typer rich pyarrow.\n"


def test_help_and_version_do_not_wait_for_the_library():
    code = "import sys; from craftmaps.cli import app; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", f"import json; {code}"], capture_output=True, text=True, check=True)
    assert not {"sklearn", "numba", "scipy", "pyarrow"} & set(json.loads(result.stdout))


def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere(capsys):
    class Rows:
        n_rows, total_bytes, bytes_read = 1000, None, 0

    def shown(is_terminal):
        output = Console(stderr=True, force_terminal=is_terminal, width=80)
        with ProgressBar("Learning", Rows(), output=output, pause=0.0) as progress:
            progress.step(Step(Phase.METRIC))
            progress.show(250)
        return capsys.readouterr().err

    assert "\x1b[" in shown(True)
    lines = shown(False).splitlines()
    assert lines[0] == "Fitting the metric"
    assert re.match(r"Learning: 250 rows, [\d,]+ rows/s, [\d.]+ s left", lines[1])
    assert re.match(r"Learning: 250 rows in 0.0 s", lines[2])
    assert not any("\x1b" in line for line in lines)


@pytest.mark.parametrize(("batch_rows", "sizes"), [(None, [100, 100, 40]), (120, [120, 120])])
def test_a_small_budget_makes_small_blocks_unless_their_size_is_given(tmp_path, batch_rows, sizes):
    data = write_parquet(tmp_path / "train.parquet")
    rows = TrainingRows(str(data), {"target": "label", "drop": ["x_3"]}, batch_rows)
    rows.fit_in(Budget(10**9, batch_rows=100, most_classes=5, is_packed=False))
    blocks = list(blocks_of(rows.stream))
    assert [block.X.shape for block in blocks] == [(size, 4) for size in sizes]
