"""Count sketches of dense and CSR rows are those of the twin, and so are their convolutions."""

import numpy as np
import pytest

from craftmaps import Polynomial, TensorSketch
from craftmaps._loops.count_sketch import sketch_csr, sketch_dense
from tests.comparison import TOLERANCE, assert_rows_close
from tests.loops.naive import count_sketch, tensor_sketch

PRECISIONS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@PRECISIONS
@pytest.mark.parametrize("n_buckets", [1, 2, 7, 32])
def test_sketch_of_dense_and_csr_rows(rows, csr_rows, dtype, n_buckets):
    rng = np.random.default_rng(n_buckets)
    buckets, signs = rng.integers(n_buckets, size=13), rng.choice([-0.5, 0.5], size=13).astype(dtype)
    dense, sparse = (np.full((60, n_buckets), 7, dtype) for _ in range(2))  # old numbers must go
    X = csr_rows.astype(dtype)
    sketch_dense(rows.astype(dtype), buckets, signs, dtype(0.25), dense)
    sketch_csr(X.data, X.indices, X.indptr.astype(np.int64), buckets, signs, dtype(0.25), sparse)
    expected = count_sketch(rows, buckets, signs, 0.25, n_buckets)
    # The sketch of a row may be short where its entries cancel: compare with the row itself.
    tolerance = TOLERANCE[dtype] * np.linalg.norm(rows, axis=1).max()
    np.testing.assert_allclose(dense, expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(sparse, expected, rtol=0, atol=tolerance)


@PRECISIONS
@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("n_components", [5, 16])
def test_tensor_sketch_is_the_sketch_of_the_outer_product(rows, dtype, degree, n_components):
    X = rows[:3, :4].astype(dtype)
    feature_map = TensorSketch(Polynomial(degree, coef0=0.5, gamma=1.5), n_components, random_state=degree).fit(X)
    assert_rows_close(feature_map.transform(X), tensor_sketch(feature_map, X), TOLERANCE[dtype])


def test_tensor_sketch_of_degree_one_is_a_count_sketch(rows):
    feature_map = TensorSketch(Polynomial(1, coef0=0.5, gamma=4.0), 7, random_state=3).fit(rows)
    expected = count_sketch(2 * rows, feature_map.buckets_[0], feature_map.signs_[0], np.sqrt(0.5), 7)
    assert_rows_close(feature_map.transform(rows), expected, 1e-12)
