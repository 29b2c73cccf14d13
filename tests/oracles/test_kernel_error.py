"""On real rows, compact maps beat their up-projections, and errors are as predicted."""

import functools

import numpy as np
import pytest
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.preprocessing import normalize

from craftmaps import CraftMap, Polynomial, RandomMaclaurin, TensorSketch, datasets
from craftmaps.diagnostics import kernel_error
from craftmaps.plan import predicted_error

N_ROWS = 500
N_SEEDS = 20
E = 256
DEGREES = {"digits": 5, "mnist": 7, "usps": 5}


@pytest.fixture(scope="module", params=DEGREES)
def rows(request):
    """Return rows of unit length of a data set and the kernel that the paper uses for it."""
    if not datasets.found(request.param):
        pytest.skip(f"CRAFTMAPS_DATA does not name a folder with {request.param}")
    X = normalize(datasets.load(request.param).X_train[:N_ROWS].astype(np.float32))
    return X, Polynomial(degree=DEGREES[request.param])


def errors(make, X, kernel):
    K = kernel(X)
    return np.array([kernel_error(make(seed).fit_transform(X), K) for seed in range(N_SEEDS)])


MAPS = {
    "maclaurin": lambda kernel, seed: RandomMaclaurin(kernel, E, complex_weights=True, random_state=seed),
    "real maclaurin": lambda kernel, seed: RandomMaclaurin(kernel, E, random_state=seed),
    "tensorsketch": lambda kernel, seed: TensorSketch(kernel, E, random_state=seed),
}
COMPACT = {
    "maclaurin": lambda kernel, seed: CraftMap(kernel, E, random_state=seed),
    "real maclaurin": lambda kernel, seed: CraftMap(kernel, E, up=RandomMaclaurin(kernel, 8 * E), random_state=seed),
    "tensorsketch": lambda kernel, seed: CraftMap(kernel, E, up="tensorsketch", random_state=seed),
}


@pytest.fixture(scope="module")
def compact_errors(rows):
    """Return the errors of a compact map, made once for all tests."""
    return functools.cache(lambda up: errors(lambda seed: COMPACT[up](rows[1], seed), *rows))


@pytest.mark.parametrize("up", MAPS)
def test_a_compact_map_beats_its_up_map_at_equal_width(rows, compact_errors, up):
    X, kernel = rows
    direct = errors(lambda seed: MAPS[up](kernel, seed), X, kernel)
    difference = np.log(
        direct / compact_errors(up)
    )  # errors vary by factors, and a few are much larger than the others
    assert difference.mean() > 3 * difference.std(ddof=1) / np.sqrt(N_SEEDS)


@pytest.mark.parametrize("up", COMPACT)
def test_the_error_of_a_compact_map_is_predicted_within_ten_percent(rows, compact_errors, up):
    X, kernel = rows
    predicted = predicted_error(COMPACT[up](kernel, 0).fit(X), X)
    assert np.sqrt(np.mean(compact_errors(up) ** 2)) == pytest.approx(predicted, rel=0.10)


def test_tensor_sketch_errs_as_much_as_that_of_scikit_learn():
    X = normalize(datasets.load("digits").X_train[:N_ROWS])
    kernel = Polynomial(degree=3, coef0=0.5, gamma=1.5)
    ours = errors(lambda seed: TensorSketch(kernel, E, random_state=seed), X, kernel)
    theirs = errors(
        lambda seed: PolynomialCountSketch(gamma=1.5, degree=3, coef0=0.5, n_components=E, random_state=seed),
        X,
        kernel,
    )
    spread = np.hypot(ours.std(ddof=1), theirs.std(ddof=1)) / np.sqrt(N_SEEDS)
    assert abs(ours.mean() - theirs.mean()) < 5 * spread
