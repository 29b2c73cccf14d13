"""Every format gives the same rows, in blocks of the same size."""

import shutil

import numpy as np
import pytest
from scipy.sparse import issparse

from craftmaps import streams
from tests.streams.formats import FORMATS, N_ROWS, WIDTH, collect, example, write

ALL_FORMATS = pytest.mark.parametrize("format", FORMATS)
COUNTED = ("Parquet", "Feather", "NPY", "NPZ", "IDX", "HDF5")
X, Y = example()


@ALL_FORMATS
def test_rows_have_the_same_bits(tmp_path, format):
    path, target = write(tmp_path, format, X, Y)
    rows, labels = collect(streams.open(path, target=target, batch_rows=10))
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, X.astype(np.float32))
    np.testing.assert_array_equal(labels, Y)
    in_double, _ = collect(streams.open(path, target=target, dtype="float64"))
    np.testing.assert_array_equal(in_double, X)


@ALL_FORMATS
@pytest.mark.parametrize("batch_rows", [1, 7, N_ROWS - 1, N_ROWS, 1000])
def test_blocks_have_one_size(tmp_path, format, batch_rows):
    path, target = write(tmp_path, format, X, Y)
    stream = streams.open(path, target=target, batch_rows=batch_rows)
    sizes = [block.shape for block, _ in stream]
    full, rest = divmod(N_ROWS, batch_rows)
    assert sizes == [(batch_rows, WIDTH)] * full + ([(rest, WIDTH)] if rest else [])
    if stream.n_rows is None:
        assert not format.startswith(COUNTED)
        with pytest.raises(TypeError, match="not known"):
            len(stream)
    else:
        assert (stream.n_rows, len(stream)) == (N_ROWS, len(sizes))


@ALL_FORMATS
def test_a_stream_can_be_read_again(tmp_path, format):
    path, target = write(tmp_path, format, X, Y)
    stream = streams.open(path, target=target, batch_rows=20)
    first, second = collect(stream), collect(stream)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


@ALL_FORMATS
@pytest.mark.parametrize("max_rows", [1, 20, 33, 1000])
def test_max_rows(tmp_path, format, max_rows):
    path, target = write(tmp_path, format, X, Y)
    stream = streams.open(path, target=target, batch_rows=20, max_rows=max_rows)
    rows, labels = collect(stream)
    expected = min(max_rows, N_ROWS)
    assert rows.shape[0] == expected
    np.testing.assert_array_equal(labels, Y[:expected])
    assert stream.n_rows in (None, expected)


@ALL_FORMATS
def test_the_bytes_read_grow_to_all_bytes(tmp_path, format):
    path, target = write(tmp_path, format, X, Y)
    stream = streams.open(path, target=target, batch_rows=10)
    seen = []
    for _ in stream:
        seen.append(stream.bytes_read)
    assert seen == sorted(seen)
    assert 0 < seen[-1] <= stream.total_bytes == path.stat().st_size
    assert seen[-1] > 0.9 * stream.total_bytes


@pytest.mark.parametrize("format", ["svmlight", "svmlight, bz2", "NPY, labels beside", "NPZ", "IDX", "HDF5"])
def test_no_labels_without_a_target(tmp_path, format):
    path, _ = write(tmp_path, format, X, Y)
    rows, labels = collect(streams.open(path, target=None))
    np.testing.assert_array_equal(rows, X.astype(np.float32))
    assert labels is None


@pytest.mark.parametrize("format", sorted(FORMATS.keys() - {"NPY, labels beside", "IDX"}))  # found by name
def test_the_first_bytes_tell_the_format(tmp_path, format):
    path, target = write(tmp_path, format, X, Y)
    renamed = tmp_path / "rows"
    shutil.move(path, renamed)
    np.testing.assert_array_equal(collect(streams.open(renamed, target=target))[0], X.astype(np.float32))


@pytest.mark.parametrize("format", ["svmlight", "svmlight from 0", "svmlight, bz2"])
def test_svmlight_stays_sparse(tmp_path, format):
    path, target = write(tmp_path, format, X, Y)
    for block, _ in streams.open(path, target=target, batch_rows=10):
        assert issparse(block)
        assert block.format == "csr"
        assert block.dtype == np.float32


@pytest.mark.parametrize("trained", ["Parquet", "CSV without names", "svmlight", "NPZ", "Parquet of vectors"])
@pytest.mark.parametrize(
    "read", ["Parquet", "CSV without names", "svmlight", "NPY, labels inside", "NPZ", "JSON lines"]
)
def test_rows_of_one_format_are_read_by_the_columns_of_another(tmp_path, trained, read):
    (tmp_path / "trained").mkdir()
    path, target = write(tmp_path / "trained", trained, X, Y)
    columns = streams.open(path, target=target).columns
    path, target = write(tmp_path, read, X[::-1], Y[::-1])
    target = "label" if read in ("Parquet", "JSON lines") else target
    rows, labels = collect(streams.open(path, columns=columns, target=target))
    np.testing.assert_array_equal(rows, X[::-1].astype(np.float32))
    np.testing.assert_array_equal(labels, Y[::-1])
