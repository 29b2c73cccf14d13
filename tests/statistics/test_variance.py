"""The variance of every map equals its closed form."""

import numpy as np
import pytest
from sklearn.random_projection import SparseRandomProjection

from craftmaps import CraftMap, Exponential, Polynomial, RandomMaclaurin, SubsampledHadamard, TensorSketch
from craftmaps.maps.projections import FoldedHadamard
from tests.statistics.draws import LIMIT, estimates, estimates_of_one_fit, some_rows, variance_in_standard_errors

N_DRAWS = 1500
X = some_rows(width=8)  # a power of two: the order of a Hadamard block is the width
DOT, SQUARES = X @ X.T, X**2
S, Q = DOT**2, SQUARES @ SQUARES.T
N = np.outer(np.diag(DOT), np.diag(DOT))


def pure(degree, n_components, **parameters):
    """Make Maclaurin maps with features of one degree only."""
    parameters = {"exact_low_degrees": False} | parameters
    return lambda seed: RandomMaclaurin(Polynomial(degree, coef0=0.0), n_components, random_state=seed, **parameters)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_rademacher(degree):
    D = 40
    values = estimates(pure(degree, D, projection="rademacher"), X, N_DRAWS)
    assert variance_in_standard_errors(values, ((N + 2 * (S - Q)) ** degree - S**degree) / D) < LIMIT


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_complex_rademacher(degree):
    D = 20
    values = estimates(pure(degree, 2 * D, projection="rademacher", complex_weights=True), X, N_DRAWS)
    wanted = (((N + S - Q) ** degree + (2 * S - Q) ** degree) / 2 - S**degree) / D
    assert variance_in_standard_errors(values, wanted) < LIMIT


@pytest.mark.parametrize("D", [5, 8, 36])
@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("projection", ["hadamard", "stratified"])
def test_hadamard_blocks(D, degree, projection):
    """The variance is the same whether groups of features share their blocks or not."""
    d = X.shape[1]
    values = estimates(pure(degree, D, projection=projection), X, N_DRAWS)
    together = (D // d * d * (d - 1) + D % d * (D % d - 1)) / D**2
    shared = (S - (N + S - 2 * Q) / (d - 1)) ** degree - S**degree
    wanted = ((N + 2 * (S - Q)) ** degree - S**degree) / D + together * shared
    assert variance_in_standard_errors(values, wanted) < LIMIT


@pytest.mark.parametrize("D", [5, 8, 36])
@pytest.mark.parametrize("projection", ["hadamard", "stratified"])
def test_complex_hadamard_blocks(D, projection):
    d, degree = X.shape[1], 2
    values = estimates(pure(degree, 2 * D, projection=projection, complex_weights=True), X, N_DRAWS)
    together = (D // d * d * (d - 1) + D % d * (D % d - 1)) / D**2
    shared = ((S - (S - Q) / (d - 1)) ** degree + (S - (N - Q) / (d - 1)) ** degree) / 2 - S**degree
    wanted = (((N + S - Q) ** degree + (2 * S - Q) ** degree) / 2 - S**degree) / D + together * shared
    assert variance_in_standard_errors(values, wanted) < LIMIT


@pytest.mark.parametrize("D", [30, 31])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_tensor_sketch(D, degree):
    values = estimates(lambda seed: TensorSketch(Polynomial(degree, coef0=0.0), D, random_state=seed), X, N_DRAWS)
    g = np.gcd(2, D)
    pairs = (N + S - Q) ** degree + (2 * S - Q) ** degree
    wanted = (pairs - 2 * S**degree) / D + g * ((N + 2 * S - 2 * Q) ** degree - pairs + S**degree) / D**2
    assert variance_in_standard_errors(values, wanted) < LIMIT


@pytest.mark.parametrize(("width", "E"), [(8, 2), (8, 3), (8, 7), (6, 4), (20, 16)])
def test_subsampled_hadamard(width, E):
    rows = some_rows(width=width)
    dot, squares = rows @ rows.T, rows**2
    s, q, n = dot**2, squares @ squares.T, np.outer(np.diag(dot), np.diag(dot))
    order = 2 ** int(np.ceil(np.log2(max(width, E))))
    values = estimates(lambda seed: SubsampledHadamard(E, random_state=seed), rows, 2 * N_DRAWS)
    wanted = (n + s - 2 * q) / E * (1 - (E - 1) / (order - 1))
    assert variance_in_standard_errors(values, wanted) < LIMIT


@pytest.mark.parametrize(("width", "E"), [(8, 2), (8, 3), (8, 7), (6, 4), (20, 5), (20, 16)])
def test_folded_hadamard(width, E):
    rows = some_rows(width=width)
    values = estimates(lambda seed: FoldedHadamard(E, random_state=seed), rows, 2 * N_DRAWS)
    wanted = FoldedHadamard(E, random_state=0).fit(rows)._estimate_moments(rows).variance
    assert variance_in_standard_errors(values, wanted) < LIMIT


KERNEL = Polynomial(degree=3, coef0=0.7, gamma=1.3)
PREDICTED = {
    "several degrees in a block": RandomMaclaurin(KERNEL, 40),
    "nothing exact": RandomMaclaurin(KERNEL, 40, exact_low_degrees=False),
    "complex, several degrees": RandomMaclaurin(KERNEL, 60, complex_weights=True),
    "complex, nothing exact": RandomMaclaurin(KERNEL, 60, complex_weights=True, exact_low_degrees=False),
    "exact quadratic columns": RandomMaclaurin(KERNEL, 80, exact_low_degrees="quadratic"),
    "quadratic columns, projected down": CraftMap(
        KERNEL, 20, up=RandomMaclaurin(KERNEL, 90, exact_low_degrees="quadratic")
    ),
    "quadratic columns, kept": CraftMap(KERNEL, 60, up_components="auto"),
    "quadratic columns, kept, subsampled": CraftMap(KERNEL, 60, up_components="auto", down=SubsampledHadamard()),
    "no down-projection": CraftMap(Polynomial(2, coef0=0.0), 20, up_components="auto"),
    "infinite series": RandomMaclaurin(Exponential(0.5), 60),
    "maclaurin, hadamard": CraftMap(KERNEL, 20, up_components=80),
    "maclaurin, half of the rows kept": CraftMap(KERNEL, 9, up_components=80),
    "maclaurin, subsampled": CraftMap(KERNEL, 20, up_components=80, down=SubsampledHadamard()),
    "stratified, hadamard": CraftMap(KERNEL, 20, up=RandomMaclaurin(KERNEL, 80, projection="stratified")),
    "maclaurin, nothing spared": CraftMap(KERNEL, 20, up=RandomMaclaurin(KERNEL, 80, complex_weights=True)),
    "tensorsketch, hadamard": CraftMap(KERNEL, 20, up="tensorsketch", up_components=100),
    "maclaurin, gaussian": CraftMap(KERNEL, 20, up_components=80, down="gaussian"),
    "maclaurin, sparse": CraftMap(KERNEL, 20, up_components=80, down=SparseRandomProjection(dense_output=True)),
}


@pytest.mark.parametrize("name", PREDICTED)
def test_predicted_variance_of_whole_maps(name):
    """The sums in `predicted_error` hold for maps of several degrees and over down-projections.

    They are those of one allocation: a pool draws other degrees for every seed, with other moments.
    """
    feature_map = PREDICTED[name].set_params(random_state=0).fit(X)
    wanted = feature_map._estimate_moments(X).variance
    assert variance_in_standard_errors(estimates_of_one_fit(feature_map, X, 1000), wanted) < LIMIT
