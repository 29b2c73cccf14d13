"""The rule by which a table becomes a matrix, fixed for training rows and applied to rows to predict."""

import copy
import datetime
import decimal
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from craftmaps import streams
from craftmaps.streams import Columns
from tests.streams.formats import collect

N = 30
LABELS = np.arange(N) % 3


def parquet(path, columns, label=LABELS):
    table = pa.table(columns if label is None else columns | {"label": label})
    pa.parquet.write_table(table, path, row_group_size=7)
    return path


def matrix_of(tmp_path, array, **settings):
    """Return the matrix and the feature names of one column."""
    stream = streams.open(parquet(tmp_path / "t.parquet", {"a": array}), batch_rows=8, **settings)
    return collect(stream)[0], stream.columns.feature_names


COUNT = np.arange(N)
NUMBERS = {
    "int8": pa.array(COUNT, pa.int8()),
    "uint64": pa.array(COUNT, pa.uint64()),
    "half": pa.array(COUNT.astype(np.float16)),
    "single": pa.array(COUNT, pa.float32()),
    "decimal": pa.array([decimal.Decimal(int(i)) for i in COUNT], pa.decimal128(10, 2)),
    "dictionary": pa.array(COUNT).dictionary_encode(),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_stay_as_they_are(tmp_path, kind):
    X, names = matrix_of(tmp_path, NUMBERS[kind])
    np.testing.assert_array_equal(X, COUNT[:, None])
    assert names == ["a"]


def test_booleans_are_numbers(tmp_path):
    X, _ = matrix_of(tmp_path, pa.array([i % 3 == 0 if i else None for i in range(N)]))
    expected = (COUNT % 3 == 0).astype(float)
    expected[0] = expected[1:].mean()
    np.testing.assert_array_equal(X[:, 0], expected.astype(np.float32))


@pytest.mark.parametrize("arrow_type", [pa.list_(pa.float32(), 3), pa.list_(pa.float64()), pa.large_list(pa.int16())])
def test_lists_become_a_feature_per_element(tmp_path, arrow_type):
    X, names = matrix_of(tmp_path, pa.array([[i, 2 * i, -i] for i in range(N)], arrow_type))
    np.testing.assert_array_equal(X, COUNT[:, None] * [1, 2, -1])
    assert names == ["a_0", "a_1", "a_2"]


@pytest.mark.parametrize("arrow_type", [pa.list_(pa.float64(), 2), pa.list_(pa.float64())])
def test_missing_lists_and_elements_become_means(tmp_path, arrow_type):
    values = [[1.0, 2.0], None, [None, 4.0]] * (N // 3)
    # As Feather: pyarrow 18 to 22 do not write missing lists of fixed size to Parquet.
    path = tmp_path / "t.feather"
    pa.feather.write_feather(pa.table({"a": pa.array(values, arrow_type), "label": LABELS}), path)
    X = collect(streams.open(path, batch_rows=8))[0]
    np.testing.assert_array_equal(X[:3], [[1, 2], [1, 3], [1, 4]])


@pytest.mark.parametrize("arrow_type", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_few_strings_are_one_hot(tmp_path, arrow_type):
    values = ["b", None, "a"] * (N // 3)
    X, names = matrix_of(tmp_path, pa.array(values, pa.string()).cast(arrow_type))
    assert names == ["a=a", "a=b", "a="]
    np.testing.assert_array_equal(X[:3], [[0, 1, 0], [0, 0, 1], [1, 0, 0]])


def test_64_values_are_one_hot_and_65_are_hashed(tmp_path):
    for n, kind, width in ((64, "one-hot", 64), (65, "hashed", 64), (5000, "hashed", 64)):
        path = parquet(tmp_path / f"{n}.parquet", {"a": [f"v{i}" for i in range(n)]}, np.zeros(n))
        stream = streams.open(path, categories=["a"])
        assert (stream.columns.features[0].kind, stream.columns.n_features) == (kind, width)
        X, _ = collect(stream)
        np.testing.assert_array_equal(np.abs(X).sum(axis=1), np.ones(n))
    counts = np.abs(X).sum(axis=0)
    # Uniform: the chi-square statistic of 64 cells has mean 63 and standard deviation sqrt(126).
    assert ((counts - n / 64) ** 2 / (n / 64)).sum() < 63 + 5 * np.sqrt(126)
    assert abs(X.sum()) < 5 * np.sqrt(n)


def test_missing_hashed_strings_are_a_value_of_their_own(tmp_path):
    values = [None, *(f"v{i}" for i in range(100)), None]
    X, _ = collect(streams.open(parquet(tmp_path / "t.parquet", {"a": values}, np.zeros(102)), categories=["a"]))
    np.testing.assert_array_equal(X[0], X[-1])
    assert np.abs(X[0]).sum() == 1


def test_missing_numbers_become_the_mean_of_the_first_look(tmp_path):
    values = [1.0, None, 4.0, float("nan"), 10.0]
    path = parquet(tmp_path / "t.parquet", {"a": values}, np.zeros(5))
    stream = streams.open(path)
    np.testing.assert_array_equal(collect(stream)[0][:, 0], [1, 5, 4, 5, 10])
    [column] = stream.columns.to_plain()["features"]
    assert column == {"name": "a", "kind": "number", "fill": 5.0, "missing": 2}


def test_the_mean_has_the_same_bits_in_every_format(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 2))
    X[rng.random(X.shape) < 0.1] = np.nan
    parquet(tmp_path / "t.parquet", {"x_0": X[:, 0], "x_1": X[:, 1]}, np.zeros(3000))
    text = "".join(f"{a},{b},0\n" for a, b in X.tolist())
    (tmp_path / "t.csv").write_text("x_0,x_1,label\n" + text)
    np.save(tmp_path / "t.npy", np.column_stack([X, np.zeros(3000)]))
    expected, _ = collect(streams.open(tmp_path / "t.parquet", dtype="float64"))
    np.testing.assert_array_equal(collect(streams.open(tmp_path / "t.csv", dtype="float64"))[0], expected)
    np.testing.assert_array_equal(collect(streams.open(tmp_path / "t.npy", target=-1, dtype="float64"))[0], expected)


def test_a_column_without_values_is_zero(tmp_path):
    X, _ = matrix_of(tmp_path, pa.nulls(N))
    np.testing.assert_array_equal(X, np.zeros((N, 1)))


def test_csv_columns_have_the_narrowest_type_of_all_cells(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('whole,part,word,flag,label\n1,2,x,true,7\n+3,NA,"a,b",False,8\n 2 ,1e1,?,true,7\n')
    stream = streams.open(path)
    X, y = collect(stream)
    assert stream.columns.feature_names == ["whole", "part", "word=a,b", "word=x", "word=", "flag"]
    np.testing.assert_array_equal(X[:, :2], [[1, 2], [3, 6], [2, 10]])
    np.testing.assert_array_equal(X[:, 2:], [[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 1]])
    assert y.dtype == np.int64


def test_types_do_not_depend_on_the_first_block(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i},0\n" for i in range(300_000)] + ["0.5,1.5\n"]
    path.write_text("a,label\n" + "".join(rows))
    X, y = collect(streams.open(path))
    np.testing.assert_array_equal(X[-1], [0.5])
    np.testing.assert_array_equal(y[-2:], [0, 1.5])


LABEL_VALUES = {
    "strings": (pa.array(["x", "yy"]), "U"),
    "categories": (pa.array(["x", "yy"]).dictionary_encode(), "U"),
    "integers": (pa.array([3, 2**60 + 1]), "i"),
    "bytes": (pa.array([3, 200], pa.uint8()), "u"),
    "booleans": (pa.array([True, False]), "b"),
    "floats": (pa.array([1.0, 2.0]), "f"),
    "decimals": (pa.array([decimal.Decimal("1.5"), decimal.Decimal(2)]), "f"),
}


@pytest.mark.parametrize("kind", LABEL_VALUES)
def test_labels_stay_as_they_are(tmp_path, kind):
    values, letter = LABEL_VALUES[kind]
    _, y = collect(streams.open(parquet(tmp_path / "t.parquet", {"a": [1, 2]}, values), batch_rows=1))
    assert y.dtype.kind == letter
    assert y.tolist() == [
        value if isinstance(value, str) else pytest.approx(value, abs=0) for value in values.to_pylist()
    ]


@pytest.mark.parametrize("target", ["a", 0, -2])
def test_the_target_by_name_or_position(tmp_path, target):
    stream = streams.open(parquet(tmp_path / "t.parquet", {"a": COUNT}), target=target)
    _, y = collect(stream)
    np.testing.assert_array_equal(y, COUNT)
    assert stream.columns.feature_names == ["label"]
    assert stream.columns.target == "a"


def test_the_index_that_pandas_writes_is_no_feature(tmp_path):
    path = parquet(tmp_path / "t.parquet", {"a": COUNT, "__index_level_0__": COUNT})
    assert streams.open(path).columns.feature_names == ["a"]


def test_tensors_are_lists(tmp_path):
    X, names = matrix_of(tmp_path, pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(6.0 * N).reshape(N, 2, 3)))
    np.testing.assert_array_equal(X, np.arange(6.0 * N).reshape(N, 6))
    assert len(names) == 6


def test_drop(tmp_path):
    when = [datetime.date(2020, 1, 1)] * N
    path = parquet(tmp_path / "t.parquet", {"when": when, "a": COUNT})
    stream = streams.open(path, drop=["when"])
    assert stream.columns.feature_names == ["a"]
    np.testing.assert_array_equal(collect(streams.open(path, columns=stream.columns))[0], collect(stream)[0])


def mixed(n=N):
    return {
        "number": pa.array([None, *range(1, n)]),
        "flag": pa.array([i % 2 == 0 for i in range(n)]),
        "few": pa.array([f"v{i % 3}" for i in range(n)]),
        "many": pa.array([f"w{i % 80}" for i in range(n)]),
        "vector": pa.array([[i, -i] for i in range(n)], pa.list_(pa.float32(), 2)),
    }


@pytest.fixture
def trained(tmp_path):
    """A stream with columns of all kinds."""
    return streams.open(parquet(tmp_path / "trained.parquet", mixed(100), np.arange(100)))


def test_the_plain_form_survives_json(trained):
    plain = json.loads(json.dumps(trained.columns.to_plain()))
    assert Columns.from_plain(plain) == trained.columns
    assert [column.kind for column in trained.columns.features] == ["number", "boolean", "one-hot", "hashed", "list"]


def test_columns_are_matched_by_name(tmp_path, trained):
    expected, _ = collect(trained)
    columns = dict(reversed(mixed(100).items())) | {"extra": pa.array(range(100))}
    X, y = collect(streams.open(parquet(tmp_path / "p.parquet", columns, None), columns=trained.columns))
    np.testing.assert_array_equal(X, expected)
    assert y is None


def test_the_target_may_be_absent(tmp_path, trained):
    path = tmp_path / "trained.parquet"
    np.testing.assert_array_equal(collect(streams.open(path, columns=trained.columns))[1], np.arange(100))
    assert collect(streams.open(path, columns=trained.columns, target=None))[1] is None
    with pytest.raises(ValueError, match="'lable': did you mean 'label'"):
        streams.open(path, columns=trained.columns, target="lable")


def test_an_unseen_value_is_all_zeros(tmp_path, trained):
    columns = mixed() | {"few": pa.array(["new", None, "v1"] * (N // 3))}
    X, _ = collect(streams.open(parquet(tmp_path / "p.parquet", columns), columns=trained.columns))
    np.testing.assert_array_equal(X[:3, 2:5], [[0, 0, 0], [0, 0, 0], [0, 1, 0]])


def test_a_missing_number_becomes_the_mean_of_the_training_rows(tmp_path, trained):
    columns = mixed() | {"number": pa.nulls(N)}
    X, _ = collect(streams.open(parquet(tmp_path / "p.parquet", columns), columns=trained.columns))
    np.testing.assert_array_equal(X[:, 0], np.full(N, np.float32(50)))


def test_cells_without_names_are_matched_by_position(tmp_path):
    training, later = tmp_path / "t.csv", tmp_path / "p.csv"
    training.write_text("yes,1,2\nno,3,4\n")
    columns = streams.open(training, target=0).columns
    later.write_text("5,6\n7,8\n")
    X, y = collect(streams.open(later, columns=columns))
    np.testing.assert_array_equal(X, [[5, 6], [7, 8]])
    assert y is None
    assert collect(streams.open(training, columns=columns))[1].tolist() == ["yes", "no"]


PLAIN = Columns.from_plain(
    {
        "features": [
            {"name": "a", "kind": "number", "fill": 0.5},
            {"name": "b", "kind": "one-hot", "values": ["x", None]},
            {"name": "c", "kind": "list", "width": 2, "fill": [0, 1]},
            {"name": "d", "kind": "date", "values": ["year", "hour"], "fill": [2020, 1]},
        ],
        "weight": "w",
        "ids": "i",
        "decimal": ",",
        "target": "label",
        "target_kind": "text",
    }
).to_plain()


def test_descriptions_of_earlier_versions_are_read():
    plain = {
        "features": [{"name": "a", "kind": "number", "fill": 0.5, "missing": 1}],
        "target": "label",
        "target_kind": "text",
        "n_cells": None,
        "first_index": None,
    }
    columns = Columns.from_plain(plain)
    assert (columns.weight, columns.ids, columns.decimal) == (None, None, ".")
    assert columns.to_plain() == plain  # a resumed run compares it with its checkpoint


def changed(*path_and_value):
    *path, last, value = path_and_value
    plain = copy.deepcopy(PLAIN)
    inner = plain
    for key in path:
        inner = inner[key]
    inner[last] = value
    return plain


HOSTILE = {
    "no dict": [],
    "nothing": {},
    "no features": changed("features", []),
    "features of another kind": changed("features", "abc"),
    "a column that is none": changed("features", 0, 3),
    "a name that is none": changed("features", 0, "name", 3),
    "an unknown kind": changed("features", 0, "kind", "eval"),
    "a kind that cannot be hashed": changed("features", 0, "kind", []),
    "fill of text": changed("features", 0, "fill", "1"),
    "fill NaN": changed("features", 0, "fill", float("nan")),
    "fill too large": changed("features", 0, "fill", 10**400),
    "fill true": changed("features", 0, "fill", True),
    "values that are none": changed("features", 1, "values", 7),
    "values of numbers": changed("features", 1, "values", [1]),
    "values that cannot be hashed": changed("features", 1, "values", [[]]),
    "values twice": changed("features", 1, "values", ["x", "x"]),
    "no values": changed("features", 1, "values", []),
    "too few fills": changed("features", 2, "fill", [0]),
    "negative width": changed("features", 2, "width", -2),
    "absurd width": {"features": [{"name": "x", "kind": "list", "width": 2**60, "fill": None}]},
    "width of text": changed("features", 2, "width", "2"),
    "names twice": changed("features", 1, "name", "a"),
    "missing negative": changed("features", 0, "missing", -1),
    "target of a list": changed("target", []),
    "target true": changed("target", True),
    "unknown kind of target": changed("target_kind", "date"),
    "kind of target of a list": changed("target_kind", []),
    "first index": changed("first_index", 2),
    "cells": changed("n_cells", -1),
    "an unknown part of dates": changed("features", 3, "values", ["year", "__class__"]),
    "a missing part of dates": changed("features", 3, "values", ["year", None]),
    "parts of dates twice": changed("features", 3, "values", ["year", "year"]),
    "no parts of dates": changed("features", 3, "values", []),
    "too many fills of dates": changed("features", 3, "fill", [1, 2, 3]),
    "no fills of dates": changed("features", 3, "fill", None),
    "weight of a list": changed("weight", ["w"]),
    "weight of a number": changed("weight", 0),
    "ids of a dict": changed("ids", {}),
    "unknown decimal mark": changed("decimal", ";"),
    "decimal mark of a list": changed("decimal", []),
    "no decimal mark": changed("decimal", None),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_plain_form_is_refused(case):
    words = r"^The description of columns is damaged: columns\S* (must .*, got .*|is missing)\.$"
    with pytest.raises(ValueError, match=words):
        Columns.from_plain(HOSTILE[case])


def test_absurd_sizes_in_a_plain_form_cost_nothing(tmp_path):
    wide = Columns.from_plain({"features": [{"name": "x", "kind": "list", "width": 2**27, "fill": None}]})
    many = Columns.from_plain({"features": [{"name": "x", "kind": "number", "fill": 0}], "n_cells": 2**62})
    path = parquet(tmp_path / "t.parquet", {"a": COUNT})
    with pytest.raises(ValueError, match="lacks the columns 'x'"):
        streams.open(path, columns=wide)
    (tmp_path / "t.csv").write_text("1,2\n")
    for columns in (wide, many):
        with pytest.raises(ValueError, match=r"must have \d+ cells beside the target, got 2"):
            streams.open(tmp_path / "t.csv", columns=columns)


def test_the_name_of_an_array_of_labels_is_remembered(tmp_path):
    np.savez(tmp_path / "t.npz", rows=COUNT[:, None], digit=LABELS)
    columns = streams.open(tmp_path / "t.npz", target="digit").columns
    np.testing.assert_array_equal(collect(streams.open(tmp_path / "t.npz", columns=columns))[1], LABELS)
