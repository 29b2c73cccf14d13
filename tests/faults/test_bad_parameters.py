"""A parameter that cannot work is refused by name, with the value received."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler

from craftmaps import (
    ArcCosine,
    CovarianceMetric,
    CraftMap,
    Exponential,
    Gaussian,
    LandmarkMap,
    Laplace,
    MaclaurinSeries,
    NeuralTangent,
    Polynomial,
    RandomMaclaurin,
    SubsampledHadamard,
    TensorSketch,
)
from tests.catalogue import MAPS, SEEDED

WITH_KERNEL = (RandomMaclaurin, TensorSketch, CraftMap, LandmarkMap)

BAD_KERNELS = {
    "degree below zero": (lambda: Polynomial(degree=-1), "degree must be an integer of at least 0, got -1"),
    "fractional degree": (lambda: Polynomial(degree=2.5), "degree must be an integer of at least 0, got 2.5"),
    "degree True": (lambda: Polynomial(degree=True), "degree must be an integer of at least 0, got True"),
    "degree of text": (lambda: Polynomial(degree="3"), "degree must be an integer of at least 0, got '3'"),
    "coef0 below zero": (lambda: Polynomial(coef0=-1), "coef0 must be a finite number of at least 0, got -1"),
    "coef0 NaN": (lambda: Polynomial(coef0=np.nan), "coef0 must be a finite number of at least 0, got nan"),
    "coef0 of text": (lambda: Polynomial(coef0="1"), "coef0 must be a finite number of at least 0, got '1'"),
    "gamma zero": (lambda: Polynomial(gamma=0), "gamma must be a finite number of more than 0, got 0"),
    "gamma infinite": (lambda: Polynomial(gamma=np.inf), "gamma must be a finite number of more than 0, got inf"),
    "gamma None": (lambda: Polynomial(gamma=None), "gamma must be a finite number of more than 0, got None"),
    "exponential gamma zero": (lambda: Exponential(gamma=0.0), "gamma must be a finite .* more than 0, got 0.0"),
    "exponential gamma below zero": (lambda: Exponential(-2), "gamma must be a finite .* more than 0, got -2"),
    "exponential too steep": (
        lambda: Exponential(1e3).maclaurin_coefficients(),
        r"gamma \* \|x\|\^2 .* 300 .*, got 1e\+03",
    ),
    "gaussian gamma": (lambda: Gaussian(0), "gamma must be a finite number of more than 0, got 0"),
    "gaussian too steep": (lambda: Gaussian(151).maclaurin_coefficients(), "gamma must be at most 150 .*, got 151"),
    "laplace gamma": (lambda: Laplace(-1.0), "gamma must be a finite number of more than 0, got -1.0"),
    "laplace too steep": (lambda: Laplace(401).maclaurin_coefficients(), "gamma must be at most 400 .*, got 401"),
    "laplace degree": (lambda: Laplace(max_degree=0), "max_degree must be an integer from 1 to 1000, got 0"),
    "arc-cosine degree": (lambda: ArcCosine(2.0), "max_degree must be an integer from 1 to 1000, got 2.0"),
    "depth": (lambda: NeuralTangent(51), "depth must be an integer from 1 to 50, got 51"),
    "depth True": (lambda: NeuralTangent(True), "depth must be an integer from 1 to 50, got True"),
    "no coefficients": (lambda: MaclaurinSeries([]), r"coefficients must be a sequence of numbers, got \[\]"),
    "a table": (lambda: MaclaurinSeries([[1.0]]), r"coefficients must be a sequence of numbers, got \[\[1.0\]\]"),
    "coefficients None": (lambda: MaclaurinSeries(None), "coefficients must be a sequence of numbers, got None"),
    "coefficients of text": (lambda: MaclaurinSeries("abc"), "coefficients must be a sequence .*, got 'abc'"),
    "negative coefficient": (lambda: MaclaurinSeries([1, -2]), r"coefficients .* none negative .*, got \[1, -2\]"),
    "zero coefficients": (lambda: MaclaurinSeries([0, 0]), r"coefficients .* one positive, got \[0, 0\]"),
    "NaN coefficient": (lambda: MaclaurinSeries([1, np.nan]), r"coefficients must be finite.*, got \[1, nan\]"),
}


@pytest.mark.parametrize("case", BAD_KERNELS)
def test_kernels(case):
    make, message = BAD_KERNELS[case]
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("family", WITH_KERNEL)
@pytest.mark.parametrize("kernel", ["poly", None, StandardScaler(), Polynomial], ids=repr)
def test_a_kernel_of_a_wrong_type(rows, family, kernel):
    with pytest.raises(TypeError, match=f"kernel must be a Polynomial, .*, got {type(kernel).__name__} "):
        family(kernel, 20).fit(rows)


@pytest.mark.parametrize("family", WITH_KERNEL)
def test_a_kernel_that_was_spoilt_later(rows, family):
    with pytest.raises(ValueError, match="degree must be an integer of at least 0, got -3"):
        family(Polynomial(), 20).set_params(kernel__degree=-3).fit(rows)


@pytest.mark.parametrize("kernel", [Exponential(), MaclaurinSeries([1.0, 1.0])])
def test_tensor_sketch_of_another_kernel(rows, kernel):
    with pytest.raises(TypeError, match=f"kernel must be a Polynomial for TensorSketch, got {type(kernel).__name__}"):
        TensorSketch(kernel).fit(rows)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (0, ValueError, "n_components == 0, must be >= 1"),
        (-1, ValueError, "n_components == -1, must be >= 1"),
        (2.5, TypeError, "n_components must be an instance of int.*, not float"),
        ("a", TypeError, "n_components must be an instance of int.*, not str"),
    ],
)
def test_n_components(rows, name, value, error, message):
    feature_map = clone(MAPS[name])
    with pytest.raises(error, match=message):
        feature_map.set_params(n_components=value).fit(rows)
    assert feature_map.set_params(n_components=3).fit_transform(rows).shape == (60, 3)


CHOICES = {
    "projection": (RandomMaclaurin(projection="gaussian"), "projection must be .*'rademacher', got 'gaussian'"),
    "projection of another type": (RandomMaclaurin(projection=3), "projection must be one of 'hadamard'.*, got 3"),
    "degrees": (RandomMaclaurin(degrees="uniform"), "degrees must be one of 'optimal'.*, got 'uniform'"),
    "exact_low_degrees": (RandomMaclaurin(exact_low_degrees="no"), "exact_low_degrees must be .*, got 'no'"),
    "complex_weights": (RandomMaclaurin(complex_weights=2), "complex_weights must be one of True, False, got 2"),
    "up": (CraftMap(up="rademacher"), "up must be 'maclaurin', 'tensorsketch' or a transformer, got 'rademacher'"),
    "up of no transformer": (CraftMap(up=LinearRegression()), "up must be .*, got LinearRegression()"),
    "up_components": (CraftMap(up_components=0), "up_components == 0, must be >= 1"),
    "up_components by name": (
        CraftMap(up_components="wide"),
        "up_components must be an int, 'auto' or None, got 'wide'",
    ),
    "down": (CraftMap(down="fourier"), "down must be 'hadamard', 'gaussian', .*, got 'fourier'"),
    "down of another kind": (CraftMap(down=StandardScaler()), r"down must be .*, got StandardScaler\(\)"),
    "whiten": (LandmarkMap(whiten="yes"), "whiten must be one of True, False, got 'yes'"),
    "center": (CovarianceMetric(center=None), "center must be one of True, False, got None"),
    "normalize": (CovarianceMetric(normalize=1), "normalize must be one of True, False, got 1"),
    "power": (CovarianceMetric(power=np.nan), "power must be a finite number, got nan"),
    "more axes than features": (CovarianceMetric(n_components=13), "n_components == 13, must be <= 12"),
}


@pytest.mark.parametrize("case", CHOICES)
def test_choices(rows, case):
    estimator, message = CHOICES[case]
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(rows)


@pytest.mark.parametrize("estimator", [CovarianceMetric(power="a"), CraftMap(up_components=2.5)])
def test_numbers_of_a_wrong_type(rows, estimator):
    name = "power" if isinstance(estimator, CovarianceMetric) else "up_components"
    with pytest.raises(TypeError, match=f"{name} must be an instance of"):
        estimator.fit(rows)


@pytest.mark.parametrize("complex_weights", [False, True])
@pytest.mark.parametrize("kernel", [Polynomial(3), Polynomial(1), Polynomial(1, coef0=0.0), Exponential()], ids=str)
def test_too_few_columns_for_exact_quadratic_columns(rows, kernel, complex_weights):
    feature_map = RandomMaclaurin(kernel, 5, exact_low_degrees="quadratic", complex_weights=complex_weights)
    with pytest.raises(ValueError, match=r"at least .* degrees 0 to 2 exactly .*'quadratic'.*, got 5") as caught:
        feature_map.fit(rows)
    smallest = int(str(caught.value).split("at least ")[1].split()[0])
    assert feature_map.set_params(n_components=smallest).fit(rows).n_exact_ >= (78 if kernel.n_degrees != 2 else 12)


@pytest.mark.parametrize("complex_weights", [False, True])
@pytest.mark.parametrize("kernel", [Polynomial(3), Polynomial(1), Polynomial(1, coef0=0.0), Exponential()], ids=str)
def test_too_few_columns_for_exact_low_degrees(rows, kernel, complex_weights):
    feature_map = RandomMaclaurin(kernel, 5, exact_low_degrees=True, complex_weights=complex_weights)
    with pytest.raises(ValueError, match=r"n_components must be at least .*exact_low_degrees=True.*, got 5") as caught:
        feature_map.fit(rows)
    # The number in the message is the smallest that works.
    smallest = int(str(caught.value).split("at least ")[1].split()[0])
    assert feature_map.set_params(n_components=smallest).fit(rows).n_exact_ >= 12
    with pytest.raises(ValueError, match=f"got {smallest - 1}"):
        feature_map.set_params(n_components=smallest - 1).fit(rows)


@pytest.mark.parametrize("name", SEEDED)
@pytest.mark.parametrize("value", [-1, 2**64, "x", 1.5], ids=str)
def test_random_state(rows, name, value):
    with pytest.raises(ValueError, match=f"random_state .*{value}"):
        clone(MAPS[name]).set_params(random_state=value).fit(rows)


def test_fewer_rows_than_landmarks_is_a_warning(rows):
    with pytest.warns(UserWarning, match="n_components=20 landmarks were asked for, but X has only 8 different rows"):
        Z = LandmarkMap(n_components=20).fit(np.repeat(rows[:8], 3, axis=0)).transform(rows)
    assert Z.shape == (60, 8)


def test_a_covariance_that_does_not_fit():
    with pytest.raises(ValueError, match=r"X has 40000 features.*SubsampledHadamard"):
        CovarianceMetric().fit(np.ones((2, 40000)))
    assert SubsampledHadamard(8).fit_transform(np.ones((2, 40000))).shape == (2, 8)
