"""Ridge regressions in single precision, which compare features."""

import numpy as np
import pytest

from craftmaps import threads
from craftmaps.least_squares.quick_ridge import QuickRidge
from craftmaps.least_squares.single_square import SingleSquare


def problem(n_rows=900, width=300):
    rng = np.random.default_rng(0)
    Z = (rng.normal(size=(n_rows, width)) + rng.normal(size=width)).astype(np.float32)
    Y = Z @ rng.normal(size=(width, 3)) + rng.normal(size=(n_rows, 3)) + [0.0, 50.0, -1e6]
    weight = rng.uniform(0.5, 2, n_rows)
    weight[::7] = 0
    return Z, Y * [1.0, 1e-30, 1e30], weight


def outputs_in_double(Z, Y, weight, alpha):
    mean, target_mean = weight @ Z / weight.sum(), weight @ Y / weight.sum()
    centred, root = Z - mean, np.sqrt(weight / weight.sum())[:, None]
    matrix = (root * centred).T @ (root * centred)
    shift = alpha * np.trace(matrix) / len(matrix)
    right = (root * centred).T @ (root * (Y - target_mean))
    return centred @ np.linalg.solve(matrix + shift * np.eye(len(matrix)), right) + target_mean


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_outputs_are_those_of_double_precision(alpha):
    Z, Y, weight = problem()
    found = QuickRidge(Z.copy(), Y, weight).solution(alpha).outputs(Z)
    expected = outputs_in_double(Z.astype(np.float64), Y, weight, alpha)
    assert np.all(np.abs(found - expected).max(axis=0) < 1e-4 * Y.std(axis=0))


def test_one_penalty_after_another_is_the_same_as_alone():
    Z, Y, weight = problem()
    ridge = QuickRidge(Z.copy(), Y, weight)
    first, _, again = (ridge.solution(alpha) for alpha in (0.01, 1.0, 0.01))
    np.testing.assert_array_equal(first.coef, again.coef)


def test_threads_do_not_change_bits():
    Z, Y, weight = problem()
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(QuickRidge(Z.copy(), Y, weight).solution(0.1).coef)
    np.testing.assert_array_equal(*found)


def test_equal_features_need_a_larger_penalty():
    Z, Y, weight = problem(width=40)
    Z = np.hstack([Z, Z, np.ones((len(Z), 1), np.float32)])
    found = QuickRidge(Z.copy(), Y, weight).solution(1e-12)
    assert np.isfinite(found.coef).all()


def test_constant_features_and_targets():
    Z, Y = np.ones((30, 4), np.float32), np.full((30, 1), 7.0)
    np.testing.assert_allclose(QuickRidge(Z.copy(), Y, np.ones(30)).solution(0.1).outputs(Z), 7.0)


def test_products_that_overflow_are_refused():
    Z, Y, weight = problem()
    with pytest.raises(ValueError, match="overflow"):
        QuickRidge(Z * np.float32(1e25), Y, weight)


@pytest.mark.parametrize("is_shared_out", [False, True])
def test_a_square_keeps_its_matrix(is_shared_out):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(700, 600)).astype(np.float32)
    matrix, right = Z.T @ Z, rng.normal(size=(600, 2)).astype(np.float32)
    square = SingleSquare(np.tril(matrix), is_shared_out)
    for shift in (1000.0, rng.uniform(10, 100, 600)):
        expected = np.linalg.solve(matrix.astype(np.float64) + np.diag(np.broadcast_to(shift, 600)), right)
        found = square.solve(shift, right)
        np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
    assert square.solve(-1000.0, right) is None
    np.testing.assert_array_equal(square.solve(shift, right), found)
