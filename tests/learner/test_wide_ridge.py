"""Ridge regression without a Gram matrix: features in 16 bits, and steps of conjugate gradients."""

from dataclasses import replace

import numpy as np
import pytest

from craftmaps import threads
from craftmaps.least_squares import wide_ridge
from craftmaps.least_squares.stored_features import StoredFeatures
from craftmaps.least_squares.wide_ridge import SampledRows, WideRidge

N_ROWS, WIDTH = 1500, 300


@pytest.fixture(scope="module")
def problem():
    """Features of falling sizes, targets and weights of which some are zero."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(N_ROWS, WIDTH)) * np.geomspace(1, 0.001, WIDTH) + rng.normal(size=WIDTH)
    Y = Z @ rng.normal(size=(WIDTH, 3)) + rng.normal(size=(N_ROWS, 3)) + [0.0, 5.0, -100.0]
    weight = rng.uniform(0.5, 2, N_ROWS)
    weight[::7] = 0
    return Z, Y, weight


def stored(Z):
    return StoredFeatures.of(np.copy, Z, Z.shape[1])


def ridge_of(Z, Y, weight, n_sampled=150):
    features, positions = stored(Z), np.flatnonzero(weight)[:n_sampled]
    return WideRidge(features, Y, weight, SampledRows.of(features, weight, positions))


def direct(Z, Y, weight, alpha):
    mean, target_mean = weight @ Z / weight.sum(), weight @ Y / weight.sum()
    centred = (Z - mean) * np.sqrt(weight)[:, None]
    matrix = centred.T @ centred + alpha * np.eye(Z.shape[1])
    coef = np.linalg.solve(matrix, centred.T @ ((Y - target_mean) * np.sqrt(weight)[:, None]))
    return coef, target_mean - mean @ coef, matrix


def test_rounding_to_16_bits(problem):
    Z, *_ = problem
    features = stored(Z)
    found = features.toarray()
    assert np.all(np.abs(found - Z) <= np.abs(Z).max(axis=1, keepdims=True) / 32767 * 0.51)
    np.testing.assert_allclose(features.squares, (Z**2).sum(axis=1), rtol=5e-5)
    values = np.random.default_rng(1).normal(size=(N_ROWS, 2)).astype(np.float32)
    np.testing.assert_allclose(features.sums(values), found.T @ values, rtol=1e-4, atol=1e-3)
    coef = np.random.default_rng(2).normal(size=(WIDTH, 2)).astype(np.float32)
    np.testing.assert_allclose(features[np.arange(9)] @ coef, found[:9] @ coef, rtol=1e-5, atol=1e-5)


def test_rows_of_zeros_and_of_extreme_sizes():
    Z = np.array([[0.0, 0.0], [1e30, -1e30], [1e-30, 0.0]])
    found = stored(Z).toarray()
    np.testing.assert_allclose(found, Z, rtol=1e-4)
    tiny = np.array([[1e-38, 1e-45], [1.0, 2.0]], np.float32)
    np.testing.assert_allclose(stored(tiny).toarray(), [[0.0, 0.0], [1.0, 2.0]], rtol=1e-4)
    np.testing.assert_allclose(stored(tiny).squares, [0.0, 5.0], rtol=5e-5)
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="finite"):
            stored(np.array([[1.0, bad], [1.0, 2.0]]))


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e200])
def test_features_that_are_not_finite(value):
    with pytest.raises(ValueError, match="Features must be finite"):
        stored(np.array([[1.0, 2.0], [value, 1.0]]))


@pytest.mark.parametrize("relative", [1.0, 1e-1, 1e-2, 1e-3])
def test_against_a_direct_solution(problem, relative, monkeypatch):
    monkeypatch.setattr(wide_ridge, "_MOST_STEPS", 300)
    ridge = ridge_of(*problem)
    alpha = relative * ridge.unit
    coef, intercept, matrix = direct(*problem, alpha)
    found = next(ridge.path([alpha], tolerance=1e-3))
    difference = found.coef.T - coef
    sizes = [np.sqrt(np.einsum("ij,ij->", C, matrix @ C)) for C in (difference, coef)]
    assert sizes[0] < 5e-3 * sizes[1]
    outputs = problem[0] @ coef + intercept
    assert np.abs(problem[0] @ found.coef.T + found.intercept - outputs).max() < 0.02 * outputs.std()
    assert ridge.unit == pytest.approx(np.trace(matrix) / WIDTH - alpha, rel=1e-5)


def test_a_preconditioner_saves_steps(problem, monkeypatch):
    """The sample takes fewer steps than none, which a shift beyond all eigenvalues amounts to."""
    Z, Y, weight = problem
    ridge, n_products = ridge_of(Z, Y, weight), [0]
    count = StoredFeatures.normal_products

    def counted(self, *arguments):
        n_products[0] += 1
        return count(self, *arguments)

    monkeypatch.setattr(StoredFeatures, "normal_products", counted)
    next(ridge.path([1e-2 * ridge.unit], tolerance=1e-2))
    with_sample, n_products[0] = n_products[0], 0
    useless = replace(ridge.sampled, roots=ridge.sampled.roots * 1e-6)
    next(WideRidge(ridge.features, Y, weight, useless).path([1e-2 * ridge.unit], tolerance=1e-2))
    assert with_sample < 0.7 * n_products[0]


def test_a_start_that_is_close_is_used(problem):
    ridge = ridge_of(*problem)
    alpha = 1e-2 * ridge.unit
    close = next(ridge.path([alpha], tolerance=1e-4))
    again = ridge.solved(alpha, close)
    np.testing.assert_allclose(again.coef, close.coef, atol=0.02)
    far = ridge.solved(alpha)
    assert np.abs(again.coef - close.coef).max() < 0.5 * np.abs(far.coef - close.coef).max()


def test_no_number_of_threads_changes_anything(problem):
    found = []
    for n in (1, 3):
        with threads(n):
            ridge = ridge_of(*problem)
            found.append(ridge.solved(1e-2 * ridge.unit))
    assert np.array_equal(found[0].coef, found[1].coef)
    assert np.array_equal(found[0].intercept, found[1].intercept)


def test_constant_features(problem):
    _, Y, weight = problem
    ridge = ridge_of(np.ones((N_ROWS, 20)), Y, weight, 10)
    coef, intercept = ridge.solved(1.0)
    assert np.abs(coef).max() < 1e-3
    np.testing.assert_allclose(intercept, weight @ Y / weight.sum(), rtol=1e-3)


@pytest.mark.parametrize("factor", [1e-60, 1e60])
def test_targets_of_any_size(problem, factor):
    Z, Y, weight = problem
    one, two = (ridge_of(Z, Y * size, weight) for size in (1.0, factor))
    expected, found = (ridge.solved(0.1 * ridge.unit) for ridge in (one, two))
    np.testing.assert_allclose(found.coef / factor, expected.coef, atol=1e-4)
    positions = np.arange(5)
    np.testing.assert_allclose(
        two.outputs(found, positions) / factor, one.outputs(expected, positions), rtol=1e-3, atol=1e-2
    )


def test_a_few_rows_tell_where_penalties_begin(problem):
    """Where targets are noise the strongest penalty is best, and where they are exact the weakest."""
    Z, Y, weight = problem
    noise = np.random.default_rng(1).normal(size=Y.shape)
    exact = Z @ np.random.default_rng(2).normal(size=(WIDTH, 3))
    first = {}
    for name, targets in (("noise", noise), ("some noise", Y), ("exact", exact)):
        ridge = ridge_of(Z, targets, weight, n_sampled=600)
        first[name] = ridge.first_of([10.0**i * ridge.unit for i in range(2, -8, -1)])
    assert first["noise"] <= 2
    assert first["exact"] >= 7
    assert 0 < first["some noise"] < 9
