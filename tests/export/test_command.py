"""`craftmaps export` writes files that predict, and refuses in one sentence."""

import json
import re

import pytest

from craftmaps import load_model
from tests.export.test_page import data_of

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
running = pytest.importorskip("tests.cli.running", reason="typer is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    running.trained(folder)
    running.write_parquet(folder / "test.parquet", n_rows=90, seed=1)
    return folder


def model_in(folder):
    return next(folder.glob("*.craft"))


def test_a_page(folder, tmp_path):
    test = folder / "test.parquet"
    arguments = ("export", model_in(folder), "--html", tmp_path / "page.html", "--title", "A <b>")
    result = running.run(*arguments, "--test", test)
    assert re.fullmatch(r"page\s+.*page\.html, \d+(\.\d)? kB\s*", result.stdout, re.S)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "A &lt;b&gt;" in text
    plain = data_of(text)
    assert [column["name"] for column in plain["recipe"]["columns"]["features"]] == [f"x_{i}" for i in range(5)]
    assert len(plain["examples"]["labels"]) == 12
    assert set(plain["examples"]["labels"]) <= {str(label) for label in load_model(model_in(folder)).classes_}


def test_all_at_once_as_json(folder, tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    names = {"--html": "m.html", "--onnx": "m.onnx", "--c": "m.h", "--c-main": "m.c"}
    options = [part for option, name in names.items() for part in (option, tmp_path / name)]
    summary = running.run_json("export", model_in(folder), *options)
    found = {file["path"]: file["bytes"] for file in summary["files"]}
    assert found == {str(tmp_path / name): (tmp_path / name).stat().st_size for name in names.values()}
    assert '"m.h"' in (tmp_path / "m.c").read_text()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "One of --html, --onnx and --c must be given."),
        (["--html", "page.txt"], 2, "--html must end in .html, .htm, got 'page.txt'."),
        (["--html", "none/page.html"], 1, "--html must be in a folder that exists"),
        (["--onnx", "m.onnx", "--title", "x"], 2, "--test and --title must come with --html"),
        (["--c-main", "main.c", "--onnx", "m.onnx"], 2, "--c-main must come with --c"),
    ],
)
def test_refusals(folder, options, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = running.run("export", model_in(folder), *options, code=code)
    assert message in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())


def test_json_is_one_document(folder, tmp_path):
    result = running.run("export", model_in(folder), "--html", tmp_path / "page.html", "--json")
    assert json.loads(result.stdout)["files"][0]["path"] == str(tmp_path / "page.html")
