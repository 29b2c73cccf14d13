"""Quantile scores: monotone, bounded, and what standardisation would be for two levels."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse
from scipy.stats import kstest
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import craftmaps
from craftmaps.shaping.quantile_columns import QuantileColumns
from craftmaps.shaping.row_shaping import described


@parametrize_with_checks(
    [
        QuantileColumns(),
        QuantileColumns("uniform", 16, center=False),
        QuantileColumns("same", 2),
        QuantileColumns("same", center=False),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def skewed(n_rows=4000, seed=0):
    """A log-normal, a Cauchy and a normal column."""
    rng = np.random.default_rng(seed)
    return np.column_stack([np.exp(3 * rng.normal(size=n_rows)), rng.standard_cauchy(n_rows), rng.normal(size=n_rows)])


@pytest.mark.parametrize(
    ("distribution", "law"), [("normal", ("norm",)), ("uniform", ("uniform", (-np.sqrt(3), 2 * np.sqrt(3))))]
)
def test_scores_follow_the_distribution(distribution, law):
    X = skewed()
    scores = QuantileColumns(distribution).fit(X[:2000]).transform(X[2000:])
    for column in scores.T:
        assert kstest(column, *law).pvalue > 1e-3
    # The columns themselves do not, so that the test can fail.
    assert kstest(StandardScaler().fit_transform(X)[:, 0], *law).pvalue < 1e-6


def test_scores_are_monotone_and_bounded():
    X = skewed()
    scaler = QuantileColumns().fit(X)
    path = np.sort(np.concatenate([X[:, 0], [-1e300, -1.0, 1e6, 1e300]]))
    rows = np.zeros((path.size, 3))
    rows[:, 0] = path
    scores = scaler.transform(rows)[:, 0]
    assert (np.diff(scores) >= 0).all()
    assert np.abs(scores).max() == np.abs(scaler.transform(X)[:, 0]).max() < 5


def test_one_huge_cell_changes_the_others_by_a_rank():
    X = skewed()
    spoiled = X.copy()
    spoiled[7, 2] = 1e6
    scores = QuantileColumns().fit(X).transform(X)
    difference = np.abs(QuantileColumns().fit(spoiled).transform(X) - scores)
    between_knots = np.ptp(scores[:, 2]) / 255
    assert difference[np.abs(scores) < 2].max() < between_knots < 0.03
    assert difference.max() < 0.5  # at the very end a rank is worth more
    # Standardised columns shrink to next to nothing.
    assert np.abs(StandardScaler().fit(spoiled).transform(X)[:, 2]).max() < 0.05


def test_two_levels_are_standardised():
    X = np.array([[0.0], [0.0], [0.0], [5.0]])
    for distribution in ("normal", "uniform"):
        found = QuantileColumns(distribution).fit_transform(X)
        np.testing.assert_allclose(found, StandardScaler().fit_transform(X), atol=1e-12)


def test_a_constant_column_becomes_zero():
    X = np.column_stack([np.full(10, 3.7), np.arange(10.0)])
    scaler = QuantileColumns().fit(X)
    assert (scaler.transform(X)[:, 0] == 0).all()
    assert (scaler.transform(X + 1)[:, 0] == 0).all()


def test_few_knots_are_close_to_many():
    X = skewed()
    few, many = (QuantileColumns(n_knots=n).fit(X) for n in (64, 4096))
    assert few.knots_.shape == few.scores_.shape == (3, 64)
    rows = X[(np.abs(many.transform(X)) < 2).all(axis=1)]
    np.testing.assert_allclose(few.transform(rows), many.transform(rows), atol=0.1)


@pytest.mark.parametrize("center", [True, False])
def test_csr_rows_give_the_same_and_stay_sparse_without_centring(center):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((300, 6)) < 0.3, rng.lognormal(0, 2, (300, 6)) - 0.5, 0.0)
    scaler, other = QuantileColumns(center=center), QuantileColumns(center=center)
    found = scaler.fit(csr_matrix(dense)).transform(csr_matrix(dense))
    expected = other.fit(dense).transform(dense)
    assert issparse(found) != center
    np.testing.assert_array_equal(scaler.knots_, other.knots_)
    np.testing.assert_array_equal(found.toarray() if issparse(found) else found, expected)
    if not center:
        assert (expected[dense == 0] == 0).all()
        assert found.nnz == np.count_nonzero(dense)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept_and_threads_do_not_matter(dtype):
    X = skewed().astype(dtype)
    scaler = QuantileColumns().fit(X)
    with craftmaps.threads(1):
        one = scaler.transform(X)
    with craftmaps.threads(3):
        np.testing.assert_array_equal(scaler.transform(X), one)
    assert one.dtype == dtype


def test_refusals():
    with pytest.raises(ValueError, match="distribution must be one of 'normal', 'uniform', 'same', got 'log'"):
        QuantileColumns("log").fit(np.eye(3))
    with pytest.raises(ValueError, match="n_knots == 1"):
        QuantileColumns(n_knots=1).fit(np.eye(3))


def test_standardised_columns_are_those_of_scikit_learn_and_end_a_range_beyond_the_rows():
    X = skewed()
    columns, scaler = QuantileColumns("same", 2).fit(X), StandardScaler().fit(X)
    np.testing.assert_allclose(columns.transform(X), scaler.transform(X), atol=1e-9)
    low, high = X.min(axis=0), X.max(axis=0)
    ends = np.array([low - (high - low), high + (high - low)])
    np.testing.assert_allclose(columns.transform(ends), scaler.transform(ends), rtol=1e-9)
    far = ends + (high - low) * np.array([[-1e6], [1e6]])
    np.testing.assert_array_equal(columns.transform(far), columns.transform(ends))


@pytest.mark.parametrize("center", [True, False])
def test_standardised_columns_of_extreme_values_are_finite(center):
    X = np.array([[1e308, 5.0, 0.1], [-1e308, 5.0, 0.1], [1e200, 5.0, 0.1 + 1e-17]])
    scores = QuantileColumns("same", 2, center=center).fit(X).transform(X * 1.0)
    assert np.isfinite(scores).all()
    assert (scores[:, 1] == 0).all()


def test_standardised_csr_rows_keep_their_zeros():
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 1.0, (200, 4)) * (rng.random((200, 4)) < 0.3)
    columns = QuantileColumns("same", 2, center=False).fit(csr_matrix(X))
    sparse = columns.transform(csr_matrix(X))
    assert issparse(sparse)
    np.testing.assert_allclose(sparse.toarray(), columns.transform(X), atol=1e-12)
    np.testing.assert_allclose(sparse.toarray(), X / X.std(axis=0), atol=1e-9)


def test_one_huge_cell_of_a_later_row_does_not_dominate_a_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    X *= np.array([1.0, 100.0, 0.01, 1.0, 10.0, 0.1])  # so that columns are standardised
    model = craftmaps.CraftRegressor(n_components=256, random_state=0)
    clean = model.fit(X, y).score(X, y)
    spoiled = np.concatenate([X, X[:1]])
    spoiled[-1, 3] = 1e6
    # The huge cell is not among the rows that choose: learn it afterwards.
    model = craftmaps.CraftRegressor(n_components=256, random_state=0).settle(X, y)
    assert "standardised columns" in described(model.features_.metric)
    model.finish(model.tally(spoiled, np.append(y, y[0])))
    assert np.abs(model.predict(spoiled)).max() < 100
    assert model.score(X, y) > clean - 0.02


@pytest.mark.parametrize("distribution", ["normal", "same"])
def test_rows_in_fortran_order_stay_as_they_are(distribution):
    X = np.asfortranarray(skewed())
    before = X.copy()
    QuantileColumns(distribution, 2).fit(X).transform(X)
    np.testing.assert_array_equal(X, before)
