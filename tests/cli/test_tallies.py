"""Tallies of files add up to the model of all rows, and rows are taken out again, without a row being read twice."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from craftmaps import CraftClassifier, Polynomial, load_model, load_tally
from tests.cli.running import PLAIN, example_rows, example_table, run, run_json

N_DAYS, N_ROWS = 3, 80
# Float32 products are rounded block by block: days and blocks end at the same rows.
BLOCKS = ("--batch-rows", 40)


def write_days(folder, table):
    """Write all rows, and the rows of each day."""
    pa.parquet.write_table(table, folder / "all.parquet")
    for day in range(N_DAYS):
        pa.parquet.write_table(table.slice(N_ROWS * day, N_ROWS), folder / f"day-{day}.parquet")


def tally_days(folder, *options):
    """Settle on all rows, and tally each day."""
    run("settle", folder / "all.parquet", "--out", folder / "recipe.craft", *options)
    for day in range(N_DAYS):
        name = folder / f"day-{day}"
        run("tally", f"{name}.parquet", "--recipe", folder / "recipe.craft", "--out", f"{name}.tally", *BLOCKS)


def days(folder, *numbers):
    return [folder / f"day-{number}.tally" for number in numbers]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three days, their tallies, and what train makes of all rows; nobody may change them."""
    folder = tmp_path_factory.mktemp("days")
    write_days(folder, example_table(N_DAYS * N_ROWS))
    tally_days(folder, *PLAIN)
    out = ["--out", folder / "trained.craft", "--tally", folder / "trained.tally"]
    run("train", folder / "all.parquet", *out, *PLAIN, *BLOCKS)
    return folder


def assert_same_model(one, other, tolerance=1e-8):
    assert one.alpha_ == pytest.approx(other.alpha_, rel=max(tolerance, 1e-10))
    assert one.n_rows_seen_ == other.n_rows_seen_
    assert np.abs(one.coef_ - other.coef_).max() <= tolerance * np.abs(other.coef_).max()


def test_the_model_of_all_days_is_that_of_train(folder, tmp_path):
    out = ["--out", tmp_path / "model.craft", "--tally", tmp_path / "total.tally", "--test", folder / "all.parquet"]
    summary = run_json("combine", *days(folder, 0, 1, 2), *out)
    # Weights of model files are float32; those of a tally are solved in double precision.
    assert_same_model(load_model(tmp_path / "total.tally"), load_model(folder / "trained.tally"))
    assert_same_model(load_model(tmp_path / "model.craft"), load_model(folder / "trained.craft"), 1e-6)
    assert load_model(tmp_path / "model.craft").notes_ == load_model(folder / "trained.craft").notes_
    trained = run_json("train", folder / "all.parquet", "--out", tmp_path / "again.craft", *PLAIN, *BLOCKS)
    assert summary["cross_validation"]["error"] == pytest.approx(trained["cross_validation"]["error"], abs=1e-12)
    assert summary["cross_validation"]["rows"] == 240
    assert summary["test"]["rows"] == 240
    assert summary["model"]["rows"] == 240
    assert list(summary["seconds"]) == ["adding", "solving", "testing"]


def test_the_model_of_other_rows_is_another(folder, tmp_path):
    """What is compared above can differ."""
    run("combine", *days(folder, 0, 1), "--tally", tmp_path / "some.tally")
    some, every = load_model(tmp_path / "some.tally"), load_model(folder / "trained.tally")
    assert np.abs(some.coef_ - every.coef_).max() > 1e-3 * np.abs(every.coef_).max()


def test_automatic_choices_are_those_of_train(tmp_path):
    write_days(tmp_path, example_table(N_DAYS * N_ROWS))
    options = ("--components", 16)
    tally_days(tmp_path, *options)
    out = ["--out", tmp_path / "trained.craft", "--tally", tmp_path / "trained.tally"]
    run("train", tmp_path / "all.parquet", *out, *options, *BLOCKS)
    run("combine", tmp_path / "day-*.tally", "--out", tmp_path / "model.craft", "--tally", tmp_path / "total.tally")
    total, trained = load_model(tmp_path / "total.tally"), load_model(tmp_path / "trained.tally")
    assert repr(total.choices_) == repr(trained.choices_)
    assert total.choices_.n_rows == 160
    assert_same_model(total, trained)


