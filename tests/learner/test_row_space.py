"""Ridge regression in the space of rows is ridge regression, and its leave-one-out is that of refits."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.least_squares.row_space import RowSpace

ALPHAS = (1e-3, 1e-2, 1.0, 100.0)  # errors are of the size of rounding errors over alpha


def example(n_rows=30, width=50, n_targets=3, seed=0, offset=5.0):
    """Few rows of many features far from zero, targets and weights, one of which is zero."""
    rng = np.random.default_rng(seed)
    Z, Y = rng.normal(size=(n_rows, width)) + offset, rng.normal(size=(n_rows, n_targets)) + 2
    weight = rng.uniform(0.2, 3.0, n_rows)
    weight[4] = 0.0
    return Z, Y, weight


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("width", [3, 50])
def test_the_solution_is_that_of_scikit_learn(alpha, is_weighted, width):
    Z, Y, weight = example(width=width)
    weight = weight if is_weighted else None
    expected = Ridge(alpha=alpha, solver="svd").fit(Z, Y, sample_weight=weight)
    found = RowSpace.of(Z, Y, weight).solve(alpha, Z)
    np.testing.assert_allclose(found.coef, expected.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.intercept, expected.intercept_, rtol=1e-6, atol=1e-7)


def test_the_solution_is_that_of_normal_equations():
    Z, Y, weight = example()
    expected = NormalEquations.of(Z, Y, weight).solve(0.3)
    found = RowSpace.of(Z, Y, weight).solve(0.3, Z)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-9)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("width", [3, 50])
def test_left_out_outputs_are_those_of_refits(alpha, is_weighted, width):
    Z, Y, weight = example(width=width)
    weight = weight if is_weighted else np.ones(len(Z))
    found = RowSpace.of(Z, Y, weight).left_out(alpha)
    for i in range(len(Z)):
        others = np.arange(len(Z)) != i
        refit = Ridge(alpha=alpha, solver="svd").fit(Z[others], Y[others], sample_weight=weight[others])
        np.testing.assert_allclose(found[i], refit.predict(Z[i : i + 1])[0], rtol=1e-5, atol=1e-6)


def test_a_weight_of_two_is_a_row_twice():
    Z, Y, _ = example()
    weight = np.ones(len(Z))
    weight[3] = 2.0
    twice = np.append(np.arange(len(Z)), 3)
    expected = RowSpace.of(Z[twice], Y[twice]).solve(0.5, Z[twice])
    found = RowSpace.of(Z, Y, weight).solve(0.5, Z)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-10)


def test_features_that_do_not_vary_leave_the_mean():
    _, Y, _ = example()
    space = RowSpace.of(np.ones((len(Y), 2)), Y)
    np.testing.assert_allclose(space.left_out(1.0), (Y.sum(axis=0) - Y) / (len(Y) - 1))


def test_refusals():
    Z, Y, weight = example()
    with pytest.raises(ValueError, match="sample_weight must be 30 finite numbers"):
        RowSpace.of(Z, Y, -weight)
    with pytest.raises(ValueError, match="kernel must be square"):
        RowSpace(Z, Y)
    with pytest.raises(ValueError, match="alpha must be more than 0"):
        RowSpace.of(Z, Y).left_out(0.0)


def test_coordinates_have_the_inner_products_of_the_rows_and_lead_back():
    rng = np.random.default_rng(0)
    Z, Y, weight = rng.normal(size=(9, 30)), rng.normal(size=(9, 2)), rng.uniform(0.5, 2, 9)
    Z[3] = Z[5]
    space = RowSpace.of(Z, Y, weight)
    centred = Z - np.average(Z, axis=0, weights=weight)
    X = space.coordinates()
    np.testing.assert_allclose(X @ X.T, centred @ centred.T, atol=1e-9)
    there = RowSpace.of(X, Y, weight).solve(0.3, X)
    coef, intercept = space.from_coordinates(there, Z)
    expected = space.solve(0.3, Z)
    np.testing.assert_allclose(coef, expected.coef, atol=1e-9)
    np.testing.assert_allclose(intercept, expected.intercept, atol=1e-9)
