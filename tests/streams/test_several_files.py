"""Several files form one table if their columns hold the same kinds of values."""

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from craftmaps import streams
from tests.streams.formats import collect

WORDS = pa.array(["u", "v"])
LISTS = pa.array([[1.0, 2.0], [3.0, 5.0]])
# The column in two files, and its features.
PARTS = {
    "integers, then fractions": (pa.array([1, 2]), pa.array([1.5, None]), [[1], [2], [1.5], [1.5]]),
    "single, then double": (pa.array([1, 2], pa.float32()), pa.array([0.5, 0.5]), [[1], [2], [0.5], [0.5]]),
    "numbers, then booleans": (pa.array([3, 2]), pa.array([True, False]), [[3], [2], [1], [0]]),
    "booleans, then numbers": (pa.array([True, False]), pa.array([3, 2]), [[1], [0], [3], [2]]),
    "numbers, then nothing": (pa.array([1, 2]), pa.nulls(2), [[1], [2], [1.5], [1.5]]),
    "nothing, then numbers": (pa.nulls(2), pa.array([1, 2]), [[1.5], [1.5], [1], [2]]),
    "strings, then nothing": (WORDS, pa.nulls(2), [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]),
    "nothing, then strings": (pa.nulls(2), WORDS, [[0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    "lists, then nothing": (LISTS, pa.nulls(2), [[1, 2], [3, 5], [2, 3.5], [2, 3.5]]),
    "nothing, then lists": (pa.nulls(2), LISTS, [[2, 3.5], [2, 3.5], [1, 2], [3, 5]]),
    "lists of other types": (LISTS, LISTS.cast(pa.list_(pa.int8(), 2)), [[1, 2], [3, 5]] * 2),
    "strings, then categories": (WORDS, WORDS.dictionary_encode(), [[1, 0], [0, 1]] * 2),
    "categories, then long strings": (WORDS.dictionary_encode(), WORDS.cast(pa.large_string()), [[1, 0], [0, 1]] * 2),
}


@pytest.mark.parametrize("write", [pa.parquet.write_table, pa.feather.write_feather], ids=["Parquet", "Feather"])
@pytest.mark.parametrize("case", PARTS)
def test_types_of_one_kind_are_joined(tmp_path, case, write):
    *parts, expected = PARTS[case]
    for i, part in enumerate(parts):
        write(pa.table({"a": part, "label": [0, 1]}), tmp_path / f"{i}")
    X, y = collect(streams.open(tmp_path, batch_rows=3))
    np.testing.assert_array_equal(X, np.array(expected, np.float32))
    assert y.tolist() == [0, 1, 0, 1]


LABELS = {
    "integers, then booleans": ([0, 1], [True, False], [0, 1, 1, 0], "i"),
    "booleans, then integers": ([True, False], [0, 1], [True, False, False, True], "b"),
    "integers, then whole floats": ([0, 1], [1.0, 0.0], [0, 1, 1, 0], "i"),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_of_tables_have_one_type(tmp_path, case):
    *parts, expected, letter = LABELS[case]
    for i, part in enumerate(parts):
        pa.parquet.write_table(pa.table({"a": [1, 2], "label": part}), tmp_path / f"{i}.parquet")
    blocks = [y for _, y in streams.open(tmp_path, batch_rows=2)]
    assert [y.dtype.kind for y in blocks] == [letter, letter]
    assert np.concatenate(blocks).tolist() == expected


def test_a_file_without_labels_is_refused_by_its_first_row(tmp_path):
    pa.parquet.write_table(pa.table({"a": [1, 2], "label": ["x", "y"]}), tmp_path / "0.parquet")
    pa.parquet.write_table(pa.table({"a": [1, 2], "label": pa.nulls(2)}), tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"Row 1 of .*1\.parquet has no label"):
        list(streams.open(tmp_path))


def test_means_do_not_depend_on_where_files_end(tmp_path):
    values = np.random.default_rng(5).normal(size=3000)
    for name, ends in (("one", [3000]), ("three", [10, 1500, 3000])):
        (tmp_path / name).mkdir()
        for i, part in enumerate(np.split(values, ends[:-1])):
            table = pa.table({"a": part, "label": np.zeros(len(part))})
            pa.parquet.write_table(table, tmp_path / name / f"{i}.parquet")
    one, three = (streams.open(tmp_path / name).columns.features[0].fill for name in ("one", "three"))
    assert one == three


def npz_parts(folder, *labels):
    for i, part in enumerate(labels):
        np.savez(folder / f"{i}.npz", X=np.eye(len(part)), y=np.array(part))


def hdf5_parts(folder, *labels):
    import h5py

    for i, part in enumerate(labels):
        with h5py.File(folder / f"{i}.h5", "w") as file:
            file["X"], file["y"] = np.eye(len(part)), part


def npy_parts(folder, *labels):
    for i, part in enumerate(labels):
        np.save(folder / f"X{i}.npy", np.eye(len(part)))
        np.save(folder / f"y{i}.npy", np.array(part))


@pytest.mark.parametrize("write", [npz_parts, hdf5_parts, npy_parts])
@pytest.mark.parametrize(
    ("labels", "words"), [(([0, 1], ["0", "1"]), "integer, got strings"), ((["0"], [0.5]), "text, got numbers")]
)
def test_text_and_numeric_labels_do_not_mix(tmp_path, write, labels, words):
    write(tmp_path, *labels)
    with pytest.raises(ValueError, match=rf"The target .*1\.\w+ must be of kind {words}"):
        streams.open(tmp_path)


@pytest.mark.parametrize("write", [npz_parts, hdf5_parts, npy_parts])
def test_labels_of_arrays_have_one_type(tmp_path, write):
    write(tmp_path, [0, 1], [True, False], [1.0, 0.0])
    assert [y.dtype.kind for _, y in streams.open(tmp_path, batch_rows=2)] == ["i", "i", "i"]
