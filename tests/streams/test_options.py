"""Weights, ids, decimal marks and dates."""

import datetime
import io
import json
import pickle
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from craftmaps import CraftClassifier, Polynomial, streams
from craftmaps.streams import Block, Column, Columns
from craftmaps.streams.errors import ArgumentError
from tests.streams.formats import collect

N = 60
TABLE = pa.table(
    {
        "a": np.arange(N) / 4,
        "who": [f"r{i:03d}" for i in range(N)],
        "number": np.arange(N) + 2**60,
        "w": np.arange(N) % 3 / 2,
        "label": np.arange(N) % 2,
    }
)


def csv_file(path, rows=TABLE):
    lines = [",".join(rows.column_names), *(",".join(map(str, row.values())) for row in rows.to_pylist())]
    path.write_text("\n".join(lines) + "\n")


WRITERS = {
    "parquet": lambda path: pa.parquet.write_table(TABLE, path, row_group_size=7),
    "feather": lambda path: pa.feather.write_feather(TABLE, path, chunksize=11),
    "csv": csv_file,
    "jsonl": lambda path: path.write_text("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist())),
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_weights_and_ids_are_carried_along(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    WRITERS[suffix](path)
    stream = streams.open(path, batch_rows=25, drop=["number"], weight="w", ids="who")
    assert stream.columns.feature_names == ["a"]
    blocks = list(stream.blocks())
    assert [len(block.X) for block in blocks] == [25, 25, 10]
    assert all(isinstance(block, Block) and block._fields == ("X", "y", "weight", "ids") for block in blocks)
    np.testing.assert_array_equal(np.concatenate([b.weight for b in blocks]), TABLE["w"].to_numpy())
    assert np.concatenate([b.ids for b in blocks]).tolist() == TABLE["who"].to_pylist()
    pairs = list(stream)
    assert [len(block) for block in pairs] == [3, 3, 3]
    for block, (X, y, weight) in zip(blocks, pairs, strict=True):
        np.testing.assert_array_equal(block.X, X)
        np.testing.assert_array_equal(block.y, y)
        np.testing.assert_array_equal(block.weight, weight)


@pytest.mark.parametrize("suffix", WRITERS)
def test_ids_are_carried_when_rows_are_predicted(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    WRITERS[suffix](path)
    columns = streams.open(path, drop=["number", "who"], weight="w").columns
    [block] = streams.open(path, None, columns=columns, ids="number").blocks()
    assert (block.y, block.weight) == (None, None)
    # Text stays text: an id may have more digits than a number.
    expected = TABLE["number"].to_pylist()
    assert block.ids.tolist() == (list(map(str, expected)) if suffix == "csv" else expected)
    # A feature can also be the column of ids.
    [block] = streams.open(path, None, columns=columns, ids="a").blocks()
    np.testing.assert_array_equal(block.ids, TABLE["a"])


def test_standard_input_carries_ids(monkeypatch):
    text = io.TextIOWrapper(io.BytesIO(b"id,a,w,label\n07,1,2,x\n08,3,4,y\n"))
    monkeypatch.setattr(sys, "stdin", text)
    [block] = streams.open("-", ids="id", weight="w").blocks()
    assert (block.ids.tolist(), block.weight.tolist(), block.y.tolist()) == (["07", "08"], [2, 4], ["x", "y"])


def test_a_missing_id_is_empty_or_refused(tmp_path):
    rows = {"a": [1, 2], "name": ["x", None], "key": [1, None], "day": [datetime.date(2020, 1, 2)] * 2}
    pa.parquet.write_table(pa.table(rows), tmp_path / "t.parquet")
    columns = Columns((Column("a", "number", 0.0),))
    [block] = streams.open(tmp_path / "t.parquet", columns=columns, ids="name").blocks()
    assert block.ids.tolist() == ["x", ""]
    [block] = streams.open(tmp_path / "t.parquet", columns=columns, ids="day").blocks()
    assert block.ids.tolist() == ["2020-01-02"] * 2
    with pytest.raises(ValueError, match=r"Column 'key' of .*t.parquet has no id in row 2"):
        list(streams.open(tmp_path / "t.parquet", columns=columns, ids="key").blocks())


def test_weights_reach_the_learner(tmp_path):
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(80, 2)), rng.integers(0, 2, 80), rng.integers(1, 4, 80)
    pa.parquet.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "w": weight, "label": y}), tmp_path / "t.parquet")
    model = CraftClassifier(Polynomial(2), 16, metric=None, random_state=0)
    model.fit_stream(streams.open(tmp_path / "t.parquet", weight="w", batch_rows=80, dtype="float64"))
    expected = CraftClassifier(Polynomial(2), 16, metric=None, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)


