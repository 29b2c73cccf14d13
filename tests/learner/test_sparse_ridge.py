"""Ridge regression by products with sparse rows alone is ridge regression."""

import numpy as np
import pytest
from scipy.sparse import random as random_sparse
from sklearn.linear_model import Ridge

import craftmaps
from craftmaps.least_squares.sparse_ridge import SparseRidge


def example(n_rows=2500, n_columns=40, seed=0):
    """Sparse rows, two targets and weights."""
    rng = np.random.default_rng(seed)
    X = random_sparse(n_rows, n_columns, 0.1, format="csr", random_state=rng, data_rvs=rng.standard_normal)
    return X, X @ rng.normal(size=(n_columns, 2)) + rng.normal(size=(n_rows, 2)) + 3, rng.uniform(0.2, 2, n_rows)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_solutions_are_those_of_scikit_learn(is_weighted):
    X, Y, weight = example()
    weight = weight if is_weighted else None
    alphas = [1000.0, 10.0, 0.1]
    for alpha, found in zip(alphas, SparseRidge(X, Y, weight).path(alphas, tolerance=1e-10), strict=True):
        expected = Ridge(alpha=alpha).fit(X.toarray(), Y, sample_weight=weight)
        np.testing.assert_allclose(found.coef, expected.coef_, atol=1e-7)
        np.testing.assert_allclose(found.intercept, expected.intercept_, atol=1e-7)


def test_more_columns_than_rows():
    X, Y, _ = example(100, 5000)
    found = next(SparseRidge(X, Y).path([1.0], tolerance=1e-10))
    expected = Ridge(alpha=1.0).fit(X.toarray(), Y)
    np.testing.assert_allclose(found.coef, expected.coef_, atol=1e-7)


def test_the_number_of_threads_does_not_matter():
    X, Y, _ = example()
    found = []
    for n in (1, 2):
        with craftmaps.threads(n):
            found.append(next(SparseRidge(X, Y).path([1.0])).coef)
    np.testing.assert_array_equal(*found)


def test_rows_of_zeros_leave_the_mean():
    X, Y, _ = example()
    coef, intercept = next(SparseRidge(X * 0, Y).path([1.0]))
    assert not coef.any()
    np.testing.assert_allclose(intercept, Y.mean(axis=0))
