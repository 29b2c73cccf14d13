"""The statistic gives scikit-learn's ridge regression, and adds up."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from craftmaps import NormalEquations

SUMS = ("n_rows", "weight", "cross", "feature_sums", "target_sums")


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(90, 14)) + 2.0  # a mean that an intercept must take up
    Y = Z[:, :3] @ rng.normal(size=(3, 3)) + rng.normal(size=(90, 3)) - 5.0
    return Z, Y, rng.random(90) * 3


def assert_same(one, two, rtol=1e-12):
    for name in SUMS:
        scale = np.abs(getattr(two, name)).max()
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=rtol, atol=rtol * scale)
    lower = np.tril_indices(one.gram.shape[0])
    np.testing.assert_allclose(one.gram[lower], two.gram[lower], rtol=rtol, atol=rtol * np.abs(two.gram).max())


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_ridge(data, alpha, fit_intercept, weighted):
    Z, Y, w = data
    w = w if weighted else None
    coef, intercept = NormalEquations.of(Z, Y, w).solve(alpha, fit_intercept=fit_intercept)
    ridge = Ridge(alpha, fit_intercept=fit_intercept, solver="svd").fit(Z, Y, w)
    np.testing.assert_allclose(coef, ridge.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(intercept, np.broadcast_to(ridge.intercept_, 3), rtol=1e-6, atol=1e-9)


def test_one_target_without_a_second_dimension(data):
    Z, Y, w = data
    coef, intercept = NormalEquations.of(Z, Y[:, 0], w).solve(0.5)
    assert coef.shape == (1, 14)
    np.testing.assert_allclose(coef[0], Ridge(0.5).fit(Z, Y[:, 0], w).coef_, rtol=1e-6)
    assert intercept.shape == (1,)


def test_integers_count_as_numbers():
    coef, intercept = NormalEquations.of([[1], [2], [4]], [3, 5, 9]).solve(0)
    np.testing.assert_allclose([coef[0, 0], intercept[0]], [2, 1], rtol=1e-12)


def test_the_penalty_leaves_the_intercept_alone(data):
    Z, Y, _ = data
    statistic = NormalEquations.of(Z, Y)
    _, intercept = statistic.solve(1e12 * statistic.scale())
    np.testing.assert_allclose(intercept, Y.mean(axis=0), rtol=1e-9)


def test_scale_is_the_mean_of_the_centred_diagonal(data):
    Z, Y, w = data
    mean = np.average(Z, axis=0, weights=w)
    expected = (w[:, None] * (Z - mean) ** 2).sum(axis=0).mean()
    np.testing.assert_allclose(NormalEquations.of(Z, Y, w).scale(), expected, rtol=1e-12)
    np.testing.assert_allclose(
        NormalEquations.of(Z, Y, w).scale(False), (w[:, None] * Z**2).sum(axis=0).mean(), rtol=1e-12
    )


def test_another_penalty(data):
    Z, Y, _ = data
    root = np.random.default_rng(1).normal(size=(14, 14))
    P = root @ root.T
    coef, intercept = NormalEquations.of(Z, Y).solve(0.3, penalty=P)
    Zc, Yc = Z - Z.mean(axis=0), Y - Y.mean(axis=0)
    expected = np.linalg.solve(Zc.T @ Zc + 0.3 * P, Zc.T @ Yc)
    np.testing.assert_allclose(coef.T, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(intercept, Y.mean(axis=0) - Z.mean(axis=0) @ expected, rtol=1e-9)


def test_sums_in_any_order_and_grouping(data):
    Z, Y, w = data
    a, b, c = (NormalEquations.of(Z[i::3], Y[i::3], w[i::3]) for i in range(3))
    whole = NormalEquations.of(Z, Y, w)
    for total in (a + b + c, a + (b + c), c + a + b, b + (c + a)):
        assert_same(total, whole)
    assert_same(whole + NormalEquations(14, 3), whole, rtol=1e-15)
    assert_same(whole + NormalEquations.of(Z[:0], Y[:0]), whole, rtol=1e-15)
    assert a.n_rows == 30  # + changes neither side


@pytest.mark.parametrize("packed", [False, True])
def test_differences_and_multiples(data, packed):
    Z, Y, w = data
    rtol = 2e-5 if packed else 1e-12
    a, b = (NormalEquations.of(Z[s], Y[s], w[s], packed) for s in (slice(60), slice(60, 90)))
    before = (a + b).gram.copy()
    whole = a + b
    assert_same(whole - b, a, rtol)
    assert_same(whole - a, b, rtol)
    np.testing.assert_array_equal(whole.gram, before)  # neither side changes
    half = 0.5 * whole
    halved = NormalEquations.of(Z, Y, w / 2, packed)
    assert_same(half, halved, rtol)
    assert_same(whole * 0.5, half, 0)
    with pytest.raises(ValueError, match="equally many features and targets"):
        _ = whole - NormalEquations(14, 2, packed)


def test_solving_leaves_the_statistic_as_it_is(data):
    Z, Y, w = data
    whole = NormalEquations.of(Z, Y, w)
    before = whole.gram.copy()
    path = whole.ridge_path()
    np.testing.assert_array_equal(path.solve(0.1).coef, whole.solve(0.1).coef)
    np.testing.assert_array_equal(whole.gram, before)


def test_rows_are_added_and_taken_away(data):
    Z, Y, w = data
    whole = NormalEquations.of(Z, Y, w)
    whole.add(Z[60:], Y[60:], w[60:], sign=-1.0)
    assert_same(whole, NormalEquations.of(Z[:60], Y[:60], w[:60]))


def test_moved_targets(data):
    Z, Y, w = data
    moved, places = NormalEquations.of(Z, Y, w), np.array([4, 0, 2])
    moved.spread_targets(places, 5)
    wide = np.zeros((90, 5))
    wide[:, places] = Y
    assert_same(moved, NormalEquations.of(Z, wide, w))
    moved.combine(NormalEquations.of(Z[:9], Y[:9], w[:9]), places=places)
    assert_same(moved, NormalEquations.of(np.r_[Z, Z[:9]], np.r_[wide, wide[:9]], np.r_[w, w[:9]]))


def test_single_precision_is_added_up_in_double(data):
    """After a large block, small ones would vanish from a sum in single precision."""
    Z, Y, _ = data
    Z = Z.astype(np.float32)
    small = NormalEquations.of(Z, Y)
    assert small.gram.dtype == small.cross.dtype == small.feature_sums.dtype == np.float64
    total = NormalEquations.of(Z * np.float32(1e5), Y)
    large = total.gram.copy()
    for _ in range(50):
        total.add(Z, Y)
    lower = np.tril_indices(14)
    np.testing.assert_allclose((total.gram - large)[lower], 50 * small.gram[lower], rtol=1e-4)
    coef, _ = small.solve(1.0)
    np.testing.assert_allclose(coef, Ridge(1.0).fit(Z.astype(np.float64), Y).coef_, rtol=1e-3, atol=1e-5)


def test_single_precision_features_keep_double_precision_targets(data):
    Z, Y, _ = data
    Z32 = Z.astype(np.float32)
    offset = NormalEquations.of(Z32, Y + 1e6).solve(1.0)
    expected = Ridge(1.0).fit(Z32.astype(np.float64), Y).coef_
    np.testing.assert_allclose(offset.coef, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())
