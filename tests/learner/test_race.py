"""An alpha that cannot win any more is not tried on the folds that are left; the choice is the same."""

import numpy as np
import pytest

from craftmaps import Polynomial
from craftmaps.learners.penalty_search import PenaltySearch
from tests.learner.examples import classifier, regressor

ALPHAS = [1e-6, 1e-3, 1.0, 1e3, 1e5]


def many_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=4000)


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_choice_is_that_of_all_folds(kind, weighted):
    X, y = many_rows()
    y = (y > 0).astype(int) if kind == "classifier" else y
    weight = np.random.default_rng(1).random(4000) + 0.5 if weighted else None
    make = classifier if kind == "classifier" else regressor
    raced = make(alphas=ALPHAS, cv=5).fit(X, y, weight)
    full = PenaltySearch(ALPHAS, fewest_rows=np.inf).choose(raced.tally_).results
    tried = ~np.isnan(raced.cv_results_["fold_errors"])
    assert not tried.all()  # something was left out
    assert tried[:, 0].all()  # but not from the first fold
    assert not np.isnan(full["fold_errors"]).any()
    # Alphas whose outputs differ by less than a hundredth count as a tie, and the largest stands for all.
    few = 2e-3 if kind == "classifier" else 1e-2 * full["mean_error"].min()
    whole = tried.all(axis=1)
    means = full["mean_error"]
    np.testing.assert_allclose(raced.cv_results_["mean_error"][whole], means[whole], rtol=0, atol=few)
    chosen = np.argmin(np.abs(np.array(ALPHAS) * raced.tally_.statistic.scale() - raced.alpha_))
    assert means[chosen] <= means.min() + few


def test_alphas_that_no_longer_matter_are_a_tie():
    X, y = many_rows()
    tiny = [1e-13, 1e-12, 1e-11, 1e-10, 1e-3, 1.0]
    model = regressor(alphas=tiny, cv=5).fit(X, y)
    errors = model.cv_results_["fold_errors"]
    assert (errors[:4] == errors[3]).all()
    assert model.alpha_ >= 1e-10 * model.tally_.statistic.scale()


def test_a_plateau_is_not_mistaken_for_the_end():
    """Outputs that do not change over some decades may change below them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2)) * [1e3, 1e-2]
    y = X[:, 0] / 1e3 + 3 * X[:, 1] / 1e-2
    alphas = [1e-12, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]
    model = regressor(kernel=Polynomial(1), alphas=alphas, cv=5, feature_map=None, metric=None, normalize=False)
    np.testing.assert_allclose(model.fit(X, y).alpha_, 1e-12 * model.tally_.statistic.scale())


def test_few_rows_rule_nothing_out():
    X, y = many_rows()
    model = classifier(alphas=ALPHAS, cv=5, holdout_rows=400).fit(X, (y > 0).astype(int))
    assert not np.isnan(model.cv_results_["fold_errors"]).any()


def test_float32_rows_choose_the_same_alpha():
    """Factors are then in float32 where that is precise enough."""
    X, y = many_rows()
    X, y = X.astype(np.float32), (y > 0).astype(int)
    single = classifier(alphas=ALPHAS, cv=5).fit(X, y)
    double = classifier(alphas=ALPHAS, cv=5).fit(X.astype(np.float64), y)
    np.testing.assert_allclose(single.alpha_, double.alpha_, rtol=1e-5)
    errors = [model.cv_results_["mean_error"] for model in (single, double)]
    np.testing.assert_allclose(*errors, atol=2 / 4000)
