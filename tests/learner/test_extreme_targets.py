"""A few huge targets do not decide what features a regressor takes."""

import numpy as np
import pytest

from craftmaps import CraftRegressor
from craftmaps.learners.targets import NumberTargets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2400, 6))
Y = np.sin(X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.1 * RNG.normal(size=2400)


def spoiled(share=0.002):
    y = Y.copy()
    y[:: int(1 / share)] = 1e6
    return y


def test_choices_with_huge_targets_predict_the_others():
    """The features chosen by spoiled targets, solved for clean ones, do as well as those chosen by clean ones."""
    rows, seen = slice(0, 1800), slice(1800, None)

    def error(y):
        chosen = CraftRegressor(n_components=256, random_state=0).settle(X[rows], y[rows])
        chosen.finish(chosen.tally(X[rows], Y[rows]))
        return np.mean((chosen.predict(X[seen]) - Y[seen]) ** 2)

    assert error(spoiled()) < 1.5 * error(Y)


def test_targets_of_one_spread_keep_ordinary_values():
    targets = NumberTargets(1)
    column = Y[:, None]
    np.testing.assert_array_equal(targets.balanced(column), column)
    cut = targets.balanced(spoiled()[:, None])
    assert cut.max() < 100
    np.testing.assert_array_equal(cut[1:400], column[1:400])


@pytest.mark.parametrize("y", [np.zeros((50, 1)), np.eye(50)[:, :1], np.ones((1, 2))])
def test_targets_without_a_spread_are_kept(y):
    np.testing.assert_array_equal(NumberTargets(y.shape[1]).balanced(y), y)
