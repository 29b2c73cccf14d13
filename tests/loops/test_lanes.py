"""Loading puts every number where it belongs, dense and CSR alike."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random

from craftmaps._loops import lanes
from craftmaps._loops.lanes import aligned_empty, line_for, load_csr, load_dense
from craftmaps._rows.tiling import frozen

PRECISIONS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def layout(n_rows, width, dtype, n_numbers):
    """Return positions and factors of columns, empty tiles and the line."""
    rng = np.random.default_rng(n_rows)
    position = rng.permutation(n_numbers)[:width]
    factor = rng.normal(size=width).astype(dtype)
    line = line_for(n_rows, dtype)
    return position, factor, empty_tiles(n_rows, n_numbers, line, dtype), line


def empty_tiles(n_rows, n_numbers, line, dtype):
    """Return tiles to be overwritten, each with a free line at its end."""
    n_tiles = -(-n_rows // len(line))
    tiles = lanes.aligned_empty(n_tiles * (n_numbers + 1) * len(line), dtype).reshape(n_tiles, -1)
    tiles[:] = 7
    return tiles


def assert_loaded(X, position, factor, tiles, line):
    """Compare all but the free lines."""
    loaded = tiles[:, : -len(line)]
    np.testing.assert_array_equal(loaded, in_tiles(X, position, factor, loaded, line))


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
    assert_loaded(X, position, factor, tiles, line)


LAYOUTS = {
    "rows contiguous": np.ascontiguousarray,
    "columns contiguous": np.asfortranarray,
    "some rows": lambda X: np.repeat(X, 2, axis=0)[::2],
    "some columns": lambda X: np.c_[X, X][:, 1 : 1 + X.shape[1]],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every twentieth column": lambda X: np.repeat(X, 20, axis=1)[:, ::20],
    "every other row of contiguous columns": lambda X: np.asfortranarray(np.repeat(X, 2, axis=0))[::2],
    "rows backwards": lambda X: X[::-1].copy()[::-1],
    "columns backwards": lambda X: X[:, ::-1].copy()[:, ::-1],
    "contiguous columns backwards": lambda X: np.asfortranarray(X[::-1])[::-1],
    "one row for all": lambda X: np.broadcast_to(X[0], X.shape),
    "one number for all columns": lambda X: np.broadcast_to(X[:, :1], X.shape),
    "read-only": lambda X: frozen(X),
}


@PRECISIONS
@pytest.mark.parametrize(
    ("n_rows", "width", "n_numbers"), [(1, 1, 1), (1, 300, 512), (4, 9, 9), (5, 5, 8), (37, 12, 16), (70, 523, 523)]
)
@pytest.mark.parametrize("lay_out", LAYOUTS.values(), ids=LAYOUTS)
def test_load_dense_takes_rows_of_any_layout(fences, dtype, n_rows, width, n_numbers, lay_out):
    X = lay_out(np.random.default_rng(0).normal(size=(n_rows, width)).astype(dtype))
    position, factor, tiles, line = layout(n_rows, width, dtype, n_numbers)
    load_dense(X, position, factor, tiles, line)
    assert_loaded(X, position, factor, tiles, line)
    assert fences() == 0


@PRECISIONS
@pytest.mark.parametrize("lay_out", LAYOUTS.values(), ids=LAYOUTS)
def test_load_dense_keeps_the_free_line(dtype, lay_out):
    X = lay_out(np.random.default_rng(0).normal(size=(32, 40)).astype(dtype))
    position, factor, tiles, line = layout(32, 40, dtype, 40)
    load_dense(X, position, factor, tiles, line)
    assert (tiles[:, -len(line) :] == 7).all()


@PRECISIONS
@pytest.mark.parametrize(("n_rows", "width", "n_numbers"), [(1, 1, 1), (4, 5, 8), (5, 5, 8), (37, 12, 16)])
def test_load_csr(dtype, n_rows, width, n_numbers):
    X = csr_matrix(random(n_rows, width, density=0.5, random_state=0, dtype=dtype))
    position, factor, tiles, line = layout(n_rows, width, dtype, n_numbers)
    load_csr(X.data, X.indices, X.indptr.astype(np.int64), position, factor, tiles, line)
    assert_loaded(X.toarray(), position, factor, tiles, line)


@PRECISIONS
def test_duplicate_entries_of_csr_add_up(dtype):
    data = np.array([1, 2, 4, 8, 16], dtype)
    indices, indptr = np.array([2, 0, 2, 1, 1], np.int32), np.array([0, 3, 5])
    position, factor, tiles, line = layout(2, 3, dtype, 4)
    factor[:] = 0.5
    load_csr(data, indices, indptr, position, factor, tiles, line)
    X = np.array([[2, 0, 5], [0, 24, 0]], dtype)
    assert_loaded(X, position, factor, tiles, line)


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
