"""Landmarks against the Nystrom formula and scikit-learn; the metric against its PCA."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import normalize

from craftmaps import CovarianceMetric, LandmarkMap, NormalEquations, Polynomial, datasets

KERNEL = Polynomial(degree=3, coef0=1.0)


@pytest.fixture(scope="module")
def digits():
    return normalize(datasets.load("digits").X_train[:600])


def test_whitened_landmarks_are_the_nystrom_approximation(digits):
    landmark_map = LandmarkMap(KERNEL, 50, random_state=0).fit(digits)
    Z, L = landmark_map.transform(digits), landmark_map.landmarks_
    nystrom = KERNEL(digits, L) @ np.linalg.solve(KERNEL(L), KERNEL(L, digits))
    np.testing.assert_allclose(Z @ Z.T, nystrom, rtol=1e-8)


def test_landmarks_are_those_of_scikit_learn_if_it_gets_the_same(digits):
    landmark_map = LandmarkMap(KERNEL, 50, random_state=0).fit(digits)
    theirs = Nystroem(kernel="poly", degree=3, coef0=1.0, gamma=1.0, n_components=50).fit(landmark_map.landmarks_)
    Z, W = landmark_map.transform(digits), theirs.transform(digits)
    np.testing.assert_allclose(Z @ Z.T, W @ W.T, rtol=1e-7)


def test_without_whitening_the_penalty_makes_up_for_it(digits):
    plain = LandmarkMap(KERNEL, 50, whiten=False, random_state=0).fit(digits)
    white = LandmarkMap(KERNEL, 50, random_state=0).fit(digits)
    Z, W = plain.transform(digits), white.transform(digits)
    np.testing.assert_allclose(Z @ np.linalg.solve(plain.penalty_, Z.T), W @ W.T, rtol=1e-7)
    np.testing.assert_array_equal(plain.landmarks_, white.landmarks_)
    np.testing.assert_array_equal(white.penalty_, np.eye(50))


def test_the_penalty_of_a_ridge_solver(digits):
    """Ridge regression on raw kernel values with the penalty is ridge regression on whitened ones."""
    plain, white = (LandmarkMap(KERNEL, 50, whiten=whiten, random_state=0).fit(digits) for whiten in (False, True))
    assert white._penalty() is None
    targets = np.random.default_rng(0).normal(size=(600, 2))
    raw = NormalEquations.of(plain.transform(digits), targets).solve(0.1, penalty=plain._penalty())
    whitened = NormalEquations.of(white.transform(digits), targets).solve(0.1)
    outputs = plain.transform(digits) @ raw.coef.T + raw.intercept
    np.testing.assert_allclose(outputs, white.transform(digits) @ whitened.coef.T + whitened.intercept, atol=1e-6)


@pytest.mark.parametrize("exponent", [-515, -300, 0, 300])
def test_landmarks_of_kernel_values_near_the_ends_of_the_range(digits, exponent):
    """The linear kernel scales with the square of the rows, so the features scale with the rows."""
    kernel, X = Polynomial(1, coef0=0.0), np.ldexp(digits, exponent)
    expected = LandmarkMap(kernel, 20, random_state=0).fit(digits)
    tiny_or_huge = LandmarkMap(kernel, 20, random_state=0)
    tiny_or_huge._restore(64, expected._state()._replace(landmarks_=np.ldexp(expected.landmarks_, exponent)))
    tiny_or_huge._draw()
    Z = np.ldexp(tiny_or_huge.transform(X), -exponent)
    np.testing.assert_allclose(Z, expected.transform(digits), atol=1e-6 if exponent == -515 else 1e-12)


def test_a_singular_matrix_of_the_smallest_kernel_values_is_factored():
    """Rounding errors of these values are below the smallest float, so they cannot be added to the diagonal."""
    X = np.ldexp(np.random.default_rng(0).normal(size=(100, 10)), -519)
    kernel = Polynomial(1, coef0=0.0)
    Z = np.ldexp(LandmarkMap(kernel, 20, random_state=0).fit_transform(X), 519)
    np.testing.assert_allclose(Z @ Z.T, kernel(np.ldexp(X, 519)), atol=1e-2)


def test_kernel_values_too_small_for_single_precision_are_refused(digits):
    X = (1e-15 * digits).astype(np.float32)
    with pytest.raises(ValueError, match="kernel values of the landmarks are too small for float32: scale the rows"):
        LandmarkMap(Polynomial(6, coef0=0.0), 20, random_state=0).fit(X)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, -1.0])
def test_axes_are_principal_axes_scaled_by_a_power_of_their_variance(digits, power):
    metric = CovarianceMetric(power, 10, normalize=False).fit(digits)
    pca = PCA(10, svd_solver="full").fit(digits)
    np.testing.assert_allclose(
        metric.eigenvalues_, pca.explained_variance_ * (len(digits) - 1) / len(digits), rtol=1e-10
    )
    scaled = pca.transform(digits) * (pca.explained_variance_ / pca.explained_variance_[0]) ** (power / 2)
    np.testing.assert_allclose(np.abs(metric.transform(digits)), np.abs(scaled), atol=1e-10)


def test_normalised_rows_have_unit_length_and_zero_rows_stay(digits):
    metric = CovarianceMetric(center=False).fit(digits)
    rows = np.vstack([digits[:5], np.zeros((1, digits.shape[1]))])
    np.testing.assert_allclose(np.linalg.norm(metric.transform(rows), axis=1), [1, 1, 1, 1, 1, 0])


def test_without_centring_second_moments_count(digits):
    metric = CovarianceMetric(0.0, 3, center=False, normalize=False).fit(digits)
    np.testing.assert_allclose(
        metric.eigenvalues_, np.linalg.eigvalsh(digits.T @ digits / len(digits))[::-1][:3], rtol=1e-10
    )
