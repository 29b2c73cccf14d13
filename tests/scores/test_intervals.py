"""Intervals hold the truth as often as they say."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from craftmaps import CraftClassifier, Polynomial
from craftmaps.scores import held_out_error
from craftmaps.scores.bootstrap import Bootstrap
from craftmaps.scores.intervals import of_root_mean_square, wilson


def test_wilson_interval_solves_its_equation():
    """The ends are the shares p for which the observed share is 1.96 standard errors away."""
    for successes, n in ((0, 10), (3, 40), (40, 40), (77, 1000)):
        for end in wilson(successes, n):
            distance = abs(successes / n - end) / np.sqrt(end * (1 - end) / n) if 0 < end < 1 else 1.959964
            assert distance == pytest.approx(1.959964, rel=1e-5)


def bootstrap_of_mean(values, weight, step=700):
    resampled = Bootstrap()
    for start in range(0, values.size, step):
        resampled.add(values[start : start + step, None], weight[start : start + step])
    return resampled.interval(lambda means: means[:, 0])


@pytest.mark.parametrize("is_sorted", [False, True])
@pytest.mark.parametrize("n_rows", [500, 20_000])
def test_bootstrap_interval_of_a_mean_is_as_wide_as_theory_says(n_rows, is_sorted):
    """Also where rows come in order: groups must not be alike for it."""
    values = np.random.default_rng(0).normal(size=n_rows)
    values = np.sort(values) if is_sorted else values
    low, high = bootstrap_of_mean(values, np.ones(n_rows))
    expected = 2 * 1.96 * values.std() / np.sqrt(n_rows)
    # Each end is a quantile of 1,000 resamples, whose standard error is sqrt(q (1 - q) / 1000) / density(q).
    standard_error = np.sqrt(2 * 0.025 * 0.975 / 1000) / norm.pdf(1.96) / (2 * 1.96)
    # 2,000 groups tell the variance of a mean with a standard error of sqrt(2 / 2000).
    standard_error = np.hypot(standard_error, np.sqrt(2 / min(n_rows, 2000)) / 2)
    assert high - low == pytest.approx(expected, rel=4 * standard_error)
    assert low < values.mean() < high


def test_bootstrap_does_not_depend_on_blocks():
    values, weight = np.random.default_rng(0).normal(size=(2, 5000))
    found = [bootstrap_of_mean(values, weight**2, step) for step in (5000, 333)]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_interval_of_a_root_mean_square_holds_the_truth_in_95_of_100_runs():
    errors = np.random.default_rng(0).normal(size=(2000, 400))
    found = [of_root_mean_square(np.mean(row**2), np.var(row**2) / row.size, row.size) for row in errors]
    share = np.mean([low < 1 < high for low, high in found])
    assert share == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 2000))


RESULTS = {"chosen": 1, "error": 0.2, "error_by_fold": np.array([0.1, 0.3]), "n_rows": 100, "n_effective": 50.0}


class Learned:
    """A learner that has chosen alpha."""

    cv, cv_results_ = 5, RESULTS


class Classifier(Learned, ClassifierMixin, BaseEstimator):
    pass


class Regressor(Learned, RegressorMixin, BaseEstimator):
    pass


def test_held_out_error_is_the_one_that_the_learner_names():
    found = held_out_error(Classifier())
    assert (found.chosen, found.error, found.n_rows) == (1, 0.2, 100)
    assert found.interval == wilson(10, 50)  # copies of a row are not worth as much as other rows
    low, high = held_out_error(Regressor()).interval
    assert low < np.sqrt(0.2) < high
    assert held_out_error(Regressor()).to_plain()["rmse"] == np.sqrt(0.2)


def test_a_model_that_chose_no_alpha_has_no_held_out_error():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    assert held_out_error(CraftClassifier(Polynomial(2), 8, metric=None, alphas=0.1, cv=None).fit(X, y)) is None
