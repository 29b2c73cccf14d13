"""Every map, projection, degree rule and kind of weight estimates the kernel without bias."""

import itertools

import numpy as np
import pytest
from sklearn.preprocessing import normalize
from sklearn.random_projection import SparseRandomProjection

from craftmaps import (
    ArcCosine,
    CraftMap,
    Exponential,
    Gaussian,
    Laplace,
    MaclaurinSeries,
    NeuralTangent,
    Polynomial,
    RandomMaclaurin,
    SubsampledHadamard,
    TensorSketch,
)
from craftmaps.maps.projections import FoldedHadamard
from tests.statistics.draws import LIMIT, bias_in_standard_errors, estimates, some_rows

N_DRAWS = 300
X = some_rows()
KERNEL = Polynomial(degree=3, coef0=0.7, gamma=1.3)
COMBINATIONS = list(
    itertools.product(
        ["hadamard", "stratified", "rademacher"],
        ["optimal", "proportional", "geometric"],
        [True, False],
        ["auto", True, False, "quadratic"],
    )
)


@pytest.mark.parametrize(("projection", "degrees", "complex_weights", "exact"), COMBINATIONS)
def test_maclaurin(projection, degrees, complex_weights, exact):
    values = estimates(
        lambda seed: RandomMaclaurin(
            KERNEL,
            512,
            projection=projection,
            degrees=degrees,
            complex_weights=complex_weights,
            exact_low_degrees=exact,
            random_state=seed,
        ),
        X,
        N_DRAWS,
    )
    assert bias_in_standard_errors(values, KERNEL(X)) < LIMIT


@pytest.mark.parametrize("kernel", [Exponential(0.8), MaclaurinSeries([0, 0, 1, 0, 0.5]), Polynomial(2, 0.0)])
@pytest.mark.parametrize("n_components", [1, 2, 5, 100])
@pytest.mark.parametrize("complex_weights", [True, False])
def test_maclaurin_of_any_kernel_and_width(kernel, n_components, complex_weights):
    values = estimates(
        lambda seed: RandomMaclaurin(kernel, n_components, complex_weights=complex_weights, random_state=seed),
        X,
        N_DRAWS,
    )
    assert bias_in_standard_errors(values, kernel(X)) < LIMIT


UNIT = normalize(X)


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Laplace(1.0, 7), ArcCosine(6), NeuralTangent(2, 5)], ids=str)
@pytest.mark.parametrize("make_map", [RandomMaclaurin, CraftMap])
def test_kernels_of_unit_rows_are_estimated_up_to_the_remainder(kernel, make_map):
    values = estimates(lambda seed: make_map(kernel, 100, random_state=seed), UNIT, N_DRAWS)
    series = MaclaurinSeries(kernel.maclaurin_coefficients())(UNIT)
    assert bias_in_standard_errors(values, series) < LIMIT
    assert np.abs(series - kernel(UNIT)).max() <= kernel.remainder() + 1e-7


@pytest.mark.parametrize("n_components", [511, 512])
def test_tensor_sketch(n_components):
    values = estimates(lambda seed: TensorSketch(KERNEL, n_components, random_state=seed), X, N_DRAWS)
    assert bias_in_standard_errors(values, KERNEL(X)) < LIMIT


@pytest.mark.parametrize("projection", [SubsampledHadamard(), FoldedHadamard()])
@pytest.mark.parametrize("n_components", [1, 5, 8, 12, 40])
def test_hadamard_projection(projection, n_components):
    def make(seed):
        return projection.set_params(n_components=n_components, random_state=seed)

    values = estimates(make, X, N_DRAWS)
    assert bias_in_standard_errors(values, X @ X.T) < LIMIT


@pytest.mark.parametrize("up", ["maclaurin", "tensorsketch", RandomMaclaurin(KERNEL, 700, degrees="geometric")])
@pytest.mark.parametrize(
    "down", ["hadamard", SubsampledHadamard(), "gaussian", SparseRandomProjection(dense_output=True)]
)
def test_craft(up, down):
    # Nearly all of the time goes to drawing the numbers of a dense projection.
    width = 400 if down == "gaussian" or isinstance(down, SparseRandomProjection) else None
    values = estimates(
        lambda seed: CraftMap(KERNEL, 150, up=up, up_components=width, down=down, random_state=seed), X, N_DRAWS
    )
    assert bias_in_standard_errors(values, KERNEL(X)) < LIMIT


def test_the_free_permutation_of_the_paper_is_biased():
    """Two factors from one block share its signs; the bias has a closed form."""
    d, n_draws = 8, 40_000
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, d)) + 1
    S, N, Q = (x @ y) ** 2, (x @ x) * (y @ y), (x**2) @ (y**2)
    H = np.array([[(-1) ** (i & j).bit_count() for j in range(d)] for i in range(d)])
    products = np.empty(n_draws)
    for draw in range(n_draws):
        w = H * rng.choice([-1, 1], size=d)
        i, j = rng.choice(d, size=2, replace=False)
        products[draw] = (w[i] @ x) * (w[j] @ x) * (w[i] @ y) * (w[j] @ y)
    error = products.std() / np.sqrt(n_draws)
    assert abs(products.mean() - (S - (N + S - 2 * Q) / (d - 1))) < LIMIT * error
    assert abs(products.mean() - S) > LIMIT * error
