"""Hadamard Maclaurin features equal the products that were drawn, column by column."""

import numpy as np
import pytest

from craftmaps import Exponential, MaclaurinSeries, Polynomial, RandomMaclaurin
from craftmaps._loops import LOOK_AHEAD
from tests.comparison import TOLERANCE, assert_rows_close
from tests.loops.naive import maclaurin_features

PRECISIONS = pytest.mark.parametrize("dtype", [np.float32, np.float64])
WEIGHTS = pytest.mark.parametrize("complex_weights", [False, True], ids=["real", "complex"])


def check(feature_map, X, dtype):
    feature_map.fit(X)
    assert_rows_close(
        feature_map.transform(X.astype(dtype)), maclaurin_features(feature_map, X.astype(dtype)), TOLERANCE[dtype]
    )
    return feature_map


@PRECISIONS
@WEIGHTS
@pytest.mark.parametrize("kernel", [Polynomial(1), Polynomial(2, coef0=0.0), Polynomial(7), Exponential(3.0)])
@pytest.mark.parametrize("n_components", [3, 33, 200])
@pytest.mark.parametrize("projection", ["hadamard", "stratified"])
def test_equals_the_twin(rows, dtype, complex_weights, kernel, n_components, projection):
    feature_map = RandomMaclaurin(
        kernel, n_components, projection=projection, complex_weights=complex_weights, random_state=n_components
    )
    check(feature_map, rows, dtype)


@PRECISIONS
@WEIGHTS
@pytest.mark.parametrize("degree", range(1, 14))
def test_every_number_of_factors(rows, dtype, complex_weights, degree):
    kernel = MaclaurinSeries([0.0] * degree + [1.0])
    check(RandomMaclaurin(kernel, 90, complex_weights=complex_weights, random_state=6), rows, dtype)


@PRECISIONS
@WEIGHTS
def test_degrees_that_share_a_group(rows, dtype, complex_weights):
    kernel = MaclaurinSeries([0.2, 0, 1, 0.4, 0, 0.3])
    feature_map = RandomMaclaurin(
        kernel, 41, degrees="proportional", complex_weights=complex_weights, exact_low_degrees=False, random_state=1
    )
    check(feature_map, rows, dtype)
    draw = feature_map._drawn
    assert len(set(draw.used[: draw.first_factor[1]])) >= 3, "the first group should mix degrees"


@PRECISIONS
@WEIGHTS
def test_exact_columns(rows, dtype, complex_weights):
    feature_map = RandomMaclaurin(Polynomial(3, coef0=2.0), 50, complex_weights=complex_weights, random_state=2)
    feature_map.set_params(exact_low_degrees=True)
    check(feature_map, rows, dtype)
    assert (feature_map._drawn.n_linear, feature_map._drawn.n_constant) == (12, 1)
    K = Polynomial(1, coef0=8 / 12, gamma=1.0)(rows) * 12  # 8 + 12 x.y, the low terms of (x.y + 2)^3
    exact = feature_map.transform(rows.astype(dtype))[:, -13:].astype(np.float64)
    np.testing.assert_allclose(exact @ exact.T, K, rtol=TOLERANCE[dtype])


@PRECISIONS
@WEIGHTS
@pytest.mark.parametrize("projection", ["hadamard", "stratified", "rademacher"])
@pytest.mark.parametrize("kernel", [Polynomial(2, coef0=0.0), Polynomial(4, coef0=2.0), MaclaurinSeries([0, 1, 3])])
def test_exact_quadratic_columns(rows, dtype, complex_weights, projection, kernel):
    feature_map = RandomMaclaurin(
        kernel,
        130,
        projection=projection,
        complex_weights=complex_weights,
        exact_low_degrees="quadratic",
        random_state=2,
    )
    if projection == "rademacher":  # has no loop
        feature_map.fit(rows)
    else:
        check(feature_map, rows, dtype)
    a = kernel.maclaurin_coefficients()
    assert feature_map.n_exact_ == (a[0] > 0) + 12 * (a[1] > 0) + 78
    exact = feature_map.transform(rows.astype(dtype))[:, -feature_map.n_exact_ :].astype(np.float64)
    low = np.polynomial.polynomial.polyval(rows @ rows.T, a[:3])
    np.testing.assert_allclose(exact @ exact.T, low, rtol=10 * TOLERANCE[dtype], atol=10 * TOLERANCE[dtype])


@PRECISIONS
@WEIGHTS
def test_more_loose_columns_than_a_block_has_rows(rows, dtype, complex_weights):
    feature_map = RandomMaclaurin(
        Polynomial(3),
        120,
        degrees="geometric",
        exact_low_degrees=False,
        complex_weights=complex_weights,
        random_state=3,
    )
    check(feature_map, rows, dtype)
    n_loose = feature_map._drawn.n_loose
    assert n_loose > 2 * 16, "loose columns should need more than two pieces"
    assert n_loose > feature_map.degree_counts_[0] > 0, "there should be constants and unused columns"


@pytest.mark.parametrize("width", [1, 2, 3, 8, 9, 100])
@WEIGHTS
def test_every_input_width(width, complex_weights):
    X = np.random.default_rng(width).normal(size=(19, width))
    check(RandomMaclaurin(n_components=70, complex_weights=complex_weights, random_state=4), X, np.float64)


@WEIGHTS
@pytest.mark.parametrize("projection", ["hadamard", "stratified"])
def test_a_block_is_never_shared_by_two_factors(rows, complex_weights, projection):
    feature_map = RandomMaclaurin(
        Polynomial(5), 300, projection=projection, complex_weights=complex_weights, random_state=5
    ).fit(rows)
    draw = feature_map._drawn
    signs, n_factors = draw.signs, np.diff(draw.first_factor)
    assert draw.first_factor[-1] == len(draw.used)
    permutations = draw.rows[: len(draw.used)] // 8 % 16
    assert len(signs) == (draw.first_block + n_factors).max() == (5 if projection == "hadamard" else n_factors.sum())
    for permutation in permutations:
        assert sorted(permutation) == list(range(16))
    assert len(np.unique(permutations, axis=0)) == len(permutations)
    assert len(np.unique(signs.reshape(-1, 16), axis=0)) == signs.shape[0] * signs.shape[1]


@pytest.mark.parametrize("width", [1, 3, 16])
def test_the_draw_reaches_as_far_as_the_loops_look_ahead(width):
    feature_map = RandomMaclaurin(Polynomial(3), 50, random_state=0).fit(np.ones((2, width)))
    draw = feature_map._drawn
    assert draw.rows[len(draw.used) :].size >= LOOK_AHEAD
