"""Kernels of unit rows equal their formulas, and their series equals them within the stated remainder."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.preprocessing import normalize

from craftmaps import (
    ArcCosine,
    CraftClassifier,
    CraftMap,
    Gaussian,
    LandmarkMap,
    Laplace,
    NeuralTangent,
    RandomMaclaurin,
    TensorSketch,
    export,
)
from craftmaps.plan import plan, predicted_error

CUT = [
    Laplace(),
    Laplace(0.3, 5),
    Laplace(4.0, 300),
    ArcCosine(),
    ArcCosine(1),
    ArcCosine(201),
    NeuralTangent(),
    NeuralTangent(2, 40),
    NeuralTangent(7, 1),
    NeuralTangent(3, 1000),
]
KERNELS = [Gaussian(), Gaussian(5.5), *CUT]


@pytest.fixture
def unit(rows):
    return normalize(rows - rows.mean(axis=0))


def hidden_layer(t, derivative):
    """Return 2 E[relu(u) relu(v)], or that of the derivatives, for unit normal u, v of correlation t."""

    def polar(angle):
        u, v = math.cos(angle), t * math.cos(angle) + math.sqrt(1 - t * t) * math.sin(angle)
        both = u > 0 and v > 0
        # The radius integrates to 1 for steps and to 2 for the products of two rectified numbers.
        return both / (2 * math.pi) if derivative else both * 2 * u * v / (2 * math.pi)

    corners = sorted({-math.pi / 2, math.pi / 2, math.atan2(-t, math.sqrt(1 - t * t))})
    return 2 * sum(integrate.quad(polar, a, b)[0] for a, b in itertools.pairwise(corners))


def network(t, depth):
    """Return the neural tangent kernel by its recursion over layers, with integrals in place of closed forms."""
    sigma = theta = t
    for _ in range(depth):
        sigma, slope = hidden_layer(sigma, False), hidden_layer(sigma, True)
        theta = sigma + theta * slope
    return theta / (depth + 1)


def test_gaussian_and_laplace_are_those_of_distances(unit):
    np.testing.assert_allclose(Gaussian(0.7)(unit), rbf_kernel(unit, gamma=0.7), rtol=1e-12)
    distances = euclidean_distances(unit, unit[:9].copy())
    np.fill_diagonal(distances, 0)
    np.testing.assert_allclose(Laplace(0.7)(unit, unit[:9]), np.exp(-0.7 * distances), rtol=1e-6)


@pytest.mark.parametrize("t", [-0.9, -0.3, 0.0, 0.4, 0.95])
def test_networks_are_integrals_over_their_units(t):
    assert ArcCosine().of_dot_products(np.array([t]))[0] == pytest.approx(hidden_layer(t, False), rel=1e-7)
    for depth in (1, 2, 3):
        value = NeuralTangent(depth).of_dot_products(np.array([t]))[0]
        assert value == pytest.approx(network(t, depth), rel=1e-7)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_they_are_1_where_rows_are_equal(kernel):
    assert kernel([[0.6, 0.8]])[0, 0] == pytest.approx(1, abs=1e-7)
    assert kernel([[1.0, 0.0]])[0, 0] == pytest.approx(1, rel=1e-15)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("radius", [0.5, 0.9, 1.0])
def test_the_series_is_within_the_remainder(kernel, radius):
    a, remainder = kernel.maclaurin_coefficients(), kernel.remainder(radius)
    assert a.min() >= 0
    assert a[-1] > 0
    t = np.linspace(-radius, radius, 501)
    missing = kernel.of_dot_products(t.copy()) - np.polynomial.polynomial.polyval(t, a)
    rounding = 1e-13
    assert np.abs(missing).max() <= remainder + rounding
    assert missing[-1] == pytest.approx(remainder, abs=rounding)  # the bound is attained
    if kernel in CUT:
        assert remainder <= radius ** (kernel.max_degree + 1) * kernel.remainder() + rounding


@pytest.mark.parametrize(
    "make", [lambda n: Laplace(1.5, n), lambda n: NeuralTangent(1, n)], ids=["Laplace", "NeuralTangent"]
)
def test_the_remainder_falls_with_the_root_of_the_degree(make):
    remainders = [make(n).remainder() for n in (60, 240, 960)]
    assert remainders[0] / remainders[1] == pytest.approx(2, rel=0.06)
    assert remainders[1] / remainders[2] == pytest.approx(2, rel=0.02)


def test_the_remainder_of_the_laplace_kernel_is_as_documented():
    assert Laplace(1.5, 1000).remainder() == pytest.approx(1.5 * math.sqrt(2 / (math.pi * 1000)), rel=0.01)


def test_coefficients_of_one_hidden_layer_follow_from_the_arc_cosine_kernel():
    a = ArcCosine(1000).maclaurin_coefficients()
    derivative = np.arange(a.size) * a  # t times the derivative
    np.testing.assert_allclose(NeuralTangent(1, 1000).maclaurin_coefficients(), (a + derivative) / 2, atol=1e-15)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_rows_and_both_precisions(unit, kernel, dtype):
    K, X = kernel(unit), unit.astype(dtype)
    for left, right in ((X, csr_matrix(X)), (csr_matrix(X), X), (X, X)):
        found = kernel(left, right)
        assert found.dtype == dtype
        off = ~np.eye(len(X), dtype=bool)
        # Where rows are equal the root of a rounding error shows.
        np.testing.assert_allclose(found[off], K[off], rtol=1e-4 if dtype == np.float32 else 1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_clones_and_parameters(kernel):
    again = clone(kernel)
    assert repr(again) == repr(kernel)
    assert again.get_params() == kernel.get_params()
    assert eval(repr(kernel)).get_params() == kernel.get_params()


@pytest.mark.parametrize("kernel", CUT, ids=str)
def test_rows_that_are_too_long_are_refused(unit, kernel):
    message = f"{type(kernel).__name__} is a kernel for rows of unit length, but dot products of rows reach 4:"
    with pytest.raises(ValueError, match=message):
        kernel(2 * unit)
    for feature_map in (RandomMaclaurin(kernel, 64), CraftMap(kernel, 64), LandmarkMap(kernel, 8)):
        with pytest.raises(ValueError, match="rows of unit length"):
            feature_map.fit(2 * unit)
    with pytest.raises(ValueError, match="rows of unit length"):
        LandmarkMap(kernel, 60).fit(unit).transform(-2 * unit)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_shorter_rows_get_the_function_of_their_dot_products(unit, kernel):
    short = np.vstack([0.5 * unit, np.zeros_like(unit[:1])])
    expected = kernel.of_dot_products(short @ short.T)
    np.testing.assert_allclose(kernel(short), expected, rtol=1e-12)
    assert np.linalg.eigvalsh(expected).min() > -1e-10


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), ArcCosine(), NeuralTangent(2)], ids=str)
def test_landmarks_are_exact_and_predictions_know_the_remainder(unit, kernel):
    landmarks = LandmarkMap(kernel, 60, random_state=0).fit(unit)
    Z = landmarks.transform(unit)
    np.testing.assert_allclose(Z @ Z.T, kernel(unit), atol=1e-8)
    wide = RandomMaclaurin(kernel, 2**14, random_state=0).fit(unit)
    # On the diagonal the whole remainder is missing.
    missing = kernel.remainder() * math.sqrt(len(unit)) / np.linalg.norm(kernel(unit))
    assert predicted_error(wide, unit) >= missing


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(1.0, 8), NeuralTangent(2, 8)], ids=str)
def test_plan_compares_maps_of_them(kernel):
    choices = plan(normalize(load_digits().data[:600] - 5), kernel, target_error=0.3)
    assert choices[0].predicted_error <= 0.3
    assert {type(choice.feature_map).__name__ for choice in choices} == {"CraftMap", "RandomMaclaurin", "LandmarkMap"}


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), ArcCosine(), NeuralTangent(2)], ids=str)
def test_landmarks_with_them_are_not_exported(unit, tmp_path, kernel):
    model = CraftClassifier(kernel, 16, metric=None, feature_map="landmarks").fit(unit, np.arange(len(unit)) % 2)
    for write in (export.page, export.c_header):
        with pytest.raises(TypeError, match=f"^Landmarks with the kernel {type(kernel).__name__}.* cannot be exported"):
            write(model, tmp_path / "model")


def test_tensor_sketch_refuses_them(unit):
    with pytest.raises(TypeError, match="kernel must be a Polynomial for TensorSketch, got Laplace"):
        TensorSketch(Laplace()).fit(unit)


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), ArcCosine(), NeuralTangent(2)], ids=str)
@pytest.mark.parametrize("metric", [None, "auto"])
def test_a_learner_makes_rows_of_unit_length(kernel, metric):
    rng = np.random.default_rng(0)
    X = 30 * rng.normal(size=(300, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = CraftClassifier(kernel, 128, metric=metric, random_state=0).fit(X[:200], y[:200])
    assert model.choices_.normalize is True
    assert model.score(X[200:], y[200:]) > 0.7
