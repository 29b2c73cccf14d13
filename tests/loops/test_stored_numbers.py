"""Products of whole numbers of 16 bits equal those of NumPy, and stay within their buffers."""

import numpy as np
import pytest

from craftmaps import threads
from craftmaps.least_squares.stored_features import StoredFeatures

SHAPES = pytest.mark.parametrize(
    ("n_rows", "width", "n_columns"),
    # A block is 32 rows, a vector 8 or 16 numbers, a group of columns up to 5 or 10; a part of a sum is 1,024 rows.
    [(1, 1, 1), (5, 40, 0), (7, 15, 3), (33, 256, 10), (64, 257, 11), (200, 300, 40), (1100, 37, 10)],
)


def problem(n_rows, width, n_columns):
    rng = np.random.default_rng(n_rows + width)
    Z = rng.normal(size=(n_rows, width)) * rng.uniform(0.1, 9, (n_rows, 1))
    features = StoredFeatures.of(np.copy, Z, width)
    values, coef = (rng.normal(size=(n, n_columns)).astype(np.float32) for n in (n_rows, width))
    return features, values, coef, rng.normal(size=n_columns).astype(np.float32), rng.random(n_rows).astype(np.float32)


def assert_close(found, expected):
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-6 * np.abs(expected).max(initial=0))


@SHAPES
def test_sums(fences, n_rows, width, n_columns):
    features, values, *_ = problem(n_rows, width, n_columns)
    assert_close(features.sums(values), features.toarray().astype(np.float64).T @ values)
    assert fences() == 0


@SHAPES
def test_outputs(fences, n_rows, width, n_columns):
    features, _, coef, *_ = problem(n_rows, width, n_columns)
    assert_close(features @ coef, features.toarray().astype(np.float64) @ coef)
    some = np.arange(n_rows)[::3]
    np.testing.assert_array_equal(features[some] @ coef, (features @ coef)[some])
    assert fences() == 0


@SHAPES
def test_normal_products(fences, n_rows, width, n_columns):
    features, _, coef, shift, weight = problem(n_rows, width, n_columns)
    Z = features.toarray().astype(np.float64)
    expected = Z.T @ (weight[:, None] * (Z @ coef - shift))
    assert_close(features.normal_products(coef, shift, weight), expected)
    assert fences() == 0


def test_bits_are_the_same_on_any_number_of_threads():
    features, values, coef, shift, weight = problem(1100, 150, 20)
    with threads(1):
        alone = features.sums(values), features.normal_products(coef, shift, weight)
    with threads(2):
        together = features.sums(values), features.normal_products(coef, shift, weight)
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)
