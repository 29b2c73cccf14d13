"""Streams of data frames have the blocks and the rule of a file of the same table."""

import sys

import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from craftmaps import CraftClassifier, streams, tables
from tests.streams.formats import collect
from tests.streams.test_encode_frame import N, mixed

CODES = pl.Enum(["k0", "k1", "k2", "k3"])
FRAMES = {
    "pandas": lambda path: mixed(),
    "Polars": pl.read_parquet,
    "Polars, lazy": pl.scan_parquet,
    "Polars, categories": lambda path: pl.read_parquet(path).cast(
        {"few": pl.Categorical, "codes": pl.Enum(["k0", "k1", "k2", "k3"])}
    ),
    "Arrow": pa.parquet.read_table,
    "Arrow batch": lambda path: pa.parquet.read_table(path).combine_chunks().to_batches()[0],
    "Arrow reader": lambda path: pa.parquet.read_table(path).to_reader(),
    "narwhals": lambda path: narwhals.from_native(mixed()),
    "narwhals, lazy": lambda path: narwhals.from_native(pl.scan_parquet(path)),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("frames") / "t.parquet"
    mixed().to_parquet(path, row_group_size=50)
    return path


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_gives_the_blocks_of_its_file(path, kind):
    expected = streams.open(path, batch_rows=50, dates="parts", weight="single", ids="many")
    stream = streams.of(FRAMES[kind](path), "label", 50, dates="parts", weight="single", ids="many")
    assert stream.columns == expected.columns
    for _ in range(2):  # a stream can be read again
        for block, other in zip(stream.blocks(), expected.blocks(), strict=True):
            for part, other_part in zip(block, other, strict=True):
                np.testing.assert_array_equal(part, other_part)
                assert part.dtype == other_part.dtype


LABELS = {
    "pandas": lambda y: y,
    "NumPy": lambda y: y.to_numpy(),
    "list": lambda y: y.tolist(),
    "Polars": lambda y: pl.Series("label", y.to_numpy()),
    "Arrow": lambda y: pa.chunked_array([y.to_numpy()[:50], y.to_numpy()[50:]]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_beside_the_frame(path, kind):
    frame = mixed()
    stream = streams.of(frame.drop(columns="label"), y=LABELS[kind](frame.label), batch_rows=50, dates="parts")
    expected = streams.open(path, batch_rows=50, dates="parts")
    assert stream.columns == expected.columns
    for one, other in zip(collect(stream), collect(expected), strict=True):
        np.testing.assert_array_equal(one, other)


def test_labels_take_no_name_that_a_column_has():
    frame = pd.DataFrame({"label": [1.0, 2.0], "label_0": [3.0, 4.0]})
    stream = streams.of(frame, y=pd.Series(["a", "b"], name="label"))
    assert stream.columns.target == "label_1"
    X, y = collect(stream)
    assert (X.tolist(), y.tolist()) == ([[1, 3], [2, 4]], ["a", "b"])


def test_a_rule_is_applied_again(path):
    columns = streams.open(path, dates="parts").columns
    X, y = collect(streams.of(mixed().drop(columns="label"), columns=columns))
    np.testing.assert_array_equal(X, tables.encode_frame(mixed(), columns))
    assert y is None


def test_a_model_of_a_frame_predicts_what_a_model_of_its_file_does(path):
    def trained(stream):
        return CraftClassifier(n_components=32, random_state=0).fit_stream(stream)

    one = trained(streams.of(mixed(), "label", dates="parts"))
    other = trained(streams.open(path, dates="parts"))
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_dtypes_that_only_pandas_has():
    frame = pd.DataFrame(
        {
            0: pd.arrays.SparseArray([0.0, 0.0, 1.5]),
            "objects": pd.Series([1, 2.5, None], dtype=object),
            "strings": pd.array(["a", None, "b"], dtype="string"),
            "codes": pd.Categorical([3, 4, 3]),
        }
    ).set_index(pd.MultiIndex.from_product([["x"], [7, 7, 7]]))
    stream = streams.of(frame)
    assert stream.columns.feature_names == ["0", "objects", "strings=a", "strings=b", "strings=", "codes"]
    X, _ = collect(stream)
    np.testing.assert_array_equal(X, [[0, 1, 1, 0, 0, 3], [0, 2.5, 0, 0, 1, 4], [1.5, 1.75, 0, 1, 0, 3]])


def test_the_caller_s_frame_does_not_change():
    frame = mixed()
    list(streams.of(frame, "label", dates="parts"))
    pd.testing.assert_frame_equal(frame, mixed())


FRAME = pd.DataFrame({"a": [1.0, 2.0], "odd": ["x", 1], "label": [0, 1]})
WITHOUT = {"drop": ["odd"]}
REFUSED = {
    "mixed": ({}, "Column 'odd' of DataFrame .* got int and str: cast it, or leave it out with drop="),
    "target": ({"target": "lable"}, "target must be a column of DataFrame, got 'lable': did you mean 'label'"),
    "labels twice": ({"target": "label", "y": [0, 1]}, "target must be None if y is given, got 'label'"),
    "too few labels": ({"y": [0], **WITHOUT}, "y must have a label for each of 2 rows, got 1"),
    "labels of two dimensions": ({"y": np.eye(2), **WITHOUT}, r"y must be one-dimensional, .* \(2, 2\)"),
    "mixed labels": ({"y": [0, "a"], **WITHOUT}, "y must be one-dimensional, of numbers, booleans or strings"),
    "batch_rows": ({"batch_rows": 0}, "batch_rows"),
    "columns": ({"columns": 3}, "columns must be a Columns or None, got int"),
    "drop": ({"drop": "odd"}, "drop must be a sequence of names, got 'odd'"),
    "unknown drop": ({"drop": ["od"]}, "drop must be a column of DataFrame, got 'od': did you mean 'odd'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    options, words = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=words):
        streams.of(FRAME, **options)


def test_a_missing_label_is_named():
    with pytest.raises(ValueError, match="Row 2 of DataFrame has no label"):
        list(streams.of(FRAME, y=["a", None], drop=["odd"]))
    with pytest.raises(ValueError, match="y must be None for a LazyFrame: name the column of labels with target"):
        streams.of(pl.LazyFrame({"a": [1.0]}), y=[1])


@pytest.mark.parametrize("frame", [3, "t.csv", np.eye(2), [[1]], {"a": [1]}, None])
def test_other_objects_are_refused(frame):
    with pytest.raises(TypeError, match=f"frame must be a data frame .* got {type(frame).__name__}"):
        streams.of(frame)


def test_frames_without_rows_or_features():
    with pytest.raises(ValueError, match="DataFrame has no rows"):
        streams.of(FRAME[:0], "label", drop=["odd"])
    with pytest.raises(ValueError, match="DataFrame must have columns beside the target 'label', got none"):
        streams.of(FRAME[["label"]], "label")


def test_polars_objects_are_refused_by_name():
    frame = pl.DataFrame({"a": [1.0, 2.0], "o": pl.Series([object(), object()], dtype=pl.Object)})
    with pytest.raises(ValueError, match=r"Column 'o' of DataFrame .* got Object: .* drop=\['o'\]"):
        streams.of(frame)
    assert streams.of(frame, drop=["o"]).columns.names == ["a"]


def test_a_lazy_frame_is_collected_in_batches(path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("collected at once")

    if hasattr(pl.LazyFrame, "collect_batches"):
        monkeypatch.setattr(pl.LazyFrame, "collect", refuse)
    stream = streams.of(pl.scan_parquet(path), "label", dates="parts")
    assert stream.n_rows is None
    assert collect(stream)[0].shape[0] == N


def test_narwhals_is_asked_for_other_frames(monkeypatch):
    class Foreign:
        columns = ("a",)

    with pytest.raises(TypeError, match="frame must be a data frame that narwhals supports, got Foreign"):
        streams.of(Foreign())
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(ImportError, match="Foreign is read with narwhals: pip install narwhals"):
        streams.of(Foreign())
