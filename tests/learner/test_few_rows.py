"""Fewer rows than features are solved in the space of rows: the same solution, and truly left-out errors."""

import numpy as np
import pytest

from craftmaps import CraftClassifier, CraftRegressor, Polynomial
from craftmaps.learners.few_rows import FewRows
from craftmaps.learners.penalty_search import PenaltySearch

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
X[50:] = X[:10]  # copies
Y = np.digitize(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=60), [-0.3, 0.3])
WEIGHT = RNG.integers(1, 4, 60).astype(float)
ALPHAS = [1e-4, 1e-2, 1.0]
SETTINGS = {"kernel": Polynomial(3), "metric": None, "n_components": 128, "alphas": ALPHAS, "random_state": 0}


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
def test_the_solution_is_that_of_the_normal_equations(weight):
    model = CraftClassifier(**SETTINGS).fit(X, Y, weight)
    assert FewRows.of(model.tally_) is not None
    expected = model.tally_.statistic.solve(model.alpha_)
    coef = model.code_words_.T @ expected.coef
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-7 * np.abs(coef).max())


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("alpha", [1e-3, 0.1])
def test_outputs_are_those_of_models_without_the_row(weight, alpha):
    y = X[:, 0] * X[:, 1] + np.where(np.arange(60) < 50, 0.0, 0.0)
    model = CraftRegressor(**SETTINGS).fit(X, y, weight)
    few, statistic = FewRows.of(model.tally_), model.tally_.statistic
    sample, left_out = few.sample, few.left_out(alpha)
    assert sample.count.max() > 1
    for i in (*np.flatnonzero(sample.count > 1)[:3], *np.flatnonzero(sample.count == 1)[:5]):
        rest, one = statistic.copy(), slice(i, i + 1)
        rest.add(few.features[one], sample.y[one], sample.weight[one] / sample.count[one], sign=-1.0)
        coef, intercept = rest.solve(alpha)
        np.testing.assert_allclose(left_out[i], coef @ few.features[i] + intercept, rtol=1e-6, atol=1e-8)


def test_many_rows_or_a_part_of_them_are_not_few():
    assert FewRows.of(CraftClassifier(**SETTINGS | {"n_components": 59}).fit(X, Y).tally_) is None
    assert FewRows.of(CraftClassifier(**SETTINGS, holdout_rows=20).fit(X, Y).tally_) is None
    assert FewRows.of(CraftClassifier(**SETTINGS, fit_intercept=False).fit(X, Y).tally_, False) is None


def test_noise_is_not_predicted():
    """Leave-one-out errors of labels by chance are those of chance; errors of the fitted rows are not."""
    rng = np.random.default_rng(1)
    errors, fitted = [], []
    for seed in range(20):
        rows, labels = rng.normal(size=(80, 10)), rng.integers(0, 2, 80)
        model = CraftClassifier(**SETTINGS | {"random_state": seed}).fit(rows, labels)
        errors.append(model.cv_results_["error"])
        fitted.append(1 - model.score(rows, labels))
    standard_error = np.sqrt(0.25 / (20 * 80 / 2))
    assert abs(np.mean(errors) - 0.5) < 4 * standard_error
    assert np.mean(fitted) < 0.4


def test_folds_and_single_rows_agree_where_both_can_be_had():
    rows = RNG.normal(size=(300, 4))
    y = rows[:, 0] * rows[:, 1] + 0.1 * RNG.normal(size=300)
    model = CraftRegressor(**SETTINGS | {"n_components": 512}).fit(rows, y)
    by_folds = PenaltySearch(ALPHAS).choose(model.tally_).results
    np.testing.assert_allclose(model.cv_results_["mean_error"], by_folds["mean_error"], rtol=0.5)
    assert model.cv_results_["n_rows"] == by_folds["n_rows"] == 300
