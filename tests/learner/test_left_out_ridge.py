"""Parts of the rows are left out by steps from one factor, as if each were decomposed by itself."""

import numpy as np
import pytest

from craftmaps import threads
from craftmaps.least_squares import left_out_ridge
from craftmaps.least_squares.left_out_ridge import LeftOutRidge, Part
from craftmaps.least_squares.normal_equations import NormalEquations

N_ROWS, WIDTH, N_PARTS = 1200, 60, 3


@pytest.fixture(scope="module", params=[np.float32, np.float64])
def problem(request):
    """Features of falling sizes far from zero, targets of unlike units, weights of which some are zero."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(N_ROWS, WIDTH)) * np.geomspace(1, 0.01, WIDTH) + rng.normal(size=WIDTH)
    Y = (Z @ rng.normal(size=(WIDTH, 2)) + rng.normal(size=(N_ROWS, 2))) * [1.0, 1e30]
    weight = rng.uniform(0.5, 2, N_ROWS)
    weight[::7] = 0
    return Z.astype(request.param), Y, weight


def parts_of(Z, Y, weight, size=80):
    return [Part(*(a[i * size : (i + 1) * size] for a in (Z, Y, weight))) for i in range(N_PARTS)]


def decomposed(problem, part, i, relative, fit_intercept):
    others = np.ones(N_ROWS, bool)
    others[i * len(part.Z) : (i + 1) * len(part.Z)] = False
    rest = NormalEquations.of(*(a[others] for a in problem))
    return rest.solve(relative * rest.scale(fit_intercept), fit_intercept=fit_intercept).outputs(part.Z)


def assert_close(found, expected):
    spread = expected.std(axis=0)
    assert np.abs((found - expected) / spread).max() < 0.01


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("relative", [10.0, 1e-1, 1e-3, 1e-6])
def test_outputs_are_those_of_the_other_rows(problem, relative, fit_intercept):
    parts = parts_of(*problem)
    ridge = LeftOutRidge(NormalEquations.of(*problem), parts, fit_intercept)
    for i, part in enumerate(parts):
        assert_close(ridge.outputs(i, relative), decomposed(problem, part, i, relative, fit_intercept))
    assert relative in ridge._solved  # by steps


def test_one_penalty_starts_from_another_and_forgets_it(problem):
    parts = parts_of(*problem)
    ridge = LeftOutRidge(NormalEquations.of(*problem), parts, True)
    for relative in (1e-8, 1e-2, 1.0, 1e-4):
        assert_close(ridge.outputs(0, relative), decomposed(problem, parts[0], 0, relative, True))


def test_no_label_of_a_part_moves_its_own_outputs(problem):
    Z, Y, weight = problem
    changed = Y.copy()
    changed[:80] *= -5
    found = []
    for targets in (Y, changed):
        ridge = LeftOutRidge(NormalEquations.of(Z, targets, weight), parts_of(Z, targets, weight), True)
        ridge.outputs(0, 1e-1)
        found.append(ridge.outputs(0, 1e-3))
    spread = found[0].std(axis=0)
    assert np.abs((found[0] - found[1]) / spread).max() < 5e-3


def test_what_takes_many_steps_is_decomposed(problem, monkeypatch):
    monkeypatch.setattr(left_out_ridge, "_MOST_STEPS", 1)
    parts = parts_of(*problem)
    ridge = LeftOutRidge(NormalEquations.of(*problem), parts, True)
    assert_close(ridge.outputs(1, 1e-3), decomposed(problem, parts[1], 1, 1e-3, True))
    assert not ridge._solved


def test_no_number_of_threads_changes_anything(problem):
    found = []
    for n in (1, 3):
        with threads(n):
            ridge = LeftOutRidge(NormalEquations.of(*problem), parts_of(*problem), True)
            found.append(ridge.outputs(0, 1e-2))
    np.testing.assert_array_equal(*found)


def test_it_is_for_wide_statistics_of_many_rows():
    def statistic(n_rows, width, packed=False):
        return NormalEquations.of(np.ones((n_rows, width), np.float32), np.ones(n_rows), packed=packed)

    assert LeftOutRidge.pays(statistic(2048, 512), [100.0, 512.0])
    assert not LeftOutRidge.pays(statistic(2048, 512), [100.0, 513.0])
    assert not LeftOutRidge.pays(statistic(2047, 512), [100.0])
    assert not LeftOutRidge.pays(statistic(2048, 511), [100.0])
    assert not LeftOutRidge.pays(statistic(2048, 512, packed=True), [100.0])


@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_features_of_any_size(problem, size):
    Z, Y, weight = problem
    Z = Z.astype(np.float64) * size
    ridge = LeftOutRidge(NormalEquations.of(Z, Y, weight), parts_of(Z, Y, weight), True)
    assert_close(ridge.outputs(2, 1e-3), decomposed((Z, Y, weight), parts_of(Z, Y, weight)[2], 2, 1e-3, True))
    assert ridge._solved


def test_a_part_without_weight(problem):
    Z, Y, weight = problem
    without = weight.copy()
    without[:80] = 0
    ridge = LeftOutRidge(NormalEquations.of(Z, Y, without), parts_of(Z, Y, without), True)
    expected = NormalEquations.of(Z, Y, without)
    found, unit = ridge.outputs(0, 1e-2), expected.scale()
    assert_close(found, expected.solve(1e-2 * unit).outputs(Z[:80]))
