"""Errors about files and arguments are one sentence that names the file, the place and the remedy."""

import bz2
import datetime
import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from craftmaps import streams
from tests.streams.formats import csv_bytes, example, idx_bytes, svmlight_bytes, zstd

X, Y = example()
CSV = csv_bytes(X, Y)


def content(name, data):
    """Write bytes or text to a file."""

    def build(folder):
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
        return folder / name

    return build


def parquet(columns, cut=None):
    """Write a Parquet file, or only its beginning."""

    def build(folder):
        path = folder / "t.parquet"
        pa.parquet.write_table(pa.table(columns), path)
        if cut is not None:
            path.write_bytes(path.read_bytes()[:cut])
        return path

    return build


def feather_without_its_end(folder):
    path = folder / "t.feather"
    pa.feather.write_feather(pa.table({"a": X[:, 0], "label": Y}), path)
    path.write_bytes(path.read_bytes()[:-30])
    return path


def damaged_parquet(folder):
    path = parquet({"a": np.random.default_rng(0).normal(size=5000), "label": np.zeros(5000)})(folder)
    data = bytearray(path.read_bytes())
    data[20:2000] = b"\xa5" * 1980
    path.write_bytes(data)
    return path


def duplicate_columns(folder):
    path = folder / "t.parquet"
    pa.parquet.write_table(
        pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], ["a", "a", "label"]), path
    )
    return path


def arrays(name, **keys):
    """Write an NPZ file."""

    def build(folder):
        np.savez(folder / name, **keys)
        return folder / name

    return build


def npy(array, labels=None, cut=None):
    """Write an NPY file, with or without a file of labels beside it."""

    def build(folder):
        np.save(folder / "X.npy", array, allow_pickle=True)
        if labels is not None:
            np.save(folder / "y.npy", labels)
        if cut is not None:
            (folder / "X.npy").write_bytes((folder / "X.npy").read_bytes()[:cut])
        return folder / "X.npy"

    return build


def hdf5_with_a_group(folder):
    import h5py

    with h5py.File(folder / "t.h5", "w") as file:
        file.create_group("X")
        file["y"] = Y
    return folder / "t.h5"


def idx(images, labels):
    """Write IDX files of images and labels."""

    def build(folder):
        (folder / "a-images-idx3-ubyte").write_bytes(images)
        (folder / "a-labels-idx1-ubyte").write_bytes(labels)
        return folder / "a-images-idx3-ubyte"

    return build


def folder_of(**files):
    """Write files to a folder; two underscores in a name stand for a dot."""

    def build(folder):
        (folder / "data").mkdir()
        for name, data in files.items():
            (folder / "data" / name.replace("__", ".")).write_bytes(data)
        return folder / "data"

    return build


IMAGES = idx_bytes(np.zeros((4, 2, 2), np.uint8))
DATES = pa.array([datetime.datetime(2020, 1, 1)] * 2)
ROWS = [f'{{"a": {i}, "label": 1}}\n' for i in range(3)]

