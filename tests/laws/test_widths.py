"""Every width works: fewer components than features, one, odd numbers; and every degree from 0."""

import numpy as np
import pytest
from sklearn.base import clone

from craftmaps import CovarianceMetric, CraftMap, LandmarkMap, Polynomial, RandomMaclaurin, TensorSketch
from tests.catalogue import MAPS
from tests.comparison import assert_rows_close


def check(feature_map, X, n_components):
    Z = feature_map.fit_transform(X)
    assert Z.shape == (len(X), n_components)
    assert np.isfinite(Z).all()
    assert Z.any(axis=1).all(), "a row of features is zero"
    np.testing.assert_array_equal(feature_map.transform(X), Z)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("n_components", [1, 2, 5, 11])
def test_fewer_components_than_features(rows, name, n_components):
    check(clone(MAPS[name]).set_params(n_components=n_components), rows, n_components)


@pytest.mark.parametrize("name", [name for name in MAPS if not name.startswith("metric")])
@pytest.mark.parametrize("width", [1, 2, 3, 7, 17])
@pytest.mark.parametrize("n_components", [3, 6, 31])
def test_odd_widths(name, width, n_components):
    X = np.random.default_rng(width).normal(size=(40, width))
    check(clone(MAPS[name]).set_params(n_components=n_components), X, n_components)


@pytest.mark.parametrize("width", [1, 2, 3, 7, 17])
def test_odd_widths_of_the_metric(width):
    X = np.random.default_rng(width).normal(size=(40, width))
    check(CovarianceMetric(), X, width)
    check(CovarianceMetric(n_components=1), X, 1)


@pytest.mark.parametrize("up_components", [1, 2, 3, 10, 33])
@pytest.mark.parametrize("up", ["maclaurin", "tensorsketch"])
@pytest.mark.parametrize("down", ["hadamard", "gaussian"])
def test_any_up_width(rows, up_components, up, down):
    n_components = min(10, up_components)
    check(CraftMap(n_components=n_components, up=up, up_components=up_components, down=down), rows, n_components)


def test_up_components_default_to_eight_times_the_components(rows):
    craft_map = CraftMap(n_components=7).fit(rows)
    assert craft_map.up_.n_components == 56
    assert craft_map.down_.n_features_in_ == 56 - craft_map.n_kept_


@pytest.mark.parametrize(
    "feature_map",
    [
        RandomMaclaurin(n_components=1),
        RandomMaclaurin(n_components=5, projection="rademacher", complex_weights=True),
        RandomMaclaurin(n_components=20, exact_low_degrees=False, degrees="proportional"),
        TensorSketch(n_components=5),
        CraftMap(n_components=7),
        LandmarkMap(n_components=3),
    ],
    ids=lambda feature_map: type(feature_map).__name__,
)
def test_degree_zero_is_the_constant_one(rows, seed, feature_map):
    feature_map = clone(feature_map).set_params(kernel=Polynomial(0, coef0=3.0), random_state=seed)
    Z = feature_map.fit_transform(rows)
    np.testing.assert_allclose(Z @ Z.T, np.ones((60, 60)), rtol=1e-12)


@pytest.mark.parametrize("n_components", [13, 14, 40])
@pytest.mark.parametrize("projection", ["hadamard", "rademacher"])
@pytest.mark.parametrize("complex_weights", [False, True])
def test_degree_one_is_exact_where_it_fits(rows, seed, n_components, projection, complex_weights):
    kernel = Polynomial(1, coef0=0.3, gamma=2.5)
    feature_map = RandomMaclaurin(
        kernel, n_components, projection=projection, complex_weights=complex_weights, random_state=seed
    )
    Z = feature_map.fit_transform(rows)
    assert feature_map.n_exact_ == 13
    assert_rows_close(Z @ Z.T, kernel(rows), 1e-12)


@pytest.mark.parametrize("kernel", [Polynomial(1, coef0=0.0), Polynomial(1), Polynomial(2)])
def test_as_many_landmarks_as_dimensions_are_exact(rows, seed, kernel):
    n_dimensions = {0.0: 12, 1.0: 13}[kernel.coef0] if kernel.degree == 1 else 60
    Z = LandmarkMap(kernel, n_dimensions, random_state=seed).fit_transform(rows)
    assert_rows_close(Z @ Z.T, kernel(rows), 1e-8)
