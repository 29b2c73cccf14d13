"""A subsampled Hadamard projection is a product with rows of the Hadamard matrix."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from craftmaps import SubsampledHadamard
from tests.comparison import TOLERANCE
from tests.loops.naive import subsampled_matrix


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.asarray, csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize(
    ("width", "n_components"),
    [
        (1, 1),
        (1, 3),
        (2, 1),
        (5, 5),
        (12, 4),
        (12, 40),
        (64, 64),
        (100, 1),
        (100, 7),
        (100, 33),
        (257, 64),
        (500, 300),
        (900, 600),
    ],
)
def test_equals_the_matrix(dtype, layout, width, n_components):
    X = np.random.default_rng(width).normal(size=(21, width)).astype(dtype)
    projection = SubsampledHadamard(n_components, random_state=width).fit(X)
    Z = projection.transform(layout(X))
    distance = np.linalg.norm(Z - X.astype(np.float64) @ subsampled_matrix(projection), axis=1)
    # Relative to the input: a projection to few components may be short by chance.
    assert (distance <= TOLERANCE[dtype] * np.linalg.norm(X, axis=1)).all()


def test_rows_of_the_projection_are_orthogonal(seed):
    projection = SubsampledHadamard(30, random_state=seed).fit(np.zeros((1, 128)))
    matrix = subsampled_matrix(projection)
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(30) * 128 / 30, atol=1e-12)


def test_wider_than_the_input_it_is_an_isometry_of_a_full_matrix(rows):
    Z = SubsampledHadamard(16, random_state=0).fit_transform(rows)
    np.testing.assert_allclose(Z @ Z.T, rows @ rows.T, rtol=0, atol=1e-14)