# File, settings, and pattern of the message.
BROKEN = {
    "no file": (lambda folder: folder / "none.csv", {}, r"There is no file .*none\.csv"),
    "no match": (lambda folder: folder / "*.csv", {}, r"No file matches .*\*\.csv"),
    "a device": (lambda folder: "/dev/null", {}, "must be a file or a folder, .* give '-'"),
    "an empty folder": (folder_of(), {}, "holds no data files"),
    "a folder of hidden files": (folder_of(_SUCCESS=b"", __crc=b"x"), {}, "holds no data files"),
    "two formats": (folder_of(a__csv=CSV, b__jsonl=b"{}"), {}, r"one format.*a\.csv \(CSV\).*b\.jsonl \(JSON lines\)"),
    "an empty file": (content("t.csv", b""), {}, r"t\.csv is empty"),
    "an empty Parquet file": (content("t.parquet", b""), {}, r"t\.parquet is empty"),
    "blank lines": (content("t.csv", "\n\n\n"), {}, r"t\.csv is empty"),
    "unknown bytes": (content("t.bin", b"\x00\x01\x02\x03" * 9), {}, "in no known format"),
    "compressed nothing": (content("t.csv.gz", gzip.compress(b"")), {}, r"t\.csv\.gz is empty"),
    "a header alone": (content("t.csv", "a,b,label\n"), {}, r"t\.csv has no rows"),
    "no rows in Parquet": (
        parquet({"a": pa.array([], pa.int8()), "label": pa.array([], pa.int8())}),
        {},
        "has no rows",
    ),
    "cut gzip": (content("t.csv.gz", gzip.compress(CSV)[:-20]), {}, r"t\.csv\.gz is damaged or cut off"),
    "damaged gzip": (content("t.csv.gz", gzip.compress(CSV)[:40] + b"x" * 60), {}, r"t\.csv\.gz "),
    "cut bz2": (content("t.csv.bz2", bz2.compress(CSV)[:-20]), {}, r"t\.csv\.bz2 is damaged or cut off"),
    "cut zst": (content("t.csv.zst", zstd(CSV)[:-20]), {}, r"t\.csv\.zst cannot be read: Truncated"),
    "compressed Parquet": (content("t.parquet.gz", gzip.compress(b"PAR1")), {}, "compressed Parquet file: decompress"),
    "cut Parquet": (parquet({"a": [1], "label": [1]}, -20), {}, r"t\.parquet cannot be read"),
    "damaged Parquet": (damaged_parquet, {}, r"t\.parquet cannot be read"),
    "text called Parquet": (content("t.parquet", CSV), {}, r"t\.parquet cannot be read"),
    "cut Feather": (feather_without_its_end, {}, r"t\.feather cannot be read"),
    "a short row": (content("t.csv", "a,b,label\n1,2,3\n4,5\n"), {}, r"Line 3 of .*t\.csv must have 3 cells, got 2"),
    "a long row": (content("t.csv", "a,b,label\n1,2,3,4\n"), {}, r"Line 2 of .*t\.csv must have 3 cells, got 4"),
    "names twice": (content("t.csv", "a,a,label\n1,2,3\n"), {}, r"different names, got 'a' more than once"),
    "names twice in Parquet": (duplicate_columns, {}, r"different names, got 'a' more than once"),
    "names twice in JSON": (content("t.jsonl", '{"a": 1, "a": 2}\n'), {}, r"t\.jsonl .*row 1.*twice"),
    "no label": (content("t.csv", "a,b\n1,2\n"), {}, r"target must name .* no column 'label': it has 'a', 'b'"),
    "a target misspelt": (content("t.csv", CSV), {"target": "labell"}, "target must .* 'labell': did you mean 'label'"),
    "a target in capitals": (content("t.csv", CSV), {"target": "LABEL"}, "'LABEL': did you mean 'label'"),
    "a target in small letters": (content("t.csv", "A,LABEL\n1,2\n"), {"target": "label"}, "did you mean 'LABEL'"),
    "a target far away": (content("t.csv", CSV), {"target": 6}, "target must be a position among 6 columns.*got 6"),
    "no names": (content("t.csv", "1,2\n3,4\n"), {"target": "label"}, "target must be a position.*got 'label'"),
    "the target alone": (content("t.csv", "label\n1\n"), {}, "must have columns beside the target 'label'"),
    "drop unknown": (content("t.csv", CSV), {"drop": ["x_9"]}, "drop must be a column .*'x_9': did you mean 'x_"),
    "drop the target": (content("t.csv", CSV), {"drop": ["label"]}, "drop must not name the target, got 'label'"),
    "drop of a matrix": (npy(X, Y), {"drop": ["a"]}, "drop must be empty"),
    "a missing label": (content("t.csv", "a,label\n1,2\n3,\n"), {}, r"Row 2 of .*t\.csv has no label"),
    "a missing label, later": (
        folder_of(a__csv=b"a,label\n1,2\n", b__csv=b"a,label\n1,2\n1,2\n1,NA\n"),
        {},
        r"Row 3 of .*b\.csv has no label",
    ),
    "a missing label in Parquet": (parquet({"a": [1, 2], "label": ["x", None]}), {}, "Row 2 of .* has no label"),
    "an infinite label": (parquet({"a": [1, 2], "label": [1, np.inf]}), {}, "Row 2 of .* has an infinite label"),
    "a label of dates": (parquet({"a": [1, 2], "label": DATES}), {}, "target 'label' .* got timestamp"),
    "a label of lists": (parquet({"a": [1], "label": [[1]]}), {}, "target 'label' .* must hold .* got list"),
    "infinity": (parquet({"a": [1, -np.inf], "label": [1, 2]}), {}, r"Column 'a' of .* is infinite .* row 2"),
    "infinity in CSV": (content("t.csv", "a,label\n1,1\n2,1\ninf,1\n"), {}, "Column 'a' of .* infinite .* row 3"),
    "too large for single": (parquet({"a": [1e200], "label": [1]}), {}, "infinite in float32 in row 1"),
    "text among numbers": (
        content("t.csv", "a,label\n" + "1,1\n" * 100_400 + "?,1\nabc,1\n"),
        {},
        r"Column 'a' of .*t\.csv must hold numbers, got 'abc' in line 100403",
    ),
    "dates": (parquet({"when": DATES, "label": [1, 2]}), {}, r"'when' .* timestamp.*cast it.*drop=\['when'\]"),
    "dates in CSV": (content("t.csv", "a,when,label\n1,2020-01-31,1\n"), {}, "'when' .* date or time.*drop"),
    "dates in JSON": (content("t.jsonl", '{"when": "2020-01-31", "label": 1}'), {}, "'when' .* timestamp.*drop"),
    "durations": (parquet({"a": pa.array([5], pa.duration("s")), "label": [1]}), {}, "'a' .*duration.*drop"),
    "structures": (parquet({"a": [{"b": 1}], "label": [1]}), {}, "'a' .*struct.*drop"),
    "binary": (parquet({"a": [b"xx"], "label": [1]}), {}, "'a' .*binary.*drop"),
    "lists of strings": (parquet({"a": [["x"]], "label": [1]}), {}, "'a' .*list.*drop"),
    "lists of different lengths": (
        parquet({"a": [[1, 2], [1, 2, 3]], "label": [1, 2]}),
        {},
        "'a' of .* lists of 2 numbers, got 3 in row 2",
    ),
    "empty lists": (parquet({"a": pa.array([[]], pa.list_(pa.int8())), "label": [1]}), {}, "'a' .* got empty ones"),
    "another encoding": (content("t.csv", "a,b,label\n1,é,1\n".encode("latin-1")), {}, "'b' .* UTF-8 .* line 2"),
    "names of another encoding": (content("t.csv", "é,label\n1,1\n".encode("latin-1")), {}, "must be UTF-8"),
    "two bytes a character": (content("t.csv", "a,label\n1,1\n".encode("utf-16")), {}, r"t\.csv "),
    "a JSON array": (content("t.json", json.dumps([{"a": 1}])), {}, "one JSON object per line, got an array"),
    "cut JSON": (content("t.jsonl", "".join(ROWS) + '{"a": 4, "la'), {}, "one JSON object per line, .* row 4"),
    "text among numbers in JSON": (
        content("t.jsonl", "".join(ROWS) + '{"a": "x", "label": 1}'),
        {},
        "Column 'a' .* got number and then string in row 4",
    ),
    "a broken row of svmlight": (
        content("t.svm", svmlight_bytes(X, Y) + b"1 2:x\n"),
        {},
        f"Line {len(Y) + 1} of .*'label index:value ...', got '1 2:x'",
    ),
    "NaN in svmlight": (content("t.svm", "1 1:1\n1 1:1 2:nan\n"), {}, "Index 2 in row 2 .* must be finite, got nan"),
    "indices that go back": (content("t.svm", "1 2:1 1:1\n"), {}, "Line 1 of .* got '1 2:1 1:1': .*sorted"),
    "labels alone": (content("t.svm", "1\n2\n"), {}, "must have indices .* got none"),
    "absurd indices": (content("t.svm", "1 99999999999:1\n"), {}, "must have indices .* got 99999999999"),
    "a target for svmlight": (content("t.svm", "1 1:1\n"), {"target": "a"}, "target must be left out .* got 'a'"),
    "one axis": (npy(X[:, 0]), {"target": None}, r"must have rows and columns, got .* shape \(53,\)"),
    "objects": (npy(np.array([[{}]], object), Y), {}, r"X\.npy cannot be read as NPY: .*[Oo]bject"),
    "strings": (npy(np.array([["a"]]), Y[:1]), {}, "must hold numbers, got <U1"),
    "complex numbers": (npy(X * 1j, Y), {}, "must hold numbers, got complex128"),
    "cut NPY": (npy(X, Y, -9), {}, r"X\.npy cannot be read as NPY"),
    "labels of another length": (npy(X, Y[:-1]), {}, r"y\.npy must hold one label for each of 53 rows, got .*52"),
    "NPY without labels": (npy(X), {}, r"X\.npy must have labels"),
    "a name for NPY": (npy(X), {"target": "age"}, "target must be a position .* got 'age'"),
    "a position too large": (npy(X), {"target": 5}, "target must be a position among 5 columns .* got 5"),
    "infinity in NPY": (npy(np.array([[1.0, np.inf]]), Y[:1]), {}, "Column 'x_1' .* infinite .* row 1"),
    "NPZ without rows": (arrays("t.npz", a=X, b=X, y=Y), {}, "must have an array 'X' .* got 'a', 'b', 'y'"),
    "NPZ without labels": (arrays("t.npz", X=X), {"target": "y"}, "target must be an array .* it has 'X'"),
    "cut NPZ": (content("t.npz", b"PK\x03\x04" + b"\x00" * 50), {}, r"t\.npz is damaged or cut off"),
    "a group for rows": (hdf5_with_a_group, {}, "'X' .* must be a dataset"),
    "damaged HDF5": (content("t.h5", b"\x89HDF" + b"x" * 100), {}, r"t\.h5 cannot be read"),
    "cut IDX": (idx(IMAGES[:-3], idx_bytes(Y[:4].astype("u1"))), {}, "is cut off: 3 more bytes"),
    "IDX with other labels": (idx(IMAGES, idx_bytes(Y[:3].astype("u1"))), {}, "one label for each of 4 rows"),
    "IDX that is none": (idx(b"abcdefgh" * 9, b""), {}, "must begin as an IDX file"),
    "columns that differ": (
        folder_of(a__csv=b"a,b,label\n1,2,3\n", b__csv=b"a,label\n1,3\n"),
        {},
        r"b\.csv lacks the columns 'b', which .*a\.csv has",
    ),
    "no path": (lambda folder: [], {}, "path must be a path"),
    "a number for a path": (lambda folder: 3, {}, "path must be a path .* got 3"),
    "batch_rows": (content("t.csv", CSV), {"batch_rows": 0}, "batch_rows == 0, must be >= 1"),
    "max_rows": (content("t.csv", CSV), {"max_rows": 0}, "max_rows == 0, must be >= 1"),
    "dtype": (content("t.csv", CSV), {"dtype": "int8"}, "dtype must be float32 or float64, got 'int8'"),
    "a dtype that is none": (content("t.csv", CSV), {"dtype": "floaty"}, "dtype must be float32 or float64"),
    "target": (content("t.csv", CSV), {"target": 1.5}, "target must be a name, a position or None, got 1.5"),
    "columns": (content("t.csv", CSV), {"columns": ["a"]}, "columns must be a Columns or None, got list"),
    "drop": (content("t.csv", CSV), {"drop": "x_0"}, "drop must be a sequence of names, got 'x_0'"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_errors_are_one_sentence(tmp_path, case):
    build, settings, words = BROKEN[case]
    path = build(tmp_path)
    with pytest.raises((ValueError, OSError, TypeError), match=words) as caught:
        for _ in streams.open(path, **settings):
            pass
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    assert caught.value.__cause__ is None or type(caught.value.__cause__).__module__.startswith("craftmaps")


LATER = {
    "a missing column": ({"ag": [1], "town": ["x"]}, "lacks the columns 'age'; the nearest names there are 'ag'"),
    "all columns missing": ({"zzz": [1]}, r"lacks the columns 'age', 'town'\."),
    "text for numbers": ({"age": ["old"], "town": ["x"]}, "Column 'age' .* must hold numbers, got strings"),
    "numbers for text": ({"age": [1], "town": [5]}, "Column 'town' .* must hold strings, got numbers"),
    "dates for numbers": ({"age": DATES[:1], "town": ["x"]}, "Column 'age' .* must hold numbers, got timestamp"),
}


@pytest.mark.parametrize("case", LATER)
def test_rows_that_do_not_fit_the_columns(tmp_path, case):
    (tmp_path / "trained").mkdir()
    path = parquet({"age": [1, 2], "town": ["x", "y"], "label": [1, 2]})(tmp_path / "trained")
    columns = streams.open(path).columns
    table, words = LATER[case]
    with pytest.raises(ValueError, match=words):
        streams.open(parquet(table)(tmp_path), columns=columns)
    csv = "\n".join([",".join(table), ",".join(str(values[0]) for values in table.values())])
    if "missing" in case:
        with pytest.raises(ValueError, match=words):
            streams.open(content("t.csv", csv)(tmp_path), columns=columns)


def test_matrices_that_do_not_fit_the_columns(tmp_path):
    rule = streams.open(parquet({"age": [1, 2], "town": ["x", "y"], "label": [1, 2]})(tmp_path)).columns
    with pytest.raises(ValueError, match="only numbers, but the columns 'town' must be strings"):
        streams.open(npy(X)(tmp_path), columns=rule)
    numbers = streams.open(parquet({"age": [1, 2], "size": [1, 2], "label": [1, 2]})(tmp_path)).columns
    with pytest.raises(ValueError, match="must have 2 features, got 5"):
        streams.open(npy(X)(tmp_path), columns=numbers)
    with pytest.raises(ValueError, match="must have 2 cells beside the target, got 3"):
        streams.open(content("t.csv", "1,2,3\n")(tmp_path), columns=numbers)


def test_a_label_of_another_kind_in_a_later_file(tmp_path):
    pa.parquet.write_table(pa.table({"a": np.zeros(110_000), "label": np.zeros(110_000)}), tmp_path / "1.parquet")
    pa.parquet.write_table(pa.table({"a": [1.0], "label": ["x"]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"target 'label' of .*2\.parquet must be of kind number, got strings"):
        streams.open(tmp_path)
