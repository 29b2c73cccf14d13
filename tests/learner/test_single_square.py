"""A float32 matrix that is solved with one diagonal after another."""

import numpy as np

from craftmaps.least_squares.single_square import SingleSquare


def test_a_square_keeps_its_matrix():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(700, 600)).astype(np.float32)
    matrix, right = Z.T @ Z, rng.normal(size=(600, 2)).astype(np.float32)
    square = SingleSquare(np.tril(matrix))
    for shift in (1000.0, rng.uniform(10, 100, 600)):
        expected = np.linalg.solve(matrix.astype(np.float64) + np.diag(np.broadcast_to(shift, 600)), right)
        found = square.solve(shift, right)
        np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
    assert square.solve(-1000.0, right) is None
    np.testing.assert_array_equal(square.solve(shift, right), found)
