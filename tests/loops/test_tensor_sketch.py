"""Convolved count sketches equal the twin with either Fourier transform."""

import numpy as np
import pytest
from scipy import fft, sparse

from craftmaps import Polynomial, TensorSketch, threads
from tests.comparison import TOLERANCE, assert_rows_close
from tests.loops.naive import count_sketch, tensor_sketch

PRECISIONS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


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


def by_definition(feature_map, X):
    """Multiply the spectra of the count sketches of all rows, in double precision."""
    kernel, D = feature_map.kernel, feature_map.n_components
    X = np.sqrt(kernel.gamma) * np.asarray(X, float)
    sketches = [
        count_sketch(X, buckets, signs, np.sqrt(kernel.coef0), D)
        for buckets, signs in zip(feature_map.buckets_, feature_map.signs_, strict=True)
    ]
    return fft.irfft(np.prod([fft.rfft(sketch, axis=1) for sketch in sketches], axis=0), n=D, axis=1)


@PRECISIONS
@pytest.mark.parametrize("log2_width", range(2, 14))
def test_every_power_of_two(rows, dtype, log2_width):
    """From widths below a vector to pieces beyond the first-level cache, odd and even powers."""
    X = rows.astype(dtype)
    feature_map = TensorSketch(Polynomial(3, coef0=0.5, gamma=1.5), 2**log2_width, random_state=1).fit(X)
    assert_rows_close(feature_map.transform(X), by_definition(feature_map, X), TOLERANCE[dtype])


@pytest.mark.parametrize("degree", [2, 5, 12])
def test_every_degree(rows, degree):
    feature_map = TensorSketch(Polynomial(degree, coef0=1.0), 64, random_state=1).fit(rows)
    assert_rows_close(feature_map.transform(rows), by_definition(feature_map, rows), 1e-11)


@PRECISIONS
@pytest.mark.parametrize("width", [16, 48, 64, 1024])
def test_the_same_bits_in_every_lane_block_and_thread(rows, dtype, width):
    X = np.tile(rows, (10, 1)).astype(dtype)
    feature_map = TensorSketch(Polynomial(3), width, random_state=2).fit(X)
    with threads(1):
        expected = feature_map.transform(X)
    np.testing.assert_array_equal(expected[: len(rows)], expected[-len(rows) :])
    for n_rows in (1, 3, 5, 8, 9, 17, 300, 511):
        np.testing.assert_array_equal(feature_map.transform(X[7 : 7 + n_rows]), expected[7 : 7 + n_rows])
    with threads(2):
        np.testing.assert_array_equal(feature_map.transform(X), expected)


@PRECISIONS
@pytest.mark.parametrize("n_rows", [1, 4, 5, 16, 60])
@pytest.mark.parametrize("width", [16, 32, 2048])
def test_the_loop_stays_inside_its_buffers(fences, csr_rows, dtype, n_rows, width):
    X = csr_rows[:n_rows].astype(dtype)
    feature_map = TensorSketch(Polynomial(3), width, random_state=3).fit(X)
    feature_map.transform(X)
    feature_map.transform(X.toarray())
    assert fences() == 0


@PRECISIONS
@pytest.mark.parametrize("n_rows", [1, 4, 7, 60])
def test_csr_rows_have_the_bits_of_dense_ones(csr_rows, dtype, n_rows):
    X = csr_rows[:n_rows].astype(dtype)
    feature_map = TensorSketch(Polynomial(3, gamma=0.3), 32, random_state=3).fit(X)
    np.testing.assert_array_equal(feature_map.transform(X), feature_map.transform(X.toarray()))


def test_csr_rows_without_entries(csr_rows):
    X = sparse.csr_matrix((9, csr_rows.shape[1]))
    feature_map = TensorSketch(Polynomial(3), 32, random_state=3).fit(csr_rows)
    np.testing.assert_array_equal(feature_map.transform(X), feature_map.transform(X.toarray()))
