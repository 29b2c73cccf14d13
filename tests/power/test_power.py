"""The statistical checks fail on wrong maps: on one of zeros and on one whose estimates are 5 % too large."""

import functools

import numpy as np
import pytest

from craftmaps import (
    CraftMap,
    Exponential,
    MaclaurinSeries,
    NeuralTangent,
    Polynomial,
    RandomMaclaurin,
    SubsampledHadamard,
    TensorSketch,
)
from tests.statistics import test_unbiased, test_variance
from tests.statistics.draws import (
    LIMIT,
    bias_in_standard_errors,
    draw_again,
    estimates,
    estimates_of_one_fit,
    is_unbiased_as_allocated,
    variance_in_standard_errors,
)

KERNEL = test_unbiased.KERNEL


BIASED = {
    "hadamard": lambda seed: RandomMaclaurin(KERNEL, 512, random_state=seed),
    "hadamard, nothing exact": lambda seed: RandomMaclaurin(KERNEL, 512, exact_low_degrees=False, random_state=seed),
    "rademacher": lambda seed: RandomMaclaurin(KERNEL, 512, projection="rademacher", random_state=seed),
    "complex": lambda seed: RandomMaclaurin(KERNEL, 512, complex_weights=True, random_state=seed),
    "tensorsketch": lambda seed: TensorSketch(KERNEL, 512, random_state=seed),
    "craft": lambda seed: CraftMap(KERNEL, 150, random_state=seed),
    "craft, auto": lambda seed: CraftMap(KERNEL, 150, up_components="auto", random_state=seed),
    "craft, tensorsketch": lambda seed: CraftMap(KERNEL, 150, up="tensorsketch", random_state=seed),
}


@functools.cache
def right_estimates(name):
    values = estimates(BIASED[name], test_unbiased.X, test_unbiased.N_DRAWS)
    values.flags.writeable = False
    return values


@pytest.mark.parametrize("factor", [0.0, 1.05])
@pytest.mark.parametrize("name", BIASED)
def test_unbiasedness_check_sees_a_wrong_map(name, factor):
    """A map whose features are too large by the root of a factor has estimates that are too large by the factor."""
    assert bias_in_standard_errors(factor * right_estimates(name), KERNEL(test_unbiased.X)) > LIMIT


@pytest.mark.parametrize("factor", [0.0, 1.05])
@pytest.mark.parametrize("make_map", [RandomMaclaurin, CraftMap])
def test_unbiasedness_check_sees_a_wrong_map_of_a_kernel_of_unit_rows(make_map, factor):
    kernel, X = NeuralTangent(2, 5), test_unbiased.UNIT
    values = estimates(lambda seed: make_map(kernel, 100, random_state=seed), X, test_unbiased.N_DRAWS)
    assert bias_in_standard_errors(factor * values, MaclaurinSeries(kernel.maclaurin_coefficients())(X)) > LIMIT


def test_unbiasedness_check_sees_a_wrong_projection():
    X = test_unbiased.X
    values = estimates(lambda seed: SubsampledHadamard(12, random_state=seed), X, test_unbiased.N_DRAWS)
    for factor in (0.0, 1.05):
        assert bias_in_standard_errors(factor * values, X @ X.T) > LIMIT


@pytest.mark.parametrize("factor", [0.0, 1.05])
def test_variance_check_sees_a_wrong_map(factor):
    """A kernel estimate that is 5 % too large has a variance that is 10 % too large."""
    X = test_variance.X
    make = test_variance.pure(2, 36)
    right = np.mean([make(seed).fit(X)._estimate_moments(X).variance for seed in range(3)], axis=0)
    values = factor * estimates(make, X, test_variance.N_DRAWS)
    if factor == 0:
        values += np.random.default_rng(0).normal(scale=1e-6, size=values.shape)
    assert variance_in_standard_errors(values, right) > LIMIT


class Repeating(RandomMaclaurin):
    """A map whose groups of features take the same rows of their blocks, so that all groups are equal."""

    def _draw(self):
        super()._draw()
        rows, n_factors = self._drawn.rows, self._drawn.first_factor[1]
        self._drawn = self._drawn._replace(rows=rows[np.arange(len(rows)) % n_factors])


def test_variance_check_sees_groups_that_repeat_each_other():
    X = test_variance.X

    def make(seed):
        return Repeating(Polynomial(2, coef0=0.0), 36, exact_low_degrees=False, random_state=seed)

    values = estimates(make, X, test_variance.N_DRAWS)
    assert variance_in_standard_errors(values, make(0).fit(X)._estimate_moments(X).variance) > LIMIT


def test_variance_check_tells_hadamard_from_independent_signs():
    X = test_variance.X
    dense = RandomMaclaurin(Polynomial(2, coef0=0.0), 36, projection="rademacher", exact_low_degrees=False).fit(X)
    values = estimates(test_variance.pure(2, 36), X, test_variance.N_DRAWS)
    assert variance_in_standard_errors(values, dense._estimate_moments(X).variance) > LIMIT


@pytest.mark.parametrize("name", BIASED)
def test_a_map_that_is_drawn_again_is_that_of_a_fit_with_the_seed(name):
    X = test_unbiased.X[:2]  # of two rows there is one sample of pairs, so the seed does not change the allocation
    drawn = draw_again(BIASED[name](0).fit(X), 5).transform(X)
    assert np.array_equal(drawn, BIASED[name](5).fit_transform(X))
    assert not np.array_equal(drawn, BIASED[name](0).fit_transform(X))


def test_a_map_whose_degrees_are_drawn_is_fitted_for_every_seed():
    X = test_unbiased.X
    pool = RandomMaclaurin(Exponential(), 2, random_state=0).fit(X)
    assert not is_unbiased_as_allocated(pool)
    values = estimates_of_one_fit(pool, X, test_unbiased.N_DRAWS)
    assert bias_in_standard_errors(values, Exponential()(X)) > LIMIT
