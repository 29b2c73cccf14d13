"""Cells of tables become the same rows in JavaScript as in Python."""

import json

import numpy as np
import pytest

from craftmaps.export.packing import to_plain
from craftmaps.export.recipe import recipe_of
from craftmaps.export.scripts import small_script, web_file
from tests.export import models
from tests.export.javascript import BROWSER, MiniRacer
from tests.export.tables import HEADER, matrix, table_model

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = pytest.mark.skipif(MiniRacer is None, reason="mini-racer is not installed")


def engine(model, file, **data):
    context = MiniRacer()
    recipe = json.dumps(to_plain(recipe_of(model)))
    files = [web_file(name) for name in ("arrays.js", "random.js", "cells.js", file)]
    script = small_script("\n".join(files))
    context.eval(
        f"{BROWSER} var data = {json.dumps({'decimal': False, 'target': None} | data)}, recipe = {recipe};{script}"
    )
    return context


READ = """
(text) => {
  const lines = [...linesOf(text)], columns = cellsOf(lines[0]);
  return JSON.stringify(lines.slice(columns.isHeader ? 1 : 0).map((cells) => rowOf(columns.pick(cells))));
}
"""


def read(context, text):
    return json.loads(context.eval(f"({READ})({json.dumps(text)})"))


def refused(context, text):
    return context.eval(f"(() => {{ try {{ ({READ})({json.dumps(text)}); }} catch (e) {{ return e.message; }} }})()")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    model, path = table_model(tmp_path_factory.mktemp("table"))
    return model, path, engine(model, "table.js")


def test_columns_of_every_kind(table):
    model, path, context = table
    kinds = {column["kind"] for column in model.notes_["columns"]["features"]}
    assert kinds == {"number", "one-hot", "boolean", "date", "hashed"}
    found = read(context, path.read_text(encoding="utf-8"))
    np.testing.assert_array_equal(np.array(found, np.float32), matrix(model, path))


def test_columns_in_another_order(table):
    _, path, context = table
    rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines() if '"' not in line]
    order = [6, 3, 0, 5, 2, 4, 1]
    turned = "\r\n".join(";".join(row[i] for i in order) for row in rows)
    plain = "\n".join(",".join(row) for row in rows)
    assert read(context, turned) == read(context, plain)
    assert len(rows) > 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age,income\n1,2", "The file lacks the column city, member, since, name."),
        (f"{HEADER}\nold,1,Paris,true,2020-01-01,x,y", "age must be a finite number, got old."),
        (f"{HEADER}\n1e999,1,Paris,true,2020-01-01,x,y", "age must be a finite number, got 1e999."),
        (f"{HEADER}\n1,1,Paris,maybe,2020-01-01,x,y", "member must be a finite number, got maybe."),
        (f"{HEADER}\n1,1,Paris,true,yesterday,x,y", "since must be a date such as 2020-01-31, got yesterday."),
    ],
)
def test_bad_cells_are_refused_in_words(table, text, message):
    assert refused(table[2], text) == message


def test_rows_without_names():
    context = engine(models.fitted("craft"), "numbers.js")
    assert read(context, "1,2,3,4,5,6.5\n0,0,0,0,0,-1e3\n") == [[1, 2, 3, 4, 5, 6.5], [0, 0, 0, 0, 0, -1000]]
    assert read(context, "a,b,c,d,e,f\n1,2,3,4,5,6\n") == [[1, 2, 3, 4, 5, 6]]
    assert refused(context, "1,2\n") == "must have 6 numbers, got 2."
    assert refused(context, "1,2,3,4,,6\n") == "x4 is empty: a number is expected."
    assert refused(context, "1,2,3,4,5,6\n1,2,3,4,nan,6\n") == "x4 must be a finite number, got nan."


def test_the_label_is_passed_over_and_decimal_commas_are_read():
    context = engine(models.fitted("craft"), "numbers.js", decimal=True, target=0)
    assert read(context, "7;1,5;2;3;4;5;6\n") == [[1.5, 2, 3, 4, 5, 6]]
