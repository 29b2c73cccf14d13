"""Loading puts every number where it belongs, dense and CSR alike."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random

from craftmaps._loops.lanes import aligned_empty, line_for, load_csr, load_dense

PRECISIONS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def layout(n_rows, width, dtype, n_numbers):
    """Return positions and factors of columns, empty tiles and the line."""
    rng = np.random.default_rng(n_rows)
    position = rng.permutation(n_numbers)[:width]
    factor = rng.normal(size=width).astype(dtype)
    line = line_for(n_rows, dtype)
    tiles = np.full((-(-n_rows // len(line)), n_numbers * len(line)), 7, dtype)  # to be overwritten
    return position, factor, tiles, line


def in_tiles(X, position, factor, tiles, line):
    """Return the expected tiles."""
    expected = np.zeros((tiles.shape[0], tiles.shape[1] // len(line), len(line)), tiles.dtype)
    for row in range(X.shape[0]):
        for k in range(X.shape[1]):
            expected[row // len(line), position[k], row % len(line)] = factor[k] * X[row, k]
    return expected.reshape(tiles.shape)


@PRECISIONS
@pytest.mark.parametrize(
    ("n_rows", "width", "n_numbers"), [(1, 1, 1), (4, 5, 8), (5, 5, 8), (37, 12, 16), (40, 32, 64)]
)
def test_load_dense(dtype, n_rows, width, n_numbers):
    X = np.random.default_rng(0).normal(size=(n_rows, width)).astype(dtype)
    position, factor, tiles, line = layout(n_rows, width, dtype, n_numbers)
    load_dense(X, position, factor, tiles, line)
    np.testing.assert_array_equal(tiles, in_tiles(X, position, factor, tiles, line))


@PRECISIONS
@pytest.mark.parametrize(("n_rows", "width", "n_numbers"), [(1, 1, 1), (5, 5, 8), (37, 12, 16), (70, 33, 33)])
@pytest.mark.parametrize(
    "lay_out",
    [np.asfortranarray, lambda X: np.c_[X, X][:, 1 : 1 + X.shape[1]], lambda X: X[::-1]],
    ids=["columns contiguous", "some columns", "rows backwards"],
)
def test_load_dense_takes_contiguous_rows_or_columns(dtype, n_rows, width, n_numbers, lay_out):
    X = lay_out(np.random.default_rng(0).normal(size=(n_rows, width)).astype(dtype))
    position, factor, tiles, line = layout(n_rows, width, dtype, n_numbers)
    load_dense(X, position, factor, tiles, line)
    np.testing.assert_array_equal(tiles, in_tiles(X, position, factor, tiles, line))


@PRECISIONS
@pytest.mark.parametrize(("n_rows", "width", "n_numbers"), [(1, 1, 1), (4, 5, 8), (5, 5, 8), (37, 12, 16)])
def test_load_csr(dtype, n_rows, width, n_numbers):
    X = csr_matrix(random(n_rows, width, density=0.5, random_state=0, dtype=dtype))
    position, factor, tiles, line = layout(n_rows, width, dtype, n_numbers)
    load_csr(X.data, X.indices, X.indptr.astype(np.int64), position, factor, tiles, line)
    np.testing.assert_array_equal(tiles, in_tiles(X.toarray(), position, factor, tiles, line))


@PRECISIONS
def test_duplicate_entries_of_csr_add_up(dtype):
    data = np.array([1, 2, 4, 8, 16], dtype)
    indices, indptr = np.array([2, 0, 2, 1, 1], np.int32), np.array([0, 3, 5])
    position, factor, tiles, line = layout(2, 3, dtype, 4)
    factor[:] = 0.5
    load_csr(data, indices, indptr, position, factor, tiles, line)
    X = np.array([[2, 0, 5], [0, 24, 0]], dtype)
    np.testing.assert_array_equal(tiles, in_tiles(X, position, factor, tiles, line))


@PRECISIONS
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_aligned_empty_starts_on_a_cache_line(dtype, size):
    x = aligned_empty(size, dtype)
    assert x.size == size
    assert x.dtype == dtype
    assert x.ctypes.data % 64 == 0


def test_a_line_is_64_bytes_and_four_numbers_for_few_rows():
    assert [len(line_for(n, np.float32)) for n in (1, 4, 5, 100)] == [4, 4, 16, 16]
    assert [len(line_for(n, np.float64)) for n in (1, 4, 5, 100)] == [4, 4, 8, 8]
