"""Scores of regressors are those of scikit-learn, in blocks, with weights, and for several targets."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

from craftmaps.scores import NumberScores


def scored(y, predicted, weight=None, step=77):
    """Return the scores of predictions that come in blocks."""
    scores = NumberScores()
    for start in range(0, len(y), step):
        part = slice(start, start + step)
        scores.add(predicted[part], y[part], None if weight is None else weight[part])
    return scores


def random_targets(n_targets=None, n_rows=300):
    """Return targets far from zero, predictions and weights."""
    rng = np.random.default_rng(0)
    shape = n_rows if n_targets is None else (n_rows, n_targets)
    y = 1e6 + rng.normal(size=shape)
    return y, y + 0.5 * rng.normal(size=shape), rng.exponential(size=n_rows)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_targets", [None, 1, 3])
def test_scores_are_those_of_scikit_learn(n_targets, is_weighted):
    y, predicted, weight = random_targets(n_targets)
    weight = weight if is_weighted else None
    scores = scored(y, predicted, weight)
    found = scores.to_plain()
    assert found["rmse"] == pytest.approx(np.sqrt(mean_squared_error(y, predicted, sample_weight=weight)))
    assert found["mean_absolute_error"] == pytest.approx(mean_absolute_error(y, predicted, sample_weight=weight))
    assert found["r2"] == pytest.approx(r2_score(y, predicted, sample_weight=weight), rel=1e-6)
    by_target = r2_score(y, predicted, sample_weight=weight, multioutput="raw_values")
    assert scores.r2_by_target() == pytest.approx(by_target, rel=1e-6)
    assert scores.r2_interval[0] < found["r2"] < scores.r2_interval[1]
    assert found["rows"] == 300
    assert found.get("weight") == (None if weight is None else pytest.approx(weight.sum()))


def test_weighted_interval_is_as_wide_as_the_spread_over_resampled_rows():
    y, predicted, weight = random_targets()
    found = scored(y, predicted, weight).to_plain()
    draws = np.random.default_rng(1).integers(300, size=(4000, 300))
    squares = (weight * (y - predicted) ** 2)[draws].sum(axis=1) / weight[draws].sum(axis=1)
    low, high = np.square(found["rmse_interval"])
    assert (high - low) / 2 / 1.96 == pytest.approx(squares.std(), rel=0.1)


def test_a_target_that_does_not_vary_has_no_r2():
    y, predicted, _ = random_targets(2)
    y[:, 1] = 5.0
    scores = scored(y, predicted)
    assert scores.r2 is None
    assert scores.r2_interval is None
    assert np.isnan(scores.r2_by_target()).tolist() == [False, True]
    assert scored(y[:1, 0], predicted[:1, 0]).rmse_interval is None


def test_squares_that_overflow():
    scores = scored(1e200 * np.arange(9.0), np.zeros(9))
    assert scores.rmse == np.inf
    assert scores.rmse_interval is None
