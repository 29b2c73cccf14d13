"""A regressor is a ridge regression on its features."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from tests.learner.examples import curve, regressor

X, Y = curve(400)
TRAIN, TEST = slice(0, 300), slice(300, 400)
TARGETS = {"one": Y, "one column": Y[:, None], "several": np.c_[Y, X[:, 0] ** 2, X[:, 1] - 3.0]}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_ridge_on_the_features(name, fit_intercept, weighted):
    y = TARGETS[name]
    weight = np.random.default_rng(0).random(300) if weighted else None
    model = regressor(fit_intercept=fit_intercept).fit(X[TRAIN], y[TRAIN], weight)
    ridge = Ridge(model.alpha_, fit_intercept=fit_intercept).fit(model.features_(X[TRAIN]), y[TRAIN], weight)
    coef = ridge.coef_.reshape(model.coef_.shape)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-6, atol=1e-6 * np.abs(coef).max())
    np.testing.assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-6, atol=1e-9)
    expected = ridge.predict(model.features_(X[TEST])).reshape(y[TEST].shape)
    np.testing.assert_allclose(model.predict(X[TEST]), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shapes_follow_the_targets(name, dtype):
    y = TARGETS[name]
    model = regressor().fit(X.astype(dtype), y)
    predicted = model.predict(X[TEST].astype(dtype))
    assert predicted.shape == y[TEST].shape
    assert predicted.dtype == np.float64  # of single precision too few digits may be left beside the mean
    assert model.coef_.shape == (*y.shape[1:], 32)
    assert np.shape(model.intercept_) == y.shape[1:]


def test_the_unit_of_a_target_does_not_matter_to_the_others():
    rows = np.random.default_rng(0).normal(size=(600, 4))
    y = np.c_[rows[:, 0] * rows[:, 3], rows[:, 1]] + 0.1 * np.random.default_rng(1).normal(size=(600, 2))
    units = np.array([1.0, 1024.0])  # a power of two, so that not even rounding differs
    # Which rows a fold has depends on the targets too, so that penalties must be clearly better or worse.
    auto = {"kernel": "auto", "metric": "auto", "n_components": 128, "alphas": [1e-3, 10.0]}
    one, other = (regressor(**auto).fit(rows[:400], y[:400] * unit) for unit in (1.0, units))
    assert one.score(rows[400:], y[400:]) > 0.9
    np.testing.assert_allclose(other.predict(rows) / units, one.predict(rows), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.alpha_, one.alpha_)


def test_targets_whose_squares_are_no_numbers_are_refused_with_their_block():
    good = (X[:50], Y[:50])
    model = regressor(metric="covariance")
    with pytest.raises(ValueError, match=r"Block 1 .*y must have squares that add up to a number, got up to 1e\+160"):
        model.fit_stream([good, (X[50:100], np.where(np.arange(50) == 7, 1e160, Y[50:100])), good])
    assert model.finish().n_rows_seen_ == 50


def test_single_precision_predicts_targets_that_single_precision_cannot_hold():
    rows, y = X.astype(np.float32), Y + 1.7e9
    model = regressor().fit(rows, y)
    assert abs(model.score(rows, y) - model.score(rows.astype(np.float64), y)) < 1e-3
    assert model.score(rows, y) > 0.3


def test_several_targets_share_alpha_only():
    y = TARGETS["several"]
    together = regressor(alphas=1e-3, cv=None).fit(X, y)
    for i in range(3):
        alone = regressor(alphas=1e-3, cv=None).fit(X, y[:, i])
        np.testing.assert_allclose(together.predict(X)[:, i], alone.predict(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("settings", [{"normalize": False}, {"kernel": "auto", "metric": "auto"}], ids=str)
def test_a_nonlinear_function(settings):
    model = regressor(n_components=64, **settings).fit(X[TRAIN], Y[TRAIN])
    linear = regressor(feature_map=None, normalize=False).fit(X[TRAIN], Y[TRAIN])
    assert linear.score(X[TEST], Y[TEST]) < 0.2
    assert model.score(X[TEST], Y[TEST]) > 0.8


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6])
def test_single_precision_rows_and_targets_far_from_zero(offset):
    """Targets such as years or prices: what is subtracted by the intercept must not cost precision."""
    rows = X.astype(np.float32)
    single = regressor(normalize=False).fit(rows, Y + offset)
    double = regressor(normalize=False).fit(rows.astype(np.float64), Y + offset)
    np.testing.assert_allclose(single.alpha_, double.alpha_, rtol=1e-4)
    # Predicted in double precision, so that only what was learned is compared.
    np.testing.assert_allclose(single.predict(X) - offset, double.predict(X) - offset, atol=1e-3 * Y.std())


def test_targets_of_integers_and_lists():
    y = np.round(Y).astype(int)
    expected = regressor().fit(X, y.astype(float)).predict(X)
    np.testing.assert_array_equal(regressor().fit(X, y).predict(X), expected)
    np.testing.assert_array_equal(regressor().fit(X.tolist(), y.tolist()).predict(X), expected)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_targets_that_are_not_finite(value):
    y = Y.copy()
    y[5] = value
    with pytest.raises(ValueError, match=r"(?i)y (must be finite|contains)"):
        regressor().fit(X, y)
