"""A data frame encoded by a stored rule gives the matrix of its Parquet file."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from craftmaps import streams, tables
from craftmaps.streams import Columns

N = 120


def mixed():
    """Return a frame with columns of all kinds and missing values."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "real": rng.normal(size=N),
            "single": rng.random(N).astype(np.float32),
            "whole": rng.integers(-(2**60), 2**60, N),
            "few": [None if i % 7 == 0 else f"v{i % 3}" for i in range(N)],
            "many": [f"w{i % 80}" for i in range(N)],
            "codes": pd.Categorical([f"k{i % 4}" for i in range(N)]),
            "nullable": pd.array([None if i % 5 == 0 else i for i in range(N)], dtype="Int64"),
            "flag": pd.array([None if i % 5 == 0 else i % 2 == 0 for i in range(N)], dtype="boolean"),
            "when": pd.date_range("2020-01-01 10:00", periods=N, freq="7h", tz="Europe/Berlin"),
            "day": pd.date_range("2020-01-01", periods=N).date,
            "vector": [[i, 2.5] for i in range(N)],
            "label": rng.integers(0, 2, N),
        },
        index=np.arange(N) * 3 + 1,
    )
    frame.loc[[4, 10], "real"] = np.nan
    frame.loc[7, "when"] = pd.NaT
    return frame


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A Parquet file of the frame, and its rule."""
    path = tmp_path_factory.mktemp("frames") / "t.parquet"
    mixed().to_parquet(path)
    return path, streams.open(path, dates="parts").columns


FRAMES = {
    "pandas": lambda path: mixed(),
    "pandas of Arrow types": lambda path: pa.parquet.read_table(path).to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": lambda path: pl.read_parquet(path),
    "Arrow": lambda path: pa.parquet.read_table(path),
    "Arrow batch": lambda path: pa.parquet.read_table(path).combine_chunks().to_batches()[0],
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_becomes_the_matrix_of_its_file(trained, kind, dtype):
    path, columns = trained
    [(expected, _)] = streams.open(path, columns=columns, dtype=dtype)
    frame = FRAMES[kind](path)
    assert tables.is_frame(frame)
    X = tables.encode_frame(frame, columns, dtype)
    assert X.dtype == dtype
    np.testing.assert_array_equal(X, expected)


def test_other_columns_are_ignored_even_if_they_cannot_be_read(trained):
    columns = trained[1]
    frame = mixed().assign(odd=[1, "a"] * (N // 2), number=1j)
    np.testing.assert_array_equal(
        tables.encode_frame(frame[frame.columns[::-1]], columns)[:, 0],
        mixed().real.fillna(mixed().real.mean()).astype(np.float32),
    )


REFUSED = {
    "a missing column": (
        lambda f: f.rename(columns={"real": "reel"}),
        "DataFrame lacks the columns 'real'; the nearest names there are 'reel'",
    ),
    "text for numbers": (lambda f: f.assign(real="x"), "Column 'real' of DataFrame must hold numbers, got strings"),
    "numbers for text": (lambda f: f.assign(few=1), "Column 'few' of DataFrame must hold strings, got numbers"),
    "both": (lambda f: f.assign(few=["a", 1] * (N // 2)), "Column 'few' of DataFrame .* got int and str"),
    "infinity": (
        lambda f: f.assign(real=np.inf),
        "Column 'real' of DataFrame has a value that is infinite .* in row 1",
    ),
    "other lists": (lambda f: f.assign(vector=[[1.0]] * N), "must hold lists of 2 numbers, got 1 in row 1"),
    "no dates": (lambda f: f.assign(day="tomorrow"), "must hold dates such as 2020-01-31 .* got 'tomorrow' in row 1"),
    "names twice": (lambda f: pd.concat([f, f[["real"]]], axis=1), "must have different names, got 'real'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_frame_that_does_not_fit_is_refused(trained, case):
    change, words = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        tables.encode_frame(change(mixed()), trained[1])


def test_an_unknown_time_zone(trained):
    table = pa.parquet.read_table(trained[0])
    place = table.schema.get_field_index("when")
    table = table.set_column(place, "when", table["when"].cast(pa.int64()).cast(pa.timestamp("us", "Mars/Base")))
    with pytest.raises(ValueError, match=r"^Table cannot be read: .*Mars/Base"):
        tables.encode_frame(table, trained[1])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_rule_without_names_matches_by_position(tmp_path, make):
    np.savez(tmp_path / "t.npz", X=np.arange(12.0).reshape(4, 3), y=np.arange(4))
    columns = streams.open(tmp_path / "t.npz").columns
    frame = make({"b": [1.0, 2.0], "a": [3.0, 4.0], "c": [5.0, 6.0]})
    np.testing.assert_array_equal(tables.encode_frame(frame, columns), [[1, 3, 5], [2, 4, 6]])
    with pytest.raises(ValueError, match="must have 3 columns, got 2"):
        tables.encode_frame(make({"b": [1.0], "a": [3.0]}), columns)


def test_columns_that_a_learner_cannot_take():
    numbers = {"i": [1, 2], "f": [0.5, 1.5], "b": [True, False]}
    others = {"t": ["x", "y"], "n": [1.0, None], "l": [[1.0], [2.0]]}
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        assert tables.text_columns(make(numbers)) == []
        assert tables.text_columns(make(numbers | others)) == ["t", "n", "l"]
    odd = pd.DataFrame(
        {
            "objects": pd.Series([1, 2.5], dtype=object),
            "codes": pd.Categorical([1, 2]),
            "names": pd.Categorical(["a", "b"]),
            "nullable": pd.array([1, None], dtype="Int64"),
            "when": pd.to_datetime(["2020-01-01", "2020-01-02"]),
        }
    )
    assert tables.text_columns(odd) == ["names", "nullable", "when"]
    assert tables.text_columns(pl.DataFrame({"a": [1.0, float("nan")]})) == ["a"]


def test_frames_are_recognised_without_importing_their_libraries():
    code = (
        "import sys; sys.modules['pandas'] = None; sys.modules['polars'] = None; sys.modules['pyarrow'] = None\n"
        "from craftmaps import tables; import numpy as np\n"
        "assert not tables.is_frame(np.eye(2)) and not tables.is_frame([[1]]) and not tables.is_frame(None)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_to_install(monkeypatch):
    from craftmaps.tables.lazy_arrow import import_arrow

    import_arrow.cache_clear()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    rule = Columns.from_plain({"features": [{"name": "a", "kind": "number", "fill": 0}]})
    with pytest.raises(ImportError, match="data frames are read with pyarrow: pip install pyarrow"):
        tables.encode_frame(pd.DataFrame({"a": [1]}), rule)
