"""Count sketches of dense and CSR rows equal the twin."""

import numpy as np
import pytest

from craftmaps._loops.count_sketch import sketch_csr, sketch_dense
from tests.comparison import TOLERANCE
from tests.loops.naive import count_sketch

PRECISIONS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@PRECISIONS
@pytest.mark.parametrize("n_buckets", [1, 2, 7, 32])
def test_sketch_of_dense_and_csr_rows(rows, csr_rows, dtype, n_buckets):
    rng = np.random.default_rng(n_buckets)
    buckets, signs = rng.integers(n_buckets, size=13), rng.choice([-0.5, 0.5], size=13).astype(dtype)
    dense, sparse = (np.full((60, n_buckets), 7, dtype) for _ in range(2))  # to be overwritten
    X = csr_rows.astype(dtype)
    sketch_dense(rows.astype(dtype), buckets, signs, dense)
    sketch_csr(X.data, X.indices, X.indptr.astype(np.int64), buckets, signs, sparse)
    expected = count_sketch(rows, buckets, signs, 1.0, n_buckets)
    # Relative to the row: its sketch may be short if entries cancel.
    tolerance = TOLERANCE[dtype] * np.linalg.norm(rows, axis=1).max()
    np.testing.assert_allclose(dense, expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(sparse, expected, rtol=0, atol=tolerance)
