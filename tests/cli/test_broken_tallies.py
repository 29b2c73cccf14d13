"""Tallies that do not go together, broken tallies, and runs that are cut short: one sentence, and nothing is left."""

import os
import signal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from craftmaps import CraftClassifier, CraftRegressor, Polynomial
from craftmaps.learners.persistence import container
from tests.cli.running import PLAIN, example_rows, example_table, run, write_parquet
from tests.cli.test_interrupted import wait_for

CHANGED = {
    "seed": ["--seed", 1],
    "components": ["--components", 16],
    "kernel": ["--kernel", "poly:2:1"],
    "alpha": ["--alpha", 0.5],
    "metric": ["--metric", "covariance"],
    "dropped": ["--drop", "x_3"],
    "nothing_held_out": ["--no-hold-out", "--alpha", 0.1],
}


def damaged(path, out, change):
    """Write a tally with another header and a good checksum."""
    header = container.read(path)
    change(header)
    container.write(out, header)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows, and good and bad tallies of them; nobody may change them."""
    folder = tmp_path_factory.mktemp("tallies")
    table = example_table(160)

    def recipe(name, data, *options):
        run("settle", folder / data, "--out", folder / f"{name}.craft", *PLAIN, *options)

    def tally(name, data, recipe="good.craft"):
        run("tally", folder / data, "--recipe", folder / recipe, "--out", folder / f"{name}.tally")

    pa.parquet.write_table(table, folder / "all.parquet")
    pa.parquet.write_table(table.slice(0, 80), folder / "a.parquet")
    pa.parquet.write_table(table.slice(80, 80), folder / "b.parquet")
    pa.parquet.write_table(table.slice(0, 5), folder / "five.parquet")
    pa.parquet.write_table(table.select([1, 0, 2, 3, 4, 5]), folder / "order.parquet")
    pa.parquet.write_table(table.rename_columns([*"vwxyz", "label"]), folder / "names.parquet")
    pa.parquet.write_table(table.append_column("kind", table["label"]).drop_columns("label"), folder / "target.parquet")
    pa.parquet.write_table(table.set_column(5, "label", pa.array(["a", "b"] * 80)), folder / "text.parquet")
    pa.parquet.write_table(table.drop_columns("label"), folder / "bare.parquet")
    pa.parquet.write_table(table.set_column(5, "label", pa.array([0.5, 1.0] * 80)), folder / "halves.parquet")
    pa.parquet.write_table(table.set_column(0, "x_0", pa.array([1.0, 2e39] * 80)), folder / "infinite.parquet")
    recipe("good", "all.parquet")
    recipe("numbers", "all.parquet", "--regression")
    recipe("order", "order.parquet")
    recipe("names", "names.parquet")
    recipe("target", "target.parquet", "--target", "kind")
    recipe("text", "text.parquet")
    recipe("part", "a.parquet")  # other means for missing numbers
    for name, options in CHANGED.items():
        recipe(name, "all.parquet", *options)
    for name in "ab":
        tally(name, f"{name}.parquet")
    tally("five", "five.parquet")
    run("train", folder / "all.parquet", "--out", folder / "model.craft", *PLAIN)
    X, y = example_rows(160)
    learner = CraftClassifier(Polynomial(3), 24, metric=None, random_state=0, packed=True)
    learner.settle(X, y).tally(X, y).save(folder / "triangle.tally")
    CraftRegressor(Polynomial(3), 24, metric=None).fit(X, X[:, :2]).tally_.save(folder / "pairs.tally")
    narrow = CraftClassifier(Polynomial(2), 8, metric=None, random_state=0).fit(X[:, :3], y).tally_
    narrow.save(folder / "notes.tally", notes={"columns": {"features": "all"}})
    content = (folder / "a.tally").read_bytes()
    (folder / "cut.tally").write_bytes(content[:-10])
    (folder / "flipped.tally").write_bytes(content[:-100] + bytes([content[-100] ^ 1]) + content[-99:])
    (folder / "picture.tally").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    (folder / "empty.tally").write_bytes(b"")
    (folder / "folder").mkdir()
    good = folder / "a.tally"
    damaged(good, folder / "negative.tally", lambda h: h["tally"]["statistic"].update(n_rows=-80))
    damaged(good, folder / "huge.tally", lambda h: h["tally"].update(width=2**40))
    damaged(good, folder / "parameter.tally", lambda h: h["parameters"].update(alphas="all"))
    damaged(good, folder / "nothing.tally", lambda h: h.pop("tally"))
    damaged(good, folder / "nan.tally", lambda h: h["tally"]["statistic"]["cross"].fill(np.nan))
    return folder


TALLY = "tally {0} --recipe good.craft --out {out}/x.tally"
SETTLE = "settle {0} --out {out}/r.craft"
COMBINE = "combine a.tally {0} --out {out}/m.craft"
ALONE = "combine {0} --out {out}/m.craft"
MINUS = "combine a.tally --minus {0} --out {out}/m.craft --tally {out}/t.tally"
INSPECT = "inspect {0}"
BOTH = " and a.tally cannot be combined: "

# What is typed, which exit code, and a part of what is said.
CASES = {
    # Tallies that do not go together.
    "another seed": (COMBINE, "seed.craft", 1, f"seed.craft{BOTH}Estimators must have the same seed_"),
    "another width": (COMBINE, "components.craft", 1, f"components.craft{BOTH}Estimators must have the same n_comp"),
    "another kernel": (COMBINE, "kernel.craft", 1, f"kernel.craft{BOTH}Estimators must have the same kernel"),
    "another metric": (COMBINE, "metric.craft", 1, f"metric.craft{BOTH}Estimators must have the same metric"),
    "another alpha": (COMBINE, "alpha.craft", 1, "the same alphas to be merged, got [0.5] and None."),
    "nothing held out": (COMBINE, "nothing_held_out.craft", 1, f"nothing_held_out.craft{BOTH}"),
    "a column less": (COMBINE, "dropped.craft", 1, f"dropped.craft{BOTH}Only one of them has the columns 'x_3'."),
    "other columns": (COMBINE, "names.craft", 1, "Only one of them has the columns 'v', 'w', 'x', 'x_0'"),
    "another order": (COMBINE, "order.craft", 1, f"order.craft{BOTH}Their columns are in different orders"),
    "another target": (COMBINE, "target.craft", 1, f"target.craft{BOTH}Their targets are 'kind' and 'label'."),
    "other labels": (COMBINE, "text.craft", 1, "all text or all numbers"),
    "numbers and classes": (COMBINE, "numbers.craft", 1, f"numbers.craft{BOTH}One is of classes, the other of numbers"),
    "other means": (COMBINE, "part.craft", 1, f"part.craft{BOTH}They encode the columns 'x_0'"),
    "a packed tally": (COMBINE, "triangle.tally", 1, f"triangle.tally{BOTH}Estimators must have the same packed"),
    "two targets": (COMBINE, "pairs.tally", 1, f"pairs.tally{BOTH}One is of classes"),
    "unlike to take out": (MINUS, "seed.craft", 1, "a.tally and seed.craft cannot be combined"),
    "rows never counted": (MINUS, "b.tally", 1, "b.tally cannot be taken out: Rows can be taken out of those"),
    "more rows than counted": (
        "combine five.tally --minus a.tally --out {out}/m.craft",
        "",
        1,
        "a.tally cannot be taken out: A tally of 5 rows cannot lose 80",
    ),
    "all rows taken out": (MINUS, "a.tally", 1, "--minus must leave some rows, got all of them."),
    "a file twice": (COMBINE, "./a.tally", 1, "TALLY must name a file once, as its rows would count twice"),
    "taken out twice": (MINUS, "a.tally --minus a.tally", 1, "--minus must name a file once"),
    "a glob and a file of it": (COMBINE, "[ab].tally", 1, "got 'a.tally' again."),
    "no rows": (ALONE, "good.craft", 1, "At least 2 rows are needed"),
    # Files.
    "no such tally": (COMBINE, "nowhere.tally", 1, "TALLY must be files that exist, got 'nowhere.tally'."),
    "a glob of nothing": (COMBINE, "night-*.tally", 1, "TALLY must be files that exist, got 'night-*.tally'."),
    "no such tally to take out": (MINUS, "nowhere.tally", 1, "--minus must be files that exist"),
    "a model without its tally": (COMBINE, "model.craft", 1, "TALLY must be a tally or a recipe, got 'model.craft'"),
    "rows for a tally": (COMBINE, "a.parquet", 1, "a.parquet is not a model file"),
    "a folder": (COMBINE, "folder", 1, "TALLY must be a file, got the folder 'folder'."),
    "a recipe that is a model": (
        TALLY.replace("good", "model"),
        "a.parquet",
        1,
        "--recipe must be a tally or a recipe",
    ),
    "a recipe that is not there": (TALLY.replace("good", "no"), "a.parquet", 1, "There is no model file no.craft"),
    "a recipe that is a folder": (TALLY.replace("good.craft", "folder"), "a.parquet", 1, "--recipe must be a file"),
    # Hostile tallies.
    "a cut tally": (COMBINE, "cut.tally", 1, "cut.tally is not a model file, or not a whole one."),
    "a flipped bit": (COMBINE, "flipped.tally", 1, "flipped.tally is damaged"),
    "a flipped bit to take out": (MINUS, "flipped.tally", 1, "flipped.tally is damaged"),
    "a flipped bit to describe": (INSPECT, "flipped.tally", 1, "flipped.tally is damaged"),
    "a picture": (COMBINE, "picture.tally", 1, "picture.tally is not a model file"),
    "an empty file": (ALONE, "empty.tally", 1, "empty.tally is not a model file"),
    "a number of rows below zero": (ALONE, "negative.tally", 1, "statistic.n_rows must be"),
    "an enormous width": (INSPECT, "huge.tally", 1, "huge.tally has a damaged header"),
    "a bad parameter": (INSPECT, "parameter.tally", 1, "parameter.tally has a damaged header"),
    "neither model nor tally": (ALONE, "nothing.tally", 1, "there is neither a model nor a tally"),
    "NaN among sums": (ALONE, "nan.tally", 1, "nan.tally has a damaged header: statistic.cross must"),
    "bad notes": (ALONE, "notes.tally", 1, "notes.tally cannot be used: The description of columns is damaged"),
    "bad notes to describe": (INSPECT, "notes.tally", 1, "The description of columns is damaged"),
    # Rows.
    "no such rows": (TALLY, "nowhere.csv", 1, "There is no file"),
    "rows of other columns": (TALLY, "names.parquet", 1, "lacks the columns 'x_0'"),
    "rows without labels": (TALLY, "bare.parquet", 1, "The target of the training rows must be a column of bare"),
    "a target that is not there": (TALLY + " --target kinds", "target.parquet", 2, "--target must be a column of"),
    "labels of another kind": (TALLY, "text.parquet", 1, "must be of kind integer"),
    "fractions for classes": (TALLY, "halves.parquet", 1, "After 0 rows: Unknown label type"),
    "infinity": (TALLY, "infinite.parquet", 1, "infinite in float32"),
    "weights that are not there": (TALLY + " --weight w", "a.parquet", 2, "--weight must be a column of"),
    "too few classes to settle": (SETTLE + " --max-rows 1", "a.parquet", 1, "at least 2 classes"),
    "a number to settle": (SETTLE + " --target x_1", "a.parquet", 2, "say --regression"),
    # Options.
    "nowhere to write": ("combine a.tally", "", 2, "got neither --out nor --tally"),
    "a test without a model": ("combine a.tally --tally {out}/t.tally --test a.parquet", "", 2, "got --test alone"),
    "no recipe": ("tally a.parquet --out {out}/x.tally", "", 2, "--recipe"),
    "no tallies": ("combine --out {out}/m.craft", "", 2, "TALLY"),
    "decay above one": (COMBINE + " --decay 1.5", "b.tally", 2, "a number above 0 and below 1, got '1.5'"),
    "decay of nothing": (COMBINE + " --decay 1e-200", "b.tally", 2, "leaves nothing of the first of 2 tallies"),
    "decay and minus": (COMBINE + " --decay 0.9 --minus five.tally", "b.tally", 2, "take them out of their own tally"),
    "no alpha": (SETTLE + " --no-hold-out", "a.parquet", 2, "--no-hold-out needs one --alpha"),
    "two alphas": (SETTLE + " --no-hold-out --alpha 1 --alpha 2", "a.parquet", 2, "--no-hold-out needs one --alpha"),
    "a matrix of nothing": (
        SETTLE + " --no-hold-out --alpha 1 --calibration matrix",
        "a.parquet",
        2,
        "no --calibration matrix",
    ),
    "a model over its tally": ("combine a.tally --out a.tally", "", 1, "--out must be another file than those"),
    "a tally over a tally": ("combine a.tally b.tally --tally b.tally", "", 1, "--tally must be another file"),
    "one file for both": ("combine a.tally --out {out}/m --tally {out}/m", "", 1, "--tally must be another file"),
    "a tally over its recipe": (
        "tally a.parquet --recipe good.craft --out good.craft",
        "",
        1,
        "--out must be another file",
    ),
    "a model and its tally in one": (
        "train a.parquet --out {out}/m --tally {out}/m",
        "",
        1,
        "--tally must be another file",
    ),
    "a recipe into nowhere": ("settle a.parquet --out {out}/no/r.craft", "", 1, "in a folder that exists"),
    "test rows of other columns": (COMBINE + " --test names.parquet", "b.tally", 1, "lacks the columns 'x_0'"),
}
# Those that read rows or tallies before the error tell how far they came.
WITH_PROGRESS = {"no rows", "test rows of other columns"}


@pytest.mark.parametrize("case", CASES)
def test_one_sentence_and_the_right_exit_code(folder, tmp_path, monkeypatch, case):
    monkeypatch.chdir(folder)
    typed, data, code, said = CASES[case]
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    arguments = typed.format(data, out=tmp_path).split()
    if arguments[0] in ("settle", "train"):
        arguments += PLAIN
    result = run(*arguments, code=code)
    lines = result.stderr.splitlines()
    assert said in lines[-1]
    assert lines[-1].startswith("craftmaps: ")
    assert lines[-1].endswith((".", "?"))
    assert len(lines) == 1 or case in WITH_PROGRESS
    assert not result.stdout
    assert not list(tmp_path.iterdir())
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


@pytest.fixture
def rows(tmp_path):
    """Rows, their recipe, and a file that is there already."""
    data = write_parquet(tmp_path / "rows.parquet", n_rows=400)
    run("settle", data, "--out", tmp_path / "recipe.craft", *PLAIN)
    (tmp_path / "old").write_bytes(b"what was there")
    return data


@needs_fork
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("command", ["settle", "tally"])
def test_a_run_that_is_cut_short_leaves_what_was_there(server, tmp_path, rows, command, number):
    options = ["--recipe", tmp_path / "recipe.craft"] if command == "tally" else PLAIN
    arguments = [command, rows, "--out", tmp_path / "old", "--batch-rows", 10, *options]
    server.start(*arguments, slowness=0.02, seconds_between_lines=0.0)
    verb = {"settle": "Reading", "tally": "Counting"}[command]
    wait_for(lambda: f"{verb}: 50 rows" in server.printed())
    server.signal(number)
    code, printed = server.end()
    assert code == (-number if number == signal.SIGKILL else 128 + number)
    if number != signal.SIGKILL:
        word = {signal.SIGINT: "Interrupted", signal.SIGTERM: "Terminated"}[number]
        assert printed.splitlines()[-1] == f"craftmaps: {word}: {tmp_path / 'old'} was not written."
    assert (tmp_path / "old").read_bytes() == b"what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old", "recipe.craft", "rows.parquet"]


FULL = {
    "a recipe": (["settle", "{rows}", "--out", "{old}", *PLAIN], 1_000),
    "a tally": (["tally", "{rows}", "--recipe", "{recipe}", "--out", "{old}"], 8_000),
    "a sum": (["combine", "{tally}", "--tally", "{old}"], 8_000),
    "a model": (["combine", "{tally}", "--out", "{old}"], 1_000),
    "a tally beside a model": (["train", "{rows}", "--out", "{new}", "--tally", "{old}", *PLAIN], 8_000),
}


@needs_fork
@pytest.mark.parametrize("case", FULL)
def test_a_full_disk_leaves_the_file_that_was_there(server, tmp_path, rows, case):
    arguments, most_bytes = FULL[case]
    names = {"rows": rows} | {name: tmp_path / name for name in ("old", "new", "tally")}
    names["recipe"] = tmp_path / "recipe.craft"
    run("tally", rows, "--recipe", names["recipe"], "--out", names["tally"])
    code, printed = server.run(*(str(one).format(**names) for one in arguments), most_bytes=most_bytes)
    assert code == 1
    assert printed.splitlines()[-1] == f"craftmaps: {names['old']} cannot be written: File too large."
    assert names["old"].read_bytes() == b"what was there"
    assert not list(tmp_path.glob("*.new"))
    assert not names["new"].exists()