def test_a_day_that_is_taken_out_was_never_there(folder, tmp_path):
    run("combine", *days(folder, 0, 1, 2), "--minus", *days(folder, 1), "--tally", tmp_path / "rest.tally")
    run("combine", *days(folder, 0, 2), "--tally", tmp_path / "never.tally")
    rest, never = load_model(tmp_path / "rest.tally"), load_model(tmp_path / "never.tally")
    assert rest.n_rows_seen_ == 160
    assert_same_model(rest, never, 1e-7)
    X = example_rows(N_DAYS * N_ROWS)[0].astype(np.float32)
    content = (tmp_path / "rest.tally").read_bytes()
    kept = [row.tobytes() in content for row in X]
    assert kept == [True] * 80 + [False] * 80 + [True] * 80


def test_the_last_tally_counts_in_full_and_each_before_it_less(folder, tmp_path):
    run("combine", *days(folder, 2, 0, 1), "--decay", 0.5, "--tally", tmp_path / "decayed.tally")
    decayed = load_tally(tmp_path / "decayed.tally")
    first, second, third = (load_tally(path) for path in days(folder, 2, 0, 1))
    expected = 0.25 * first + 0.5 * second + third
    assert decayed.n_rows == 240
    np.testing.assert_allclose(decayed.statistic.cross, expected.statistic.cross, rtol=1e-12)
    assert decayed.statistic.weight == pytest.approx(80 * 1.75)
    # Tallies decay like weights of their rows.
    table = pa.concat_tables([example_table(240).slice(80 * day, 80) for day in (2, 0, 1)])
    table = table.append_column("w", pa.array(np.repeat([0.25, 0.5, 1.0], 80)))
    pa.parquet.write_table(table, tmp_path / "weighted.parquet")
    out = ["--out", tmp_path / "w.craft", "--tally", tmp_path / "w.tally"]
    run("train", tmp_path / "weighted.parquet", "--weight", "w", *out, *PLAIN, *BLOCKS)
    assert_same_model(load_model(tmp_path / "decayed.tally"), load_model(tmp_path / "w.tally"), 1e-4)


def test_train_goes_on_with_tally_and_combine(folder, tmp_path):
    run("train", folder / "day-0.parquet", "--out", tmp_path / "m.craft", "--tally", tmp_path / "0.tally", *PLAIN)
    run("tally", folder / "day-1.parquet", "--recipe", tmp_path / "0.tally", "--out", tmp_path / "1.tally")
    both = run_json("combine", tmp_path / "0.tally", tmp_path / "1.tally", "--out", tmp_path / "both.craft")
    assert both["model"]["rows"] == 160
    assert load_tally(tmp_path / "1.tally").n_rows == 80
    run("train", folder / "day-[01].parquet", "--out", tmp_path / "all.craft", *PLAIN)
    assert_same_model(load_model(tmp_path / "both.craft"), load_model(tmp_path / "all.craft"), 1e-4)


def test_numbers_and_weights(tmp_path):
    X, _ = example_rows(240)
    table = example_table(240, label="price", labels=10 * X[:, 0] * X[:, 1])
    table = table.append_column("times", pa.array(np.tile([0.0, 1.0, 2.0], 80)))
    write_days(tmp_path, table)
    options = ["--target", "price", "--weight", "times", "--regression", *PLAIN]
    tally_days(tmp_path, *options)  # the recipe knows the weights
    out = ["--out", tmp_path / "trained.craft", "--tally", tmp_path / "trained.tally"]
    run("train", tmp_path / "all.parquet", *options, *out, *BLOCKS)
    run("combine", tmp_path / "day-*.tally", "--tally", tmp_path / "total.tally")
    total = load_model(tmp_path / "total.tally")
    assert total.n_rows_seen_ == 160  # those of weight zero are none
    assert_same_model(total, load_model(tmp_path / "trained.tally"))
    printed = run(
        "combine", tmp_path / "day-*.tally", "--out", tmp_path / "m.craft", "--test", tmp_path / "all.parquet"
    )
    assert "root mean square error" in printed.stdout


def test_labels_of_one_day_only(tmp_path):
    labels = np.repeat(["red", "green", "blue"], N_ROWS)
    write_days(tmp_path, example_table(240, labels=labels))
    options = [*PLAIN, "--max-rows", 120]  # blue is not among them
    tally_days(tmp_path, *options)
    assert run_json("inspect", tmp_path / "recipe.craft")["classes"] == ["green", "red"]
    summary = run_json("combine", tmp_path / "day-*.tally", "--out", tmp_path / "m.craft")
    assert summary["model"]["classes"] == ["blue", "green", "red"]
    run("predict", tmp_path / "m.craft", tmp_path / "all.parquet", "--out", tmp_path / "p.npy")
    assert set(np.load(tmp_path / "p.npy")) == {"blue", "green", "red"}


