"""Whatever is wrong with a command or a file is said in one sentence, with the right exit code, and nothing is left."""

import os
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from craftmaps import CraftClassifier, Polynomial
from craftmaps.cli import app
from tests.cli.running import PLAIN, example_rows, example_table, run, write_parquet

PICTURE = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + bytes(64)


def csv_text(n_rows=30, label="label"):
    X, y = example_rows(n_rows)
    lines = [",".join([*(f"x_{i}" for i in range(5)), label])]
    return "\n".join([*lines, *(",".join([*map(str, row), str(c)]) for row, c in zip(X, y, strict=True))]) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Good and broken files; nobody may change them."""
    folder = tmp_path_factory.mktemp("files")
    lines = csv_text().splitlines()

    def csv(name, text):
        (folder / name).write_text(text if isinstance(text, str) else "\n".join(text) + "\n")

    def parquet(name, table):
        pa.parquet.write_table(table, folder / name)

    write_parquet(folder / "good.parquet", n_rows=60)
    good = example_table(60)
    csv("good.csv", csv_text())
    content = (folder / "good.parquet").read_bytes()
    (folder / "truncated.parquet").write_bytes(content[: len(content) // 2])
    (folder / "garbled.parquet").write_bytes(b"PAR1" + bytes(200) + b"PAR1")
    csv("short_row.csv", [*lines[:12], "1.0,2.0", *lines[12:]])
    csv("long_row.csv", [*lines[:12], lines[12] + ",7", *lines[13:]])
    csv("text_late.csv", [*lines, *(lines[1:] * 9000), "much,0,0,0,0,1"])
    csv("empty.csv", "")
    csv("header.csv", lines[:1])
    csv("twice.csv", ["x_0,x_0,label", "1,2,a", "3,4,b"])
    csv("one_column.csv", ["label", "a", "b"])
    csv("no_names.csv", lines[1:])
    csv("dates.csv", ["when,x,label", *(f"2020-01-{i + 1:02d},{i},{i % 2}" for i in range(20))])
    csv("infinite.csv", [*lines, "inf,0,0,0,0,1"])
    csv("missing_label.csv", [*lines, "1,0,0,0,0,"])
    csv("one_class.csv", [lines[0], *(line.rsplit(",", 1)[0] + ",1" for line in lines[1:])])
    (folder / "latin.csv").write_bytes(b"gr\xf6\xdfe,label\n1,a\n")
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 4)
    (folder / "bad.csv.gz").write_bytes(b"\x1f\x8b" + bytes(30))
    csv("array.json", '[{"x": 1, "label": 2}]')
    csv("broken.jsonl", ['{"x": 1, "label": 2}', '{"x": 1, "lab'])
    csv("broken.svm", ["1 1:0.5 2:1", "0 1:a"])
    csv("fractions.csv", ["x,price", *(f"{i},{i * 1.37:.4f}" for i in range(60))])
    csv("ids.csv", ["x,id", *(f"{i % 7},row{i}" for i in range(400))])
    parquet("nan_labels.parquet", good.set_column(5, "label", pa.array([1.0, 2.0, None] * 20)))
    parquet("numbered.parquet", good.set_column(5, "label", pa.array(np.arange(60))))
    parquet("millions.parquet", pa.table({"x": np.arange(1e6), "label": np.arange(10**6)}))
    late = np.tile([0.0, 1.0], 5000)
    late[9000] = 0.5
    parquet("fraction_late.parquet", pa.table({"x": np.arange(10_000.0), "z": late, "label": late}))
    parquet("nested.parquet", good.append_column("deep", pa.array([{"a": 1}] * 60)))
    parquet("no_rows.parquet", good.slice(0, 0))
    parquet("text_target.parquet", good.set_column(5, "label", pa.array(["a", "b", "c"] * 20)))
    parquet("other_columns.parquet", good.rename_columns(["a", "b", "c", "d", "e", "label"]))
    parquet("no_label.parquet", good.drop_columns(["label"]))
    parquet("text_for_numbers.parquet", good.set_column(0, "x_0", pa.array(["a", "b", "c"] * 20)))
    np.save(folder / "vector.npy", np.arange(5.0))
    np.save(folder / "objects.npy", np.array([{}, None], dtype=object), allow_pickle=True)
    np.save(folder / "alone.npy", np.eye(4))
    (folder / "short.npy").write_bytes((folder / "alone.npy").read_bytes()[:-20])
    (folder / "cut.npz").write_bytes(b"PK\x03\x04" + bytes(40))
    (folder / "picture.craft").write_bytes(PICTURE)
    (folder / "empty.craft").write_bytes(b"")
    (folder / "nothing").mkdir()
    (folder / "mixed").mkdir()
    (folder / "mixed" / "a.csv").write_text(csv_text())
    write_parquet(folder / "mixed" / "b.parquet", n_rows=20)
    run("train", folder / "good.parquet", "--out", folder / "good.craft", *PLAIN)
    run(
        "train",
        folder / "fractions.csv",
        "--target",
        "price",
        "--out",
        folder / "numbers.craft",
        *PLAIN,
        "--regression",
    )
    whole = (folder / "good.craft").read_bytes()
    (folder / "cut.craft").write_bytes(whole[:-10])
    (folder / "garbled.craft").write_bytes(whole.replace(b'\\"CraftClassifier\\"', b'\\"CraftClassifiet\\"'))
    X, y = example_rows(60)
    narrow = CraftClassifier(Polynomial(2), 8, metric=None, random_state=0).fit(X[:, :3], y)
    narrow.save(folder / "notes.craft", notes={"columns": {"features": "all"}})
    narrow.save(folder / "plain.craft")
    return folder


TRAIN = "train {0} --out {out}/m.craft"
GOOD = TRAIN.replace("{0}", "good.parquet")
PREDICT = "predict good.craft {0} --out {out}/p.csv"
EVALUATE = "evaluate good.craft {0}"

# What is typed, which exit code, and a part of what is said.
CASES = {
    # Files to learn from.
    "no such file": (TRAIN, "nowhere.csv", 1, "There is no file"),
    "a glob of nothing": (TRAIN, "*.xyz", 1, "No file matches"),
    "truncated Parquet": (TRAIN, "truncated.parquet", 1, "truncated.parquet cannot be read"),
    "garbled Parquet": (TRAIN, "garbled.parquet", 1, "garbled.parquet cannot be read"),
    "Parquet without rows": (TRAIN, "no_rows.parquet", 1, "no_rows.parquet has no rows"),
    "a nested column": (TRAIN, "nested.parquet", 1, "'deep'"),
    "a short row": (TRAIN, "short_row.csv", 1, "Line 13 of"),
    "a long row": (TRAIN, "long_row.csv", 1, "Line 13 of"),
    "text among numbers": (TRAIN, "text_late.csv", 1, "must hold numbers, got 'much' in line"),
    "an empty file": (TRAIN, "empty.csv", 1, "empty.csv is empty"),
    "a header alone": (TRAIN, "header.csv", 1, "header.csv has no rows"),
    "columns of one name": (TRAIN, "twice.csv", 1, "'x_0' more than once"),
    "a target alone": (TRAIN, "one_column.csv", 1, "must have columns beside the target"),
    "no names": (TRAIN + " --target label", "no_names.csv", 2, "--target must be a position"),
    "a position too far": (TRAIN + " --target 9", "no_names.csv", 2, "--target must be a position among 6 columns"),
    "dates": (TRAIN, "dates.csv", 1, "leave it out with --drop 'when'"),
    "infinity": (TRAIN, "infinite.csv", 1, "infinite in float32 in row 31"),
    "a missing label": (TRAIN, "missing_label.csv", 1, "Row 31 of"),
    "NaN labels": (TRAIN + " --classification", "nan_labels.parquet", 1, "Row 3 of"),
    "one class": (TRAIN, "one_class.csv", 1, "The target 'label' must have at least 2 classes, got only 1."),
    "not UTF-8": (TRAIN, "latin.csv", 1, "must be UTF-8"),
    "bytes": (TRAIN, "binary.csv", 2, "binary.csv"),
    "damaged gzip": (TRAIN, "bad.csv.gz", 1, "bad.csv.gz cannot be read: Unknown compression method."),
    "a JSON array": (TRAIN, "array.json", 1, "one JSON object per line, got an array"),
    "broken JSON": (TRAIN, "broken.jsonl", 1, "broken.jsonl must have one JSON object per line"),
    "broken svmlight": (TRAIN, "broken.svm", 1, "Line 2 of"),
    "a vector": (TRAIN + " --target 0", "vector.npy", 1, "must have rows and columns"),
    "pickled objects": (TRAIN, "objects.npy", 1, "cannot be read as NPY"),
    "a cut NPY file": (TRAIN + " --target 0", "short.npy", 1, "short.npy cannot be read as NPY"),
    "NPY without labels": (TRAIN, "alone.npy", 1, "must have labels"),
    "a cut NPZ file": (TRAIN, "cut.npz", 1, "cut.npz is damaged or cut off"),
    "a folder without data": (TRAIN, "nothing", 1, "holds no data files"),
    "a folder of two formats": (TRAIN, "mixed", 1, "must hold data of one format"),
    "a picture": (TRAIN, "picture.craft", 1, "picture.craft is in no known format"),
    # Targets.
    "a near name": (
        TRAIN + " --target lable",
        "good.parquet",
        2,
        "--target must be a column of good.parquet, got 'lable': did you mean 'label'?",
    ),
    "no target": (TRAIN, "no_label.parquet", 2, "--target must name the column of labels, as no_label.parquet has no"),
    "a column not there to drop": (TRAIN + " --drop x_9", "good.parquet", 2, "--drop must be a column of"),
    "the target dropped": (TRAIN + " --drop label", "good.parquet", 2, "--drop must not name the target, got 'label'"),
    "a column not there for categories": (
        TRAIN + " --categories x_9",
        "good.parquet",
        2,
        "--categories must be a column of",
    ),
    "numbers with types for categories": (
        TRAIN + " --categories x_1",
        "good.parquet",
        2,
        "--categories must be columns of text",
    ),
    "columns without names to drop": (TRAIN + " --drop x", "alone.npy", 2, "--drop must be empty for alone.npy"),
    "fractions": (TRAIN + " --target price", "fractions.csv", 2, "say --regression"),
    "fractions as classes": (TRAIN + " --target price --classification", "fractions.csv", 2, "which are no classes"),
    "a fraction late": (TRAIN, "fraction_late.parquet", 1, "After 8,192 rows: "),
    "as many numbers as rows": (TRAIN, "numbered.parquet", 2, "60 different numbers in its first 60 rows"),
    "a million numbers": (TRAIN, "millions.parquet", 2, "say --regression"),
    "a million classes": (
        TRAIN + " --classification --components 64 --memory 900MB",
        "millions.parquet",
        1,
        "classes in 8,192 rows, which is what fits in 0.9 GB",
    ),
    "as many names as rows": (TRAIN + " --target id", "ids.csv", 1, "400 different labels in its first 400 rows"),
    "regression of text": (TRAIN + " --regression", "text_target.parquet", 1, "needs a target of numbers"),
    # Options.
    "no output": ("train good.parquet", "", 2, "--out"),
    "no data": ("train --out {out}/m.craft", "", 2, "DATA"),
    "an unknown kernel": (
        GOOD + " --kernel rbf:1",
        "",
        2,
        "must be auto, poly:DEGREE[:COEF0[:GAMMA]] or exp[:GAMMA], got",
    ),
    "a broken kernel": (GOOD + " --kernel poly:x", "", 2, "got 'poly:x'"),
    "no degree": (GOOD + " --kernel poly", "", 2, "got 'poly'"),
    "a negative degree": (GOOD + " --kernel poly:-1", "", 2, "degree must be an integer of at least 0, got -1"),
    "a negative coef0": (GOOD + " --kernel poly:2:-1", "", 2, "coef0 must be a finite number of at least 0"),
    "NaN in a kernel": (GOOD + " --kernel exp:nan", "", 2, "gamma must be a finite number"),
    "negative components": (GOOD + " --components -5", "", 2, "a whole number of at least 1, got '-5'"),
    "no components": (GOOD + " --components 0", "", 2, "got '0'"),
    "components in words": (GOOD + " --components many", "", 2, "a whole number of at least 1, got 'many'"),
    "a negative seed": (GOOD + " --seed -1", "", 2, "a whole number from 0 to"),
    "an unknown map": (GOOD + " --feature-map fourier", "", 2, "'--feature-map': 'fourier' is not one of 'craft'"),
    "an unknown option": (GOOD + " --colour red", "", 2, "--colour"),
    "an unknown command": ("learn good.parquet", "", 2, "learn"),
    "a negative alpha": (GOOD + " --alpha -1", "", 2, "a finite number of at least 0, got '-1'"),
    "infinite alpha": (GOOD + " --alpha inf", "", 2, "got 'inf'"),
    "memory in words": (GOOD + " --memory lots", "", 2, "a size such as 4GB"),
    "no memory": (GOOD + " --memory 0GB", "", 2, "a size such as 4GB"),
    "components that do not fit": (
        GOOD + " --components 20000 --memory 1GB",
        "",
        1,
        "but the bound is 1 GB: at most",
    ),
    "a share of all": (GOOD + " --test-share 1", "", 2, "a number above 0 and below 1, got '1'"),
    "a share in words": (GOOD + " --test-share half", "", 2, "a number above 0 and below 1, got 'half'"),
    "a share and a file": (GOOD + " --test-share 0.2 --test good.parquet", "", 2, "got --test too"),
    "a share of standard input": (TRAIN + " --test-share 0.2", "-", 2, "which can be read only once"),
    "a share of nothing": (GOOD + " --test-share 1e-9", "", 1, "holds out none of 60 rows: ask for another share."),
    "weights that are not there": (GOOD + " --weight w", "", 2, "--weight must be a column of"),
    "weights that are the target": (GOOD + " --weight label", "", 2, "--weight must not name the target"),
    "another decimal mark": (GOOD + " --decimal ;", "", 2, "--decimal"),
    "a decimal comma in Parquet": (GOOD + " --decimal ,", "", 2, "--decimal must be"),
    "ids that are not there": (PREDICT + " --id name", "good.parquet", 2, "--id must be a column of"),
    "ids called prediction": (PREDICT + " --id prediction", "good.parquet", 2, "must not be called 'prediction'"),
    "JSON among predictions": (
        "predict good.craft {0} --out - --json",
        "good.parquet",
        2,
        "--json must be left out with --out -",
    ),
    "ids in an array": ("predict good.craft {0} --out {out}/p.npy --id x_0", "good.parquet", 2, "and no --id"),
    "nothing fits": (GOOD + " --memory 100MB", "", 1, "not even one"),
    "memory without a unit": (GOOD + " --memory 4", "", 2, "at least 64MB, got '4', which is 4 bytes: write 4GB."),
    "too little memory": (GOOD + " --memory 10MB", "", 2, "at least 64MB, got '10MB', which is 10,000,000 bytes."),
    "resume without a folder": (GOOD + " --resume", "", 2, "give --checkpoint DIR"),
    "a checkpoint that is a file": (
        GOOD + " --checkpoint good.csv",
        "",
        1,
        "--checkpoint must be a folder, got the file 'good.csv'.",
    ),
    "standard input among files": ("train - good.parquet --out {out}/m.craft", "", 2, "must come alone"),
    "an output folder that is not there": (
        "train good.parquet --out {out}/no/m.craft",
        "",
        1,
        "in a folder that exists",
    ),
    "output to a folder": ("train good.parquet --out {out}", "", 1, "--out must be a file, got the folder"),
    "output to a device": ("train good.parquet --out /dev/null", "", 1, "got the device or pipe"),
    "output over the input": (
        "predict good.craft good.csv --out good.csv",
        "",
        1,
        "--out must be another file than those that are read",
    ),
    "a report into nowhere": (GOOD + " --report {out}/no/r.html", "", 1, "--report must be in a folder that exists"),
    "test rows that are not there": (GOOD + " --test nowhere.csv", "", 1, "There is no file 'nowhere.csv'"),
    "test rows without labels": (
        GOOD + " --test no_label.parquet",
        "",
        1,
        "The target of the training rows must be a column of no_label.parquet, got 'label': it has 'x_0'",
    ),
    "test rows of other columns": (GOOD + " --test other_columns.parquet", "", 1, "lacks the columns 'x_0'"),
    # Models.
    "no such model": ("inspect nowhere.craft", "", 1, "There is no model file nowhere.craft"),
    "a model that is a folder": ("inspect nothing", "", 1, "MODEL must be a file"),
    "a model that is a picture": ("inspect picture.craft", "", 1, "picture.craft is not a model file"),
    "an empty model": ("inspect empty.craft", "", 1, "empty.craft is not a model file"),
    "a cut model": ("inspect cut.craft", "", 1, "cut.craft is not a model file, or not a whole one"),
    "a garbled model": ("inspect garbled.craft", "", 1, "garbled.craft is damaged"),
    "a model that is a table": ("inspect good.parquet", "", 1, "good.parquet is not a model file"),
    "a model with bad notes": (
        "inspect notes.craft",
        "",
        1,
        "The description of columns is damaged: columns.features must",
    ),
    # Predictions.
    "rows of other columns": (PREDICT, "other_columns.parquet", 1, "lacks the columns 'x_0'"),
    "strings for numbers": (
        PREDICT,
        "text_for_numbers.parquet",
        1,
        "'x_0' of text_for_numbers.parquet must hold numbers",
    ),
    "rows of another width": (
        "predict plain.craft other_columns.parquet --out {out}/p.csv",
        "",
        1,
        "lacks the columns",
    ),
    "rows cut off": (PREDICT, "short_row.csv", 1, "Line 13 of"),
    "an unknown suffix": (
        "predict good.craft good.parquet --out {out}/p.xls",
        "",
        2,
        "must end in .parquet, .csv, .npy",
    ),
    "two arrays in one": (
        "predict good.craft good.parquet --out {out}/p.npy --probabilities --scores",
        "",
        2,
        "holds one array",
    ),
    "probabilities of numbers": (
        "predict numbers.craft fractions.csv --out {out}/p.csv --probabilities",
        "",
        1,
        "predicts numbers",
    ),
    "labels that are not there": (
        EVALUATE,
        "no_label.parquet",
        1,
        "The target of the training rows must be a column of no_label.parquet, got 'label': it has 'x_0'",
    ),
    "a near name of labels": (EVALUATE + " --target lable", "good.parquet", 2, "--target must be a column of"),
    "labels of another kind": (EVALUATE, "text_target.parquet", 1, "must be of kind integer"),
    # Other commands.
    "a plan for any kernel": (
        "plan good.parquet --kernel auto",
        "",
        2,
        "It must be poly:DEGREE[:COEF0[:GAMMA]] or exp[:GAMMA], got",
    ),
    "a plan without a target": ("plan good.parquet --target lable", "", 2, "--target must be a column of"),
    "a plan without a column": ("plan good.parquet --drop x_9", "", 2, "--drop must be a column of"),
    "two goals": ("plan good.parquet --error 0.1 --seconds 3", "", 2, "got both"),
    "a goal below zero": ("plan good.parquet --error -1", "", 2, "above 0"),
    "an unknown data set": ("data iris", "", 2, "NAME must be one of a9a"),
    "data into nowhere": ("data digits --out {out}/no", "", 1, "--out must be a folder that exists"),
}


@pytest.mark.parametrize("case", CASES)
def test_one_sentence_and_the_right_exit_code(folder, tmp_path, monkeypatch, case):
    monkeypatch.chdir(folder)
    typed, data, code, said = CASES[case]
    before = sorted(folder.iterdir())
    arguments = [part.format(data, out=tmp_path) for part in typed.split()]
    quick = {"--components": "16", "--kernel": "poly:2:1", "--metric": "none"}  # no choices, which tell how they go on
    if arguments[0] == "train":
        arguments += [word for option in quick.items() if option[0] not in arguments for word in option]
    result = run(*arguments, code=code)
    assert said in result.stderr
    assert result.stderr.startswith("craftmaps: ")
    assert len(result.stderr.splitlines()) == 1
    assert not result.stdout
    assert not list(tmp_path.iterdir())
    assert sorted(folder.iterdir()) == before


def test_there_are_many_cases():
    assert len(CASES) >= 40


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(tmp_path):
    data = write_parquet(tmp_path / "secret.parquet")
    data.chmod(0)
    result = run("train", data, "--out", tmp_path / "m.craft", code=1)
    assert "secret.parquet cannot be read: Permission denied." in result.stderr


def test_a_file_that_cannot_be_opened(tmp_path, monkeypatch):
    """As above, for root too: the system says no."""
    data = write_parquet(tmp_path / "secret.parquet")
    real = open

    def refusing(path, *arguments, **options):
        if str(path) == str(data):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr("craftmaps.streams.sources.data_file.open", refusing, raising=False)
    result = run("train", data, "--out", tmp_path / "m.craft", code=1)
    assert result.stderr == f"craftmaps: {data} cannot be read: Permission denied.\n"


def test_a_defect_is_said_to_be_one_and_debug_shows_where(tmp_path, monkeypatch):
    def broken(path):
        raise KeyError("lost")

    model = tmp_path / "model.craft"
    model.write_bytes(b"")
    monkeypatch.setattr("craftmaps.cli.model_rows.load_model", broken)
    assert "A defect of craftmaps, KeyError: 'lost' (--debug shows where)" in run("inspect", model, code=1).stderr
    for arguments in (["--debug", "inspect", str(model)], ["inspect", str(model), "--debug"]):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 1
        assert "Traceback" in result.stderr


def test_output_that_cannot_be_made_is_refused_before_the_work(tmp_path, monkeypatch):
    """As on a file system that can only be read, where the rights of the folder say nothing."""

    def refusing(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refusing)
    # The rows are not there either: it is said before they are looked for.
    for command in (["train", "nowhere.csv"], ["predict", "nowhere.craft", "nowhere.csv"]):
        said = run(*command, "--out", tmp_path / "p.csv", code=1).stderr
        path = repr(str(tmp_path / "p.csv"))
        assert said == f"craftmaps: --out must be a file that can be made, got {path}: Read-only file system.\n"
