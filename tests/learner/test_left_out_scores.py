"""Folds are left out together while they are few of the rows, and solutions are compared on them."""

import numpy as np
import pytest

from craftmaps.learners.held_out import HeldOutFold
from craftmaps.learners.left_out_scores import LeftOutScores, left_out_together
from craftmaps.learners.targets import NumberTargets


def folds_of(*sizes):
    return [HeldOutFold(np.zeros((n, 1)), np.zeros((n, 1)), np.ones(n), np.ones(n, np.int64)) for n in sizes]


@pytest.mark.parametrize(
    ("n_rows", "groups"),
    [
        (10_000, [[0, 1, 2, 3, 4]]),
        (700, [[0, 1, 2], [3, 4]]),
        (300, [[0], [1], [2], [3], [4]]),
        (50, [[0], [1], [2], [3], [4]]),
    ],
)
def test_neighbours_are_left_out_together_while_they_are_a_tenth_of_the_rows(n_rows, groups):
    assert left_out_together(folds_of(20, 20, 20, 20, 20), n_rows) == groups


def test_no_folds_make_no_groups():
    assert left_out_together([], 100.0) == []


def test_the_lead_of_the_first_solution_is_over_the_best_other_one():
    scores = LeftOutScores(folds_of(8, 8), NumberTargets(1))
    for output in (1.0, 3.0, 2.0):
        scores.add(np.full((16, 1), output))
    # Errors and losses are squares, so the value of 2 against 1 is log 16; half a row on top makes it a little less.
    assert scores.lead_of_first() == pytest.approx(np.log(16), rel=0.2)
    assert scores.best() == 0
