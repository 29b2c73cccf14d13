"""Huge and tiny rows are mapped as long as their kernel is a number, and else refused."""

import numpy as np
import pytest
from sklearn.base import clone

from craftmaps import (
    CovarianceMetric,
    CraftMap,
    LandmarkMap,
    Polynomial,
    RandomMaclaurin,
    SubsampledHadamard,
    TensorSketch,
)
from tests.comparison import assert_rows_close

MAPS = {
    "maclaurin": RandomMaclaurin(n_components=20, random_state=0),
    "rademacher": RandomMaclaurin(n_components=20, projection="rademacher", complex_weights=True, random_state=0),
    "craft": CraftMap(n_components=20, random_state=0),
    "tensorsketch": TensorSketch(n_components=20, random_state=0),
    "landmarks": LandmarkMap(n_components=20, random_state=0),
}
# Length of the rows, degree and precision.
THE_KERNEL_OVERFLOWS = [(1e40, 7, np.float64), (1e200, 2, np.float64), (1e15, 3, np.float32), (1e20, 2, np.float32)]
ITS_SQUARE_OVERFLOWS = [(1e50, 2, np.float64), (1e154, 1, np.float64)]
REFUSED = [
    (name, *case)
    for name in MAPS
    for case in THE_KERNEL_OVERFLOWS + (ITS_SQUARE_OVERFLOWS if name in ("maclaurin", "rademacher", "craft") else [])
    # These features are numbers still, though their inner products are not.
    if not (name == "tensorsketch" and case[1] == 7)
]


@pytest.mark.parametrize("name", MAPS)
def test_huge_rows_of_a_low_degree(rows, name):
    feature_map = clone(MAPS[name]).set_params(kernel=Polynomial(2, coef0=0.0))
    X = 2.0**100 * rows  # 2^100 is about 1e30, and scales without rounding
    Z = feature_map.fit(X).transform(X)
    assert_rows_close(Z, feature_map.transform(rows) * 2.0**200, 1e-12)


@pytest.mark.parametrize(("name", "length", "degree", "dtype"), REFUSED)
def test_rows_whose_kernel_overflows(rows, name, length, degree, dtype):
    feature_map = clone(MAPS[name]).set_params(kernel=Polynomial(degree))
    X = (length * rows).astype(dtype)
    with pytest.raises(ValueError, match=r"overflow.*scale the rows first"):
        feature_map.fit(X).transform(X)


@pytest.mark.parametrize("name", ["maclaurin", "rademacher", "craft"])
def test_refused_rows_leave_the_earlier_fit(rows, name):
    feature_map = clone(MAPS[name]).set_params(kernel=Polynomial(7)).fit(rows)
    expected = feature_map.transform(rows)
    with pytest.raises(ValueError, match="overflow"):
        feature_map.fit(1e40 * rows)
    np.testing.assert_array_equal(feature_map.transform(rows), expected)


@pytest.mark.parametrize("parameters", [{"degree": 2, "gamma": 1e200}, {"degree": 3, "coef0": 1e150}, {"degree": 2000}])
def test_kernels_that_overflow_by_themselves(rows, parameters):
    with pytest.raises(ValueError, match="overflow"):
        RandomMaclaurin(Polynomial(**parameters), 20).fit(rows)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("length", [1e-30, 1e-150, 1e-160, 1e-300])
def test_tiny_rows(rows, name, length):
    Z = clone(MAPS[name]).fit_transform(length * rows)
    # (0 + 1)^3: next to the constant the rows vanish, and every map of a constant is exact.
    np.testing.assert_allclose(Z @ Z.T, np.ones((60, 60)), rtol=1e-12)


@pytest.mark.parametrize("exponent", [-100, 60, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_metric_of_huge_and_tiny_rows(rows, exponent, dtype):
    X = np.ldexp(rows, exponent).astype(dtype)
    expected = CovarianceMetric().fit_transform(rows)
    assert_rows_close(CovarianceMetric().fit_transform(X), expected, {np.float32: 1e-5, np.float64: 1e-12}[dtype])


@pytest.mark.parametrize("exponent", [-100, 100, 900])
def test_a_projection_of_huge_and_tiny_rows(rows, exponent):
    projection = SubsampledHadamard(6, random_state=0).fit(rows)
    expected = np.ldexp(projection.transform(rows), exponent)
    np.testing.assert_array_equal(projection.transform(np.ldexp(rows, exponent)), expected)
