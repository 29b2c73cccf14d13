"""Indicators of categories: balanced, zero for new levels, the same in both precisions and for CSR rows."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import craftmaps
from craftmaps.shaping.category_columns import CategoryColumns, likely_categories
from craftmaps.shaping.quantile_columns import QuantileColumns
from craftmaps.shaping.row_shaping import described
from tests.sparse_rows import with_explicit_zeros


@parametrize_with_checks(
    [CategoryColumns(), CategoryColumns((), "normal", 16), CategoryColumns((), "same", 2, center=False)]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def table(n_rows=500, seed=0):
    """Two numbers and, between and behind them, two categories of uneven levels."""
    rng = np.random.default_rng(seed)
    levels = rng.choice([3, 7, 40, -2], n_rows, p=[0.6, 0.2, 0.15, 0.05])
    return np.column_stack(
        [rng.normal(5, 3, n_rows), levels, np.exp(rng.normal(size=n_rows)), rng.integers(0, 9, n_rows)]
    )


@pytest.mark.parametrize("distribution", ["normal", "uniform", "same"])
def test_numbers_are_scored_and_levels_are_one_hot(distribution):
    X, new = table(), table(seed=1)
    found = CategoryColumns([3, 1], distribution).fit(X).transform(new)
    scores = QuantileColumns(distribution).fit(X[:, [0, 2]]).transform(new[:, [0, 2]])
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(X[:, [1, 3]]).transform(new[:, [1, 3]])
    np.testing.assert_array_equal(found[:, :2], scores)
    np.testing.assert_array_equal(found[:, 2:] > 0, one_hot > 0)


def test_every_category_has_the_variance_of_a_number():
    X = table()
    found = CategoryColumns([1, 3], "same").fit_transform(X)
    variances = found.var(axis=0)
    for part in (variances[[0]], variances[[1]], variances[2:6], variances[6:]):
        assert part.sum() == pytest.approx(1.0, rel=1e-12)


def test_beside_columns_as_they_are_categories_have_their_mean_variance():
    X = table() * [100.0, 1, 100, 1] + [1e6, 0, 0, 0]
    found = CategoryColumns([1, 3]).fit_transform(X)
    np.testing.assert_array_equal(found[:, :2], X[:, [0, 2]])
    mean = X[:, [0, 2]].var(axis=0).mean()
    np.testing.assert_allclose([found[:, 2:6].var(axis=0).sum(), found[:, 6:].var(axis=0).sum()], mean, rtol=1e-9)


@pytest.mark.parametrize("level", [8.0, 7.5, -1e30, 1e300])
def test_a_new_level_becomes_zeros(level):
    columns = CategoryColumns([1], "same").fit(table())
    row = columns.transform([[5.0, level, 1.0, 4.0]])
    assert not row[0, 3:].any()
    assert columns.transform([[5.0, 7.0, 1.0, 4.0]])[0, 3:].any()


def test_only_frequent_levels_have_indicators():
    X = np.repeat([[1.0], [2.0], [3.0], [4.0]], [5, 40, 10, 40], axis=0)
    columns = CategoryColumns([0], n_levels=2).fit(X)
    assert columns.levels_.tolist() == [2.0, 4.0]
    assert columns.transform(X).shape == (95, 2)


@pytest.mark.parametrize("distribution", [None, "normal", "same"])
@pytest.mark.parametrize("center", [True, False])
def test_csr_rows_with_explicit_zeros_and_single_precision(distribution, center):
    X = table()
    X[:, [0, 2]] *= np.random.default_rng(2).random((len(X), 2)) > 0.5
    columns = CategoryColumns([1, 3], distribution, 32, center=center).fit(X)
    dense, sparse = columns.transform(X), columns.transform(with_explicit_zeros(X))
    assert issparse(sparse) == (not center)
    np.testing.assert_allclose(sparse.toarray() if issparse(sparse) else sparse, dense, rtol=1e-12, atol=1e-14)
    other = CategoryColumns([1, 3], distribution, 32, center=center).fit(with_explicit_zeros(X))
    np.testing.assert_allclose(other.transform(X), dense, rtol=1e-6)
    single = columns.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, dense, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(single[:, 2:] > 0, dense[:, 2:] > 0)


def test_categories_alone_and_a_constant():
    X = np.column_stack([np.arange(6) % 3, np.full(6, 4)]).astype(float)
    found = CategoryColumns([0, 1], "normal").fit(X).transform(X)
    assert found.shape == (6, 4)
    np.testing.assert_array_equal(found[:, 3], 1.0)
    sparse = CategoryColumns([0, 1], "normal", center=False).fit(csr_matrix(X)).transform(csr_matrix(X))
    np.testing.assert_array_equal(sparse.toarray(), found)


def test_threads_change_nothing():
    X = table(5000)
    columns = CategoryColumns([1, 3], "normal").fit(X)
    with craftmaps.threads(1):
        one = columns.transform(X)
    with craftmaps.threads(3):
        np.testing.assert_array_equal(columns.transform(X), one)


def test_rows_are_not_changed():
    X = table()
    X.setflags(write=False)
    CategoryColumns([1, 3], "same").fit(X).transform(X)


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ([0], r"whole numbers from -16777216 to 16777216, got .* in column 0"),
        ([4], "positions from 0 to 3, got 4"),
        ([-1], "positions from 0, got -1"),
        ([1.5], "positions from 0, got 1.5"),
        ([True], "positions from 0, got True"),
        (["a"], "got the name 'a', rows have none"),
    ],
)
def test_bad_categories(categories, message):
    with pytest.raises(ValueError, match=message):
        CategoryColumns(categories).fit(table())


def test_other_bad_parameters():
    X = table()
    with pytest.raises(TypeError, match="categories must be None, 'auto' or a list of columns, got 'b'"):
        CategoryColumns("b").fit(X)
    with pytest.raises(ValueError, match="distribution must be"):
        CategoryColumns([1], "log").fit(X)
    with pytest.raises(ValueError, match="n_levels == 0"):
        CategoryColumns([1], n_levels=0).fit(X)
    with pytest.raises(ValueError, match=r"got .e\+07 in column 1"):
        CategoryColumns([1]).fit(X * [1, 1e7, 1, 1])
    with pytest.raises(ValueError, match="NaN"):
        CategoryColumns([1]).fit(np.where(X == 7, np.nan, X))


def test_likely_categories():
    rng = np.random.default_rng(0)
    n = 2000
    columns = {
        "weekday": rng.integers(0, 7, n),
        "two levels": rng.integers(0, 2, n),
        "thirty-three levels": np.arange(n) % 33,
        "thirty-two levels": np.arange(n) % 32,
        "halves": rng.integers(0, 7, n) / 2,
        "nearly constant": np.where(np.arange(n) % 50, 0, 1 + np.arange(n) % 100 // 50),
        "huge": rng.integers(0, 5, n) * 2**23,
        "number": rng.normal(size=n),
        "constant": np.ones(n),
    }
    X = np.column_stack(list(columns.values())).astype(float)
    names = list(columns)
    expected = ["weekday", "thirty-two levels"]
    assert [names[j] for j in likely_categories(X, 100)] == expected
    assert [names[j] for j in likely_categories(csr_matrix(X), 100)] == expected
    assert likely_categories(X, 7 + 7 + 32 - 1) == ()
    assert likely_categories(X[:, 7:], 100) == ()


def test_descriptions():
    assert described(CategoryColumns([1], "same")) == "standardised columns and categories"
    assert described(CategoryColumns([1])) == "columns as they are and categories"
