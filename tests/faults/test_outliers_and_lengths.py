"""Rows of any length count alike, whatever form they have; what overflows is refused before it is counted."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.preprocessing import normalize

from craftmaps import CraftClassifier, CraftRegressor, NormalEquations, Polynomial
from craftmaps._rows.canonical import unit_rows

X = np.random.default_rng(0).normal(size=(240, 6))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
SETTINGS = {"kernel": Polynomial(2), "n_components": 32, "metric": None, "cv": 3, "random_state": 0}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_unit_length(dtype):
    rows = X.astype(dtype)
    np.testing.assert_array_equal(unit_rows(rows), normalize(rows))
    tiny = np.finfo(dtype).tiny
    factors = np.array([1, 1e-7, 1e7, np.sqrt(tiny) / 1e3, 1e-3 / np.sqrt(tiny), 0], dtype)
    scaled = rows[:60] * np.tile(factors, 10)[:, None]
    expected = unit_rows(rows[:60]) * np.tile(factors > 0, 10)[:, None]
    np.testing.assert_allclose(unit_rows(scaled), expected, rtol=0, atol=4 * np.finfo(dtype).eps)
    np.testing.assert_allclose(unit_rows(csr_matrix(scaled)).toarray(), expected, rtol=0, atol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("factor", [1e-7, 1e-20, 1e18])
def test_a_common_factor_does_not_matter(factor, form):
    rows = X.astype(np.float32)
    settings = SETTINGS | {"cv": None, "alphas": 1e-3}  # which rows are in a fold depends on all their digits
    plain = CraftClassifier(**settings).fit(form(rows), Y)
    scaled = CraftClassifier(**settings).fit(form(rows * np.float32(factor)), Y)
    np.testing.assert_allclose(
        scaled.decision_function(form(rows * np.float32(factor))), plain.decision_function(form(rows)), atol=1e-3
    )


def test_entries_that_stand_twice_add_up():
    rows = csr_matrix(X)
    twice = csr_matrix((np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), rows.indptr * 2), shape=rows.shape)
    fitted = CraftClassifier(**SETTINGS).fit(rows, Y)
    np.testing.assert_allclose(fitted.decision_function(twice), fitted.decision_function(rows), atol=1e-9)
    again = CraftClassifier(**SETTINGS).fit(twice, Y)
    np.testing.assert_allclose(again.coef_, fitted.coef_, atol=1e-9)
    assert not twice.has_canonical_format  # what was given is as it was


def test_csr_rows_after_standardised_dense_ones():
    fitted = CraftClassifier(n_components=32, random_state=0).fit(X[:30], Y[:30])
    np.testing.assert_allclose(fitted.decision_function(csr_matrix(X)), fitted.decision_function(X), atol=1e-9)


def test_an_overflow_in_a_stream_names_its_block_and_keeps_the_rest():
    rows = np.random.default_rng(1).normal(size=(14_000, 6)).astype(np.float32)
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    rows[13_000] = 1e9
    model = CraftClassifier(Polynomial(3), 32, metric=None, normalize=False, alphas=[1e-4, 1e-2], random_state=0)
    blocks = [(rows[i : i + 1000], labels[i : i + 1000]) for i in range(0, 14_000, 1000)]
    with pytest.raises(ValueError, match=r"Block 13 of the stream: .* The 13000 rows before it are kept"):
        model.fit_stream(blocks)
    model.finish()
    assert np.isfinite(model.coef_).all()
    assert model.n_rows_seen_ == model.tally_.statistic.n_rows == 13_000


def test_targets_that_overflow_are_refused():
    with pytest.raises(ValueError, match=r"y must have squares that add up to a number, got up to .*e\+160"):
        CraftRegressor(**SETTINGS).fit(X, X[:, 0] * 1e160)


def test_a_statistic_of_huge_features_is_refused():
    Z = X.copy()
    Z[3] = 1e200
    with pytest.raises(ValueError, match="squares that add up to a number in float64"):
        NormalEquations.of(Z, X[:, :1])
    # The sum over all columns overflows, none of them alone does: that is no reason to refuse.
    wide = np.full((2, 100), 1e18, np.float32)
    assert np.isfinite(NormalEquations.of(wide, wide[:, :1]).gram).all()


@pytest.mark.parametrize("outlier", [8, 1e3])
def test_an_outlier_does_not_stop_the_choice_of_alpha(outlier):
    """Where its fold is taken out, rounding errors of its size stay."""
    rows = np.random.default_rng(0).normal(size=(300, 6)).astype(np.float32)
    rows[3] = outlier
    labels = np.arange(300) % 2
    model = CraftClassifier(Polynomial(5), 64, metric=None, normalize=False, random_state=0).fit(rows, labels)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(CraftClassifier(n_components=64, random_state=0).fit(rows[:30], labels[:30]).coef_).all()
    weight = np.ones(300)
    weight[3] = 1e8
    assert np.isfinite(CraftClassifier(**SETTINGS).fit(rows, labels, weight).coef_).all()
