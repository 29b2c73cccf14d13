"""The same rows give the same model, whatever file they come from."""

import json

import numpy as np
import pytest

from craftmaps import CraftClassifier, Polynomial
from craftmaps.learners.persistence import container as model_file
from tests.cli.running import PLAIN, example_rows, run
from tests.streams.formats import FORMATS, write

BATCH_ROWS = 50


def content(path):
    """Return everything in a model file but the columns of the table, and parameters that change no number."""
    header = model_file.read(path)
    for name in ("batch_rows", "packed"):
        header["parameters"].pop(name)
    notes = json.loads(header.pop("notes")["json"])
    arrays = header.pop("weights"), header.pop("intercept")
    return json.dumps(header, sort_keys=True), [array.tobytes() for array in arrays], notes


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The model of the rows as arrays, cut into blocks by hand."""
    X, y = example_rows()
    X = X.astype(np.float32)
    blocks = [(X[i : i + BATCH_ROWS], y[i : i + BATCH_ROWS]) for i in range(0, len(y), BATCH_ROWS)]
    parameters = {"metric": None, "random_state": 0, "packed": False}  # the command line decides by memory
    model = CraftClassifier(Polynomial(3), 24, **parameters).fit_stream(blocks)
    path = tmp_path_factory.mktemp("arrays") / "model.craft"
    model.save(path)
    return path


# IDX holds labels of 32 bits, and labels inside a matrix of doubles are doubles: those models say so.
@pytest.mark.parametrize("format", [name for name in FORMATS if name not in ("IDX", "NPY, labels inside")])
def test_every_format_gives_the_model_of_the_arrays(tmp_path, expected, format):
    data, target = write(tmp_path, format, *example_rows())
    options = [] if target == "auto" else ["--target", target]
    run("train", data, "--out", tmp_path / "model.craft", "--batch-rows", BATCH_ROWS, *options, *PLAIN)
    assert content(tmp_path / "model.craft")[:2] == content(expected)[:2]


@pytest.mark.parametrize("formats", [("Parquet", "CSV", "JSON lines", "Feather"), ("NPY, labels beside", "NPZ")])
def test_notes_are_equal_too_where_columns_have_the_same_names(tmp_path, formats):
    files = []
    for format in formats:
        data, _ = write(tmp_path, format, *example_rows())
        run("train", data, "--out", tmp_path / "model.craft", "--batch-rows", BATCH_ROWS, *PLAIN)
        files.append((tmp_path / "model.craft").read_bytes())
    assert len(set(files)) == 1


def test_other_blocks_and_another_seed_are_other_models(tmp_path):
    data, _ = write(tmp_path, "Parquet", *example_rows())
    files = []
    for options in ([], ["--seed", 1], ["--batch-rows", 7]):
        run("train", data, "--out", tmp_path / "model.craft", *PLAIN, *options)
        files.append((tmp_path / "model.craft").read_bytes())
    assert files[0] != files[1]
    assert files[0] != files[2]


def test_standard_input_gives_the_model_of_the_file(tmp_path):
    data, _ = write(tmp_path, "CSV", *example_rows())
    run("train", data, "--out", tmp_path / "file.craft", *PLAIN)
    run("train", "-", "--out", tmp_path / "input.craft", *PLAIN, stdin=data.read_bytes())
    assert (tmp_path / "file.craft").read_bytes() == (tmp_path / "input.craft").read_bytes()


def test_several_paths_and_a_glob_are_one_stream(tmp_path):
    X, y = example_rows()
    for i in range(3):
        (tmp_path / str(i)).mkdir()
        write(tmp_path / str(i), "Parquet", X[80 * i : 80 * i + 80], y[80 * i : 80 * i + 80])
    whole, _ = write(tmp_path, "Parquet", X, y)
    sources = {
        "whole": [whole],
        "paths": [tmp_path / str(i) / "t.parquet" for i in range(3)],
        "glob": [str(tmp_path / "[0-9]" / "*.parquet")],
    }
    for name, paths in sources.items():
        run("train", *paths, "--out", tmp_path / f"{name}.craft", *PLAIN)
    files = [(tmp_path / f"{name}.craft").read_bytes() for name in sources]
    assert files[0] == files[1] == files[2]