REFUSED = {
    "unknown weight": ({"weight": "W"}, "weight must be a column of .*, got 'W': did you mean 'w'"),
    "unknown ids": ({"ids": "whom"}, "ids must be a column of .*, got 'whom': did you mean 'who'"),
    "weight of text": ({"weight": "who"}, "weight must be a column of numbers, got 'who' of .*, which holds strings"),
    "weight and target": ({"weight": "label"}, "weight must not name the target, got 'label'"),
    "ids and target": ({"ids": "label"}, "ids must not name the target, got 'label'"),
    "weight and ids": ({"weight": "w", "ids": "w"}, "ids must not name the column of weights, got 'w'"),
    "decimal": ({"decimal": ";"}, "decimal must be '.' or ',', got ';'"),
    "decimal of Parquet": (
        {"decimal": ","},
        "decimal must be None for .*t.parquet, whose numbers are not text, got ','",
    ),
    "dates": ({"dates": "year"}, "dates must be 'parts' or None, got 'year'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_options_are_refused(tmp_path, case):
    WRITERS["parquet"](tmp_path / "t.parquet")
    options, words = REFUSED[case]
    with pytest.raises(ArgumentError, match=words) as caught:
        streams.open(tmp_path / "t.parquet", **{"drop": ["number"]} | options)
    assert caught.value.argument == str(caught.value).split()[0] in options
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.argument) == (str(caught.value), caught.value.argument)


@pytest.mark.parametrize("options", [{"weight": 3}, {"ids": ["who"]}])
def test_options_of_another_type_are_refused(tmp_path, options):
    WRITERS["parquet"](tmp_path / "t.parquet")
    with pytest.raises(TypeError, match=f"{next(iter(options))} must be the name of a column or None, got"):
        streams.open(tmp_path / "t.parquet", **options)


@pytest.mark.parametrize("options", [{"weight": "w"}, {"ids": "w"}, {"decimal": ","}, {"dates": "parts"}])
def test_files_without_column_names_take_no_options(tmp_path, options):
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=np.arange(3))
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be None for .*t.npz"):
        streams.open(tmp_path / "t.npz", **options)


@pytest.mark.parametrize(("cell", "got"), [("-1", "-1"), ("", "none"), ("inf", "inf")])
def test_a_wrong_weight_is_named(tmp_path, cell, got):
    (tmp_path / "t.csv").write_text(f"a,w,label\n1,2,0\n3,{cell},1\n")
    with pytest.raises(
        ValueError, match=f"Column 'w' of .* must hold finite weights of at least 0, got {got} in row 2"
    ):
        list(streams.open(tmp_path / "t.csv", weight="w"))


def test_a_feature_cannot_be_the_weight(tmp_path):
    WRITERS["parquet"](tmp_path / "t.parquet")
    columns = streams.open(tmp_path / "t.parquet", drop=["who"]).columns
    with pytest.raises(ValueError, match="weight must not be one of the features of columns, got 'w'"):
        streams.open(tmp_path / "t.parquet", columns=columns, weight="w")


@pytest.mark.parametrize("delimiter", [";", "\t", ","])
def test_a_decimal_comma(tmp_path, delimiter):
    cells = ["3,5", "-,25", "4", "1e3", ""]
    quoted = [f'"{cell}"' if delimiter == "," else cell for cell in cells]
    path = tmp_path / "t.csv"
    path.write_text(
        "".join(f"{cell}{delimiter}{i}\n" for cell, i in [("a", "label"), *zip(quoted, range(5), strict=True)])
    )
    stream = streams.open(path, decimal=",", dtype="float64")
    X, _ = collect(stream)
    np.testing.assert_array_equal(X[:, 0], [3.5, -0.25, 4, 1000, np.mean([3.5, -0.25, 4, 1000])])
    # The rule stores the mark, also as JSON.
    columns = Columns.from_plain(json.loads(json.dumps(stream.columns.to_plain())))
    assert columns == stream.columns
    assert columns.decimal == ","
    np.testing.assert_array_equal(collect(streams.open(path, columns=columns, dtype="float64"))[0], X)
    # Another mark in the rows to predict is refused.
    path.write_text(path.read_text().replace("3,5", "3.5"))
    with pytest.raises(ValueError, match=r"Column 'a' of .* must hold numbers, got '3.5'"):
        list(streams.open(path, columns=columns))
    path.write_text(f"a{delimiter}label\n3.5{delimiter}0\n")
    np.testing.assert_array_equal(collect(streams.open(path, columns=columns, decimal="."))[0], [[3.5]])


def test_a_decimal_comma_without_names_and_in_the_target(tmp_path):
    (tmp_path / "t.csv").write_text("3,5;1,5\n2,5;0,5\n")
    X, y = collect(streams.open(tmp_path / "t.csv", target=-1, decimal=","))
    np.testing.assert_array_equal(X, [[3.5], [2.5]])
    np.testing.assert_array_equal(y, [1.5, 0.5])


def test_a_point_is_not_a_decimal_mark_beside_commas(tmp_path):
    (tmp_path / "t.csv").write_text("a;label\n" + "".join(f"{i},5;0\n" for i in range(30)) + "1.5;0\n")
    with pytest.raises(ValueError, match=r"holds numbers in 30 of 31 cells, but '1\.5' in row 31"):
        streams.open(tmp_path / "t.csv", decimal=",")


