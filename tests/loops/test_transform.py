"""The transform on lanes is the Hadamard matrix, at every size, precision and number of lanes."""

import numpy as np
import pytest

from craftmaps._loops.hadamard import transform
from craftmaps._loops.lanes import aligned_empty, line_for
from tests.comparison import TOLERANCE, assert_rows_close
from tests.loops.naive import hadamard, hadamard_matrix

PRECISIONS = pytest.mark.parametrize("dtype", [np.float32, np.float64])
LANES = pytest.mark.parametrize("n_rows", [1, 16], ids=["four lanes", "a full line"])


def lines(n_lines, dtype, n_rows):
    """Return random lines as one vector, and the tuple that says how many lanes they have."""
    line = line_for(n_rows, dtype)
    x = aligned_empty(n_lines * len(line), dtype)
    x[:] = np.random.default_rng(n_lines).normal(size=x.size)
    return x, line


@pytest.mark.parametrize("log2_size", range(12))
@PRECISIONS
@LANES
def test_equals_the_matrix(log2_size, dtype, n_rows):
    x, line = lines(1 << log2_size, dtype, n_rows)
    expected = hadamard(1 << log2_size) @ x.reshape(-1, len(line))
    transform(x, 0, log2_size, line)
    assert_rows_close(x.reshape(-1, len(line)).T, expected.T, TOLERANCE[dtype])


@PRECISIONS
@LANES
def test_equals_the_matrix_of_order_4096(dtype, n_rows):
    x, line = lines(4096, dtype, n_rows)
    expected = np.empty((4096, len(line)))
    H = hadamard_matrix(4096, dtype=np.int8)
    for start in range(0, 4096, 512):  # a part at a time: the matrix in float64 is 128 MB
        expected[start : start + 512] = H[start : start + 512].astype(float) @ x.reshape(-1, len(line))
    transform(x, 0, 12, line)
    assert_rows_close(x.reshape(-1, len(line)).T, expected.T, TOLERANCE[dtype])


@pytest.mark.parametrize("log2_size", [13, 14, 15, 16, 17])
@PRECISIONS
def test_equals_the_kronecker_product_beyond_the_cache(log2_size, dtype):
    outer, inner = 1 << (log2_size - 8), 256
    x, line = lines(1 << log2_size, dtype, 16)
    lanes = x.reshape(-1, len(line)).T.astype(np.float64)
    expected = hadamard(outer) @ (lanes.reshape(-1, inner) @ hadamard(inner)).reshape(-1, outer, inner)
    transform(x, 0, log2_size, line)
    assert_rows_close(x.reshape(-1, len(line)).T, expected.reshape(lanes.shape), TOLERANCE[dtype])


@pytest.mark.parametrize("log2_size", [0, 1, 4, 5, 11])
@PRECISIONS
@LANES
def test_leaves_the_lines_around_it_alone(log2_size, dtype, n_rows):
    first, size = 3, 1 << log2_size
    x, line = lines(first + size + 5, dtype, n_rows)
    before = x.reshape(-1, len(line)).copy()
    transform(x, first, log2_size, line)
    after = x.reshape(-1, len(line))
    assert_rows_close(
        after[first : first + size].T, (hadamard(size) @ before[first : first + size]).T, TOLERANCE[dtype]
    )
    np.testing.assert_array_equal(after[:first], before[:first])
    np.testing.assert_array_equal(after[first + size :], before[first + size :])


@PRECISIONS
def test_gives_a_row_the_same_bits_in_every_lane(dtype):
    x, line = lines(64, dtype, 16)
    tile = x.reshape(64, len(line))
    tile[:] = tile[:, :1]
    alone, short = lines(64, dtype, 1)
    alone.reshape(64, len(short))[:] = tile[:, :1]
    transform(x, 0, 6, line)
    transform(alone, 0, 6, short)
    np.testing.assert_array_equal(tile, np.repeat(alone.reshape(64, -1)[:, :1], len(line), axis=1))
