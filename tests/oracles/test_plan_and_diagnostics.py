"""Plans, bounds and diagnostics against measurements and formulas."""

import math

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import normalize

from craftmaps import CraftMap, Polynomial, RandomMaclaurin, datasets
from craftmaps import diagnostics as diag
from craftmaps import plan as plans


@pytest.fixture(scope="module")
def digits():
    return normalize(datasets.load("digits").X_train[:800])


def test_the_best_choice_meets_the_target_when_measured(digits):
    kernel = Polynomial(degree=3)
    best = plans.plan(digits, kernel, target_error=0.1, landmarks=False)[0]
    K = kernel(digits)
    errors = [diag.kernel_error(best.feature_map.set_params(random_state=s).fit_transform(digits), K) for s in range(5)]
    assert np.mean(errors) < 0.1 * 1.1
    assert best.bytes_per_row == 8 * best.feature_map.n_components


def test_choices_are_sorted_and_cost_grows_with_rows(digits):
    kernel = Polynomial(degree=3)
    plan = plans.plan(digits, kernel, seconds=0.05, n_rows=1000)
    good = [choice for choice in plan if choice.within]
    assert [c.predicted_error for c in good] == sorted(c.predicted_error for c in good)
    assert all(c.seconds <= 0.05 for c in good)
    assert all(c.seconds > 0.05 for c in plan[len(good) :])
    assert "seconds <= 0.05" in str(plan)
    assert str(plan).count("\n") == len(plan) + 1


def test_prediction_between_two_sets_of_rows(digits):
    feature_map = CraftMap(Polynomial(degree=3), 128, random_state=0).fit(digits)
    K = Polynomial(degree=3)(digits[:300], digits[300:])
    errors = []
    for seed in range(20):
        Z = feature_map.set_params(random_state=seed).fit_transform(digits)
        errors.append(np.linalg.norm(Z[:300] @ Z[300:].T - K) / np.linalg.norm(K))
    predicted = plans.predicted_error(feature_map, digits[:300], digits[300:])
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(predicted, rel=0.1)


def test_lemma():
    assert plans.lemma_condition(3, 0.1) == pytest.approx(3 * 4**5 / 0.01)
    assert plans.lemma_probability(1000, 3, 0.1) == 1.0
    D = 10**12
    wanted = 0.766**3 * math.exp(-0.5 * (D * 0.01 / 11) ** (1 / 8))
    assert plans.lemma_probability(D, 3, 0.1) == pytest.approx(wanted)


def test_corollary_and_theorem():
    D = plans.corollary_components(1000, 2, 0.3)
    assert plans.corollary_error(D, 1000, 2) == pytest.approx(0.3)
    error = plans.theorem_error(8192, 1024, 1000, 2)
    assert error == pytest.approx(plans.corollary_error(8192, 1000, 2) + math.sqrt(math.log(1000) / 1024))


def test_from_the_up_factor_on_the_bound_of_a_compact_map_is_the_lower_one():
    """With D = g(r) E both bounds of the paper are equal, by the definition of g."""
    n, r, E = 50, 1, 1024
    g = plans.up_factor(n, r)
    assert plans.theorem_error(g * E, E, n, r) == pytest.approx(plans.corollary_error(E, n, r))
    assert plans.theorem_error(1.01 * g * E, E, n, r) < plans.corollary_error(E, n, r)


def test_log_scree_of_features_is_that_of_their_kernel_matrix(digits):
    Z = RandomMaclaurin(Polynomial(degree=2), 64, random_state=0).fit_transform(digits[:100])
    from_features, from_kernel = diag.feature_log_scree(Z), diag.log_scree(Z @ Z.T)
    assert from_features.shape == from_kernel.shape == (100,)
    np.testing.assert_allclose(from_features[:40], from_kernel[:40], atol=1e-6)
    assert np.isneginf(from_features[64:]).all()
    assert diag.rank(from_features) <= 64 < diag.rank(diag.log_scree(Polynomial(degree=7)(digits[:100])))


def test_weight_histogram_is_that_of_ridge(digits):
    y = datasets.load("digits").y_train[:800] < 5
    Z = RandomMaclaurin(Polynomial(degree=2), 64, random_state=0).fit_transform(digits)
    histogram = diag.weight_histogram(Z, y, alpha=1e-2)
    alpha = 1e-2 * np.trace(Z.T @ Z) / 64
    coefficients = Ridge(alpha=alpha, fit_intercept=False).fit(Z, np.where(y, 1.0, -1.0)).coef_
    np.testing.assert_allclose(histogram.weights, coefficients / np.abs(coefficients).max(), atol=1e-8)
    assert histogram.counts.sum() == 64
    assert histogram.edges.size == histogram.counts.size + 1
