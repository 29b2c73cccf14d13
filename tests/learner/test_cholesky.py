"""Factors in blocks are those of LAPACK, whatever the number of threads."""

import numpy as np
import pytest

import craftmaps
from craftmaps.least_squares.cholesky import factor_in_place


def positive(width, seed=0):
    A = np.random.default_rng(seed).normal(size=(width, width + 5))
    return np.asfortranarray(A @ A.T + np.eye(width))


@pytest.mark.parametrize("width", [1, 2, 511, 512, 513, 1300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_factor_of_a_matrix(width, dtype):
    A = positive(width).astype(dtype)
    L = A.copy(order="F")
    assert factor_in_place(L)
    L = np.tril(L)
    np.testing.assert_allclose(L @ L.T, A, rtol=0, atol=20 * width * np.finfo(dtype).eps * np.abs(A).max())


@pytest.mark.parametrize("place", [0, 600, 1299])
def test_a_matrix_that_is_not_positive(place):
    A = positive(1300)
    A[place, place] = -1.0
    assert not factor_in_place(A)


def test_threads_do_not_matter():
    factors = [positive(1300) for _ in range(3)]  # products of NumPy may depend on threads
    for n, factor in enumerate(factors, start=1):
        with craftmaps.threads(n):
            assert factor_in_place(factor)
    np.testing.assert_array_equal(np.tril(factors[0]), np.tril(factors[1]))
    np.testing.assert_array_equal(np.tril(factors[0]), np.tril(factors[2]))


def test_what_is_above_the_diagonal_stays():
    A = positive(600)
    above = np.triu(A, 1)
    assert factor_in_place(A)
    np.testing.assert_array_equal(np.triu(A, 1), above)
