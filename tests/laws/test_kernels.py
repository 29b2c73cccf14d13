"""Kernels equal their formulas, and their coefficients sum to them."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from craftmaps import Exponential, MaclaurinSeries, Polynomial
from craftmaps.kernels import whole_power

FORMULAS = [
    (Polynomial(), lambda t: (t + 1) ** 3),
    (Polynomial(0, coef0=5.0), lambda t: t**0),
    (Polynomial(1, coef0=0.0), lambda t: t),
    (Polynomial(7, coef0=0.25, gamma=1.5), lambda t: (1.5 * t + 0.25) ** 7),
    (Polynomial(np.int64(2), coef0=np.float32(2), gamma=3), lambda t: (3 * t + 2) ** 2),
    (Exponential(), np.exp),
    (Exponential(gamma=3.5), lambda t: np.exp(3.5 * t)),
    (MaclaurinSeries([0.5, 0, 2, 0.25]), lambda t: 0.5 + 2 * t**2 + 0.25 * t**3),
    (MaclaurinSeries((0, 0, 1, 0, 0)), lambda t: t**2),
]
WITH_FORMULA = pytest.mark.parametrize(("kernel", "formula"), FORMULAS, ids=[str(kernel) for kernel, _ in FORMULAS])


@pytest.fixture
def signed_rows(rows):
    return rows * np.where(np.arange(60) % 3 == 0, -1.0, 1.0)[:, None]


@WITH_FORMULA
def test_the_matrix_is_the_formula(rows, signed_rows, kernel, formula):
    before = signed_rows.copy()
    np.testing.assert_allclose(kernel(signed_rows), formula(signed_rows @ signed_rows.T), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(kernel(signed_rows, rows[:7]), formula(signed_rows @ rows[:7].T), rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(signed_rows, before)


@WITH_FORMULA
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_rows_and_both_precisions(rows, kernel, formula, dtype):
    X, tolerance = rows.astype(dtype), {np.float32: 1e-5, np.float64: 1e-13}[dtype]
    for left, right in ((X, csr_matrix(X)), (csr_matrix(X), X), (csr_matrix(X), csr_matrix(X)), (X, X)):
        K = kernel(left, right)
        assert isinstance(K, np.ndarray)
        assert K.dtype == dtype
        np.testing.assert_allclose(K, formula(rows @ rows.T), rtol=tolerance)


@WITH_FORMULA
@pytest.mark.parametrize("radius", [0.1, 1.0, 4.0])
def test_coefficients_sum_to_the_function(kernel, formula, radius):
    t = np.linspace(-radius, radius, 21)
    series = np.polynomial.polynomial.polyval(t, kernel.maclaurin_coefficients(radius=radius))
    np.testing.assert_allclose(series, formula(t), rtol=0, atol=1e-14 * formula(radius))


def test_coefficients():
    np.testing.assert_array_equal(Polynomial(3, coef0=2.0, gamma=0.5).maclaurin_coefficients(), [8, 6, 1.5, 0.125])
    np.testing.assert_array_equal(Polynomial(2, coef0=0.0).maclaurin_coefficients(), [0, 0, 1])
    np.testing.assert_array_equal(Polynomial(0).maclaurin_coefficients(), [1])
    np.testing.assert_array_equal(MaclaurinSeries([0, 1, 0.5, 0]).maclaurin_coefficients(), [0, 1, 0.5])
    np.testing.assert_allclose(Exponential(2.0).maclaurin_coefficients()[:5], [1, 2, 2, 4 / 3, 2 / 3], rtol=1e-15)


@pytest.mark.parametrize("t", [20, 80, 90, 100, 300])
def test_a_steep_exponential_has_its_whole_series(t):
    assert math.fsum(Exponential(t).maclaurin_coefficients()) == pytest.approx(math.exp(t), rel=1e-13)
    radius = 0.5  # of a kernel twice as steep
    a = Exponential(2 * t).maclaurin_coefficients(radius=radius)
    assert math.fsum(a * radius ** np.arange(a.size)) == pytest.approx(math.exp(t), rel=1e-13)


def test_the_series_of_an_exponential_ends_where_the_rest_is_rounding_error():
    n_short, n_long = (Exponential().maclaurin_coefficients(radius=radius).size for radius in (0.1, 10.0))
    assert n_short < 15 < n_long < 60


@pytest.mark.parametrize("kernel", [kernel for kernel, _ in FORMULAS], ids=str)
def test_a_clone_is_the_same_kernel(rows, kernel):
    copy = clone(kernel)
    assert copy is not kernel
    assert copy.get_params() == kernel.get_params()
    np.testing.assert_array_equal(copy(rows), kernel(rows))


@pytest.mark.parametrize(("kernel", "n_degrees"), [(Polynomial(4), 5), (MaclaurinSeries([1, 2, 0]), 2)], ids=str)
def test_number_of_degrees(kernel, n_degrees):
    assert kernel.n_degrees == kernel.maclaurin_coefficients().size == n_degrees
    assert Exponential().n_degrees is None


def test_a_series_is_an_ordinary_estimator():
    given = [0.0, 1.0]
    kernel = MaclaurinSeries(given)
    assert kernel.coefficients is given
    assert vars(kernel) == {"coefficients": given}
    assert {"get_params", "set_params"}.isdisjoint(vars(MaclaurinSeries))


def test_parameters_of_a_series_can_be_set(rows):
    kernel = MaclaurinSeries([1.0]).set_params(coefficients=[0.0, 2.0])
    assert kernel.get_params() == {"coefficients": [0.0, 2.0]}
    np.testing.assert_allclose(kernel(rows), 2 * rows @ rows.T, rtol=1e-14)
    assert "0.0, 2.0" in repr(kernel)


@pytest.mark.parametrize("exponent", range(20))
def test_whole_power(exponent):
    t = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(whole_power(t.copy(), exponent), t**exponent, rtol=1e-14)
