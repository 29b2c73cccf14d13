"""Rows to score: a share that is held out, and the task that a target suggests."""

import numpy as np
import pytest

from craftmaps.scores.held_out_share import HeldOutShare
from craftmaps.scores.target_look import look_at_target
from craftmaps.streams import Block


def test_the_share_holds_and_equal_rows_stay_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3)).astype(np.float32)
    held_out = HeldOutShare(0.2, 0).holds_out(X)
    assert abs(held_out.sum() - 4000) < 4 * np.sqrt(20_000 * 0.2 * 0.8)
    order = rng.permutation(20_000)
    assert np.array_equal(HeldOutShare(0.2, 0).holds_out(X[order]), held_out[order])
    other = HeldOutShare(0.2, 1).holds_out(X)
    assert abs((held_out & other).sum() - 800) < 4 * np.sqrt(20_000 * 0.04 * 0.96)  # seeds are independent


def test_every_row_is_on_one_side_with_all_that_belongs_to_it():
    X = np.random.default_rng(0).random((40, 2))
    blocks = [Block(X[i : i + 10], np.arange(i, i + 10), np.arange(i, i + 10.0), None) for i in range(0, 40, 10)]
    share = HeldOutShare(0.4, 0)
    parts = [*share.for_training(blocks), *share.for_testing(blocks)]
    assert sorted(np.concatenate([block.y for block in parts])) == list(range(40))
    for block in parts:
        assert np.array_equal(block.X, X[block.y])
        assert np.array_equal(block.weight, block.y)


@pytest.mark.parametrize(("share", "which"), [(1e-9, "none"), (1 - 1e-9, "all")])
def test_a_share_of_none_or_all_is_refused(share, which):
    blocks = [Block(np.random.default_rng(i).random((5, 2)), np.zeros(5), None, None) for i in range(2)]
    with pytest.raises(ValueError, match=f"holds out {which} of 10 rows: ask for another share."):
        list(HeldOutShare(share, 0).for_training(blocks))


@pytest.mark.parametrize(
    ("kind", "y", "fraction", "is_number", "is_name"),
    [
        ("number", np.array([0.0, 1.0, 2.5, 0.5]), 2.5, False, False),
        ("number", np.tile([0.0, 1.0], 50), None, False, False),
        ("integer", np.arange(60), None, True, False),
        ("integer", np.arange(60) % 30, None, False, False),  # half as many values as rows
        ("integer", np.arange(20), None, False, False),
        ("text", np.array([f"row {i}" for i in range(400)]), None, False, True),
        ("text", np.array([f"row {i}" for i in range(99)]), None, False, False),  # too few rows to tell
    ],
)
def test_what_the_first_rows_say_of_a_target(kind, y, fraction, is_number, is_name):
    look = look_at_target(kind, y)
    assert look.fraction == fraction
    assert (look.looks_like_a_number, look.looks_like_a_name) == (is_number, is_name)
    assert (look.n_rows, look.n_values) == (y.size, len(set(y.tolist())))
