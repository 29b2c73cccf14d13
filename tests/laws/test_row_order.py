"""`fit` depends neither on the order of the rows nor on repetitions."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from tests.catalogue import MAPS, SEEDED


@pytest.mark.parametrize("name", SEEDED)
@pytest.mark.parametrize("layout", [np.asarray, csr_matrix], ids=["dense", "csr"])
def test_permuted_rows_give_the_same_map(rows, seed, name, layout):
    expected = clone(MAPS[name]).set_params(random_state=seed).fit(layout(rows)).transform(rows)
    for order in (np.arange(60)[::-1], np.random.default_rng(1).permutation(60)):
        feature_map = clone(MAPS[name]).set_params(random_state=seed).fit(layout(rows[order]))
        np.testing.assert_array_equal(feature_map.transform(rows), expected)


@pytest.mark.parametrize("name", SEEDED)
def test_rows_given_twice_count_once(rows, name):
    expected = clone(MAPS[name]).fit(rows).transform(rows)
    twice = clone(MAPS[name]).fit(np.concatenate([rows, rows[::-1]]))
    np.testing.assert_array_equal(twice.transform(rows), expected)


def test_landmarks_are_different_rows_of_the_data(rows, seed):
    X = np.repeat(rows[:25], 4, axis=0)
    landmarks = clone(MAPS["landmarks"]).set_params(random_state=seed).fit(X).landmarks_
    assert np.unique(landmarks, axis=0).shape == (20, 12)
    assert all((X == landmark).all(axis=1).any() for landmark in landmarks)
