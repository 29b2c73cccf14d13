"""The columns that several owners keep make the tally that one would keep."""

import pickle
import sys

import numpy as np
import pytest

from craftmaps import CraftClassifier
from craftmaps.learners.counting import Counting, assembled, n_owners_for
from craftmaps.least_squares.panel_gram import PanelGram, most_owners
from tests.engines.examples import EXPLICIT, labelled_rows

X, Y = labelled_rows(300)
WEIGHT = np.random.default_rng(1).integers(0, 3, 300).astype(float)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("n_owners", [2, 3])
def test_all_owners_together(packed, n_owners):
    model = CraftClassifier(**EXPLICIT | {"n_components": 1300, "packed": packed}).settle(X, Y)
    whole, parts = model.tally(X, Y, WEIGHT), []
    for counting in Counting(model).owners(n_owners):
        part = counting.tally(X[:0], Y[:0])
        for rows in (slice(0, 100), slice(100, 300)):
            part = part + counting.tally(X[rows], Y[rows], WEIGHT[rows])
        parts.append(pickle.loads(pickle.dumps(part)))
    assert max(map(sys.getsizeof, parts)) < 1.6 * sys.getsizeof(whole) / n_owners
    total = assembled(parts)
    found, expected = np.tril(total.statistic.gram), np.tril(whole.statistic.gram)
    assert np.abs(found - expected).max() < (1e-6 if packed else 1e-14) * expected.max()
    np.testing.assert_allclose(total.statistic.cross, whole.statistic.cross, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(total.held_out.sample.hashes, whole.held_out.sample.hashes)
    assert (total.n_rows, total.statistic.weight) == (whole.n_rows, whole.statistic.weight)
    model.finish(total).partial_fit(X, Y).finish()


def test_how_many_owners():
    model = CraftClassifier(**EXPLICIT | {"n_components": 1300}).settle(X, Y)
    assert most_owners(1300) == 3
    assert [n_owners_for(model, 100, memory) for memory in (1e9, 100, 99, 50, 34)] == [1, 1, 2, 2, 3]
    with pytest.raises(ValueError, match="Workers must have 33 bytes for tallies of 1300 features, got 30"):
        n_owners_for(model, 100, 30)


def test_rows_are_taken_out_again_and_overflow_is_refused():
    Z = np.random.default_rng(0).normal(size=(20, 600))
    gram, other = PanelGram(600, 1, 2, packed=False), PanelGram(600, 1, 2, packed=False)
    gram.add(Z)
    other.add(Z[:5])
    with pytest.raises(ValueError, match="Features must be finite"):
        gram.add(np.full((2, 600), 1e200))
    np.testing.assert_allclose(gram.panels[512], Z[:, 512:].T @ Z[:, 512:], rtol=0, atol=1e-12)
    gram.combine(other, -1.0)
    np.testing.assert_allclose(gram.panels[512], Z[5:, 512:].T @ Z[5:, 512:], rtol=0, atol=1e-12)
    assert list(gram.panels) == [512]