DATES = [datetime.datetime(2020, 2, 29, 23, 30), None, datetime.datetime(2021, 1, 4, 6, 0)]
PARTS = np.array([[2020, 2, 29, 5, 23, 30], [2020.5, 1.5, 16.5, 2.5, 14.5, 15], [2021, 1, 4, 0, 6, 0]])
DATED = {
    "timestamps": pa.array(DATES, pa.timestamp("us")),
    "seconds": pa.array(DATES, pa.timestamp("s")),
    "dictionary": pa.array(DATES, pa.timestamp("us")).dictionary_encode(),
    "text": pa.array(["2020-02-29 23:30", None, "2021-01-04T06:00:00.000"]),
    "text with zones": pa.array(["2020-02-29T23:30:00Z", None, "2021-01-04 06:00:00.123456789+02:00"]),
    "zone": pa.array(["2020-02-29T22:30:00", None, "2021-01-04T05:00:00"])
    .cast(pa.timestamp("s"))
    .cast(pa.timestamp("us", "Europe/Berlin")),
}


@pytest.mark.parametrize("kind", DATED)
def test_parts_of_dates(tmp_path, kind):
    pa.parquet.write_table(pa.table({"t": DATED[kind], "label": [0, 1, 0]}), tmp_path / "t.parquet")
    stream = streams.open(tmp_path / "t.parquet", dates="parts", dtype="float64")
    names = ["t_year", "t_month", "t_day", "t_weekday", "t_hour", "t_minute"]
    assert stream.columns.feature_names == names
    X, _ = collect(stream)
    np.testing.assert_array_equal(X, PARTS)
    columns = Columns.from_plain(json.loads(json.dumps(stream.columns.to_plain())))
    assert columns == stream.columns
    # The same dates as text, from another format.
    (tmp_path / "t.csv").write_text('t\n2020-02-29 23:30:00\nNA\n" 2021-01-04T06:00 "\n')
    np.testing.assert_array_equal(collect(streams.open(tmp_path / "t.csv", columns=columns, dtype="float64"))[0], X)


def test_days_have_no_hours(tmp_path):
    (tmp_path / "t.csv").write_text("t,label\n2020-02-29,0\n,1\n2021-01-04,1\n")
    stream = streams.open(tmp_path / "t.csv", dates="parts", dtype="float64")
    np.testing.assert_array_equal(collect(stream)[0], PARTS[:, :4])
    (tmp_path / "t.jsonl").write_text('{"t": "2020-02-29"}\n{"t": null}\n{"t": "2021-01-04"}\n')
    X, _ = collect(streams.open(tmp_path / "t.jsonl", columns=stream.columns, dtype="float64"))
    np.testing.assert_array_equal(X, PARTS[:, :4])


def test_dates_are_refused_with_a_remedy(tmp_path):
    (tmp_path / "t.csv").write_text("t,a,label\n2020-02-29,1,0\n2021-01-04,2,1\n")
    with pytest.raises(ValueError, match=r"with dates='parts', cast it, or leave it out with drop=\['t'\]"):
        streams.open(tmp_path / "t.csv")
    pa.parquet.write_table(pa.table({"t": DATES, "label": [0, 1, 0]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"is of type timestamp\[us\], .* with dates='parts'"):
        streams.open(tmp_path / "t.parquet")


@pytest.mark.parametrize("odd", ["soon", "2020-02-30"])
def test_a_word_among_dates_is_refused(tmp_path, odd):
    days = [f"2020-01-{i:02d}" for i in range(1, 29)]
    (tmp_path / "t.csv").write_text("t,label\n" + "".join(f"{day},0\n" for day in [*days, odd, *days]))
    with pytest.raises(ValueError, match=f"holds dates in 56 of 57 cells, but '{odd}' in row 29: correct it"):
        streams.open(tmp_path / "t.csv", dates="parts")
    columns = streams.open(tmp_path / "t.csv", dates="parts", max_rows=28).columns
    with pytest.raises(ValueError, match=f"'t' of .* must hold dates such as .* got '{odd}' in row 29"):
        list(streams.open(tmp_path / "t.csv", columns=columns))


def test_words_stay_text_where_dates_are_parts(tmp_path):
    (tmp_path / "t.csv").write_text("town,when,label\n" + "Rome,2020-01-01,0\nParis,2020-01-02,1\n" * 20)
    columns = streams.open(tmp_path / "t.csv", dates="parts").columns
    assert columns.summary() == [("date", 1, ["when"]), ("category", 1, ["town"])]


def test_a_summary_of_columns(tmp_path):
    number = {f"n{i}": np.arange(3.0) for i in range(2)}
    columns = number | {
        "t": DATES,
        "flag": [True] * 3,
        "eyes": ["b", "g", "b"],
        "v": [[1.0, 2.0]] * 3,
        "label": [0, 1, 0],
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert streams.open(tmp_path / "t.parquet", dates="parts").columns.summary() == [
        ("numbers", 2, ["n0", "n1"]),
        ("boolean", 1, ["flag"]),
        ("list", 1, ["v"]),
        ("date", 1, ["t"]),
        ("category", 1, ["eyes"]),
    ]
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=np.arange(3))
    assert streams.open(tmp_path / "t.npz").columns.summary() == [("numbers", 3, ["x"])]