def test_without_held_out_rows_there_is_no_row_in_a_tally(folder, tmp_path):
    options = ["--recipe", tmp_path / "recipe.craft", "--out", tmp_path / "0.tally"]
    run("settle", folder / "all.parquet", "--out", tmp_path / "recipe.craft", *PLAIN, "--no-hold-out", "--alpha", 0.01)
    told = run_json("tally", folder / "day-0.parquet", *options)
    assert (told["rows"], told["held_out_rows"], told["raw_rows"]) == (80, None, 0)
    X = example_rows(240)[0][:80].astype(np.float32)
    content, usual = (tmp_path / "0.tally").read_bytes(), (folder / "day-0.tally").read_bytes()
    assert not any(row.tobytes() in content for row in X)
    assert all(row.tobytes() in usual for row in X)
    summary = run_json("combine", tmp_path / "0.tally", "--out", tmp_path / "m.craft")
    assert summary["cross_validation"] is None
    assert "cross-validated" not in run("combine", tmp_path / "0.tally", "--out", tmp_path / "m.craft").stdout


def test_inspect_tells_recipes_tallies_and_models_apart(folder, tmp_path):
    recipe = run_json("inspect", folder / "recipe.craft")
    assert (recipe["rows"], recipe["raw_rows"], recipe["settled_on"], recipe["features"]) == (0, 0, 0, 24)
    tally = run_json("inspect", folder / "day-1.tally")
    assert (tally["rows"], tally["held_out_rows"], tally["raw_rows"], tally["columns"]) == (80, 80, 80, 5)
    assert tally["classes"] == [0, 1, 2]
    assert tally["bytes"] == (folder / "day-1.tally").stat().st_size
    assert "alpha" not in tally
    printed = run("inspect", folder / "day-1.tally").stdout
    assert "80 rows of 5 columns" in printed
    assert "no rows: everything was given" in printed
    assert run("inspect", folder / "recipe.craft", "--columns").stdout.startswith("recipe ")
    model = load_model(folder / "day-1.tally")
    model.save(tmp_path / "both.craft", tally=True)
    both = run_json("inspect", tmp_path / "both.craft")
    assert both["alpha"] == model.alpha_
    assert both["tally"]["held_out_rows"] == 80
    assert "its tally is in the file" in run("inspect", tmp_path / "both.craft").stdout
    assert run_json("inspect", folder / "trained.craft")["tally"] is None
    run("combine", tmp_path / "both.craft", *days(folder, 0), "--out", tmp_path / "m.craft")


def test_tallies_of_python(folder, tmp_path):
    """Tallies of arrays have no names of columns: rows come by position."""
    X, y = example_rows(240)
    X = X.astype(np.float32)
    settled = CraftClassifier(Polynomial(3), 24, metric=None, random_state=0).settle(X, y)
    settled.tally_.save(tmp_path / "recipe.craft")
    np.save(tmp_path / "X.npy", X[:80])
    np.save(tmp_path / "y.npy", y[:80])
    run("tally", tmp_path / "X.npy", "--recipe", tmp_path / "recipe.craft", "--out", tmp_path / "0.tally", *BLOCKS)
    expected = settled.tally(X[:40], y[:40]) + settled.tally(X[40:80], y[40:80])
    np.testing.assert_array_equal(load_tally(tmp_path / "0.tally").statistic.cross, expected.statistic.cross)
    run("combine", tmp_path / "0.tally", "--out", tmp_path / "m.craft", "--test", tmp_path / "X.npy")


def test_standard_input_and_text(folder, tmp_path):
    data = tmp_path / "day-0.csv"
    pa.csv.write_csv(example_table(240).slice(0, 80), data)
    out = ["--recipe", folder / "recipe.craft", "--out", tmp_path / "0.tally", *BLOCKS]
    run("tally", "-", *out, stdin=data.read_bytes())
    expected, found = load_tally(folder / "day-0.tally"), load_tally(tmp_path / "0.tally")
    np.testing.assert_allclose(found.statistic.cross, expected.statistic.cross, rtol=1e-6, atol=1e-6)
    assert found.held_out.n_rows == 80


def test_a_tally_can_predict(folder, tmp_path):
    run("predict", folder / "trained.tally", folder / "all.parquet", "--out", tmp_path / "tally.npy")
    run("predict", folder / "trained.craft", folder / "all.parquet", "--out", tmp_path / "model.npy")
    assert (np.load(tmp_path / "tally.npy") == np.load(tmp_path / "model.npy")).all()
