"""Splits of the panel repeat themselves, and development never sees a test row."""

import numpy as np
import pytest
from scipy.sparse import issparse

from benchmarks.panel.data_sets import DATA_SETS
from benchmarks.panel.splits import Table, development_rows, development_split, panel_split, pooled

SEEDS = (101, 102, 103)
WITHOUT_FILES = [name for name, data_set in DATA_SETS.items() if data_set.folder is None and "text" not in name]


def numbered(n_rows, **settings):
    """Return a table whose only column is the number of the row."""
    return Table(np.arange(n_rows)[:, None], np.arange(n_rows), **settings)


TABLES = {
    "by seed": numbered(300),
    "official": numbered(300, n_official=200),
    "official, in groups": numbered(300, n_official=200, groups=np.arange(300) // 7),
    "in groups": numbered(300, groups=np.arange(300) // 7),
    "limited": numbered(300, max_train=50, max_test=20),
}


@pytest.fixture(params=TABLES.values(), ids=TABLES.keys())
def table(request):
    return request.param


def dense(X):
    return X.toarray() if issparse(X) else X


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_a_data_set_is_the_same_again(name):
    first, again = (panel_split(DATA_SETS[name].read(101), 101) for _ in range(2))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_generated_rows_are_others_for_another_seed():
    first, other = (DATA_SETS["friedman1"].read(seed).X for seed in SEEDS[:2])
    assert not np.isin(first, other).any()


def test_heavy_tails_keep_targets_and_the_order_of_columns():
    plain, heavy = (DATA_SETS[name].read(101) for name in ("friedman1", "friedman1_heavy"))
    np.testing.assert_array_equal(plain.y, heavy.y)
    np.testing.assert_array_equal(plain.X.argsort(axis=0), heavy.X.argsort(axis=0))
    assert heavy.X.max() > 20


def test_test_rows_are_not_training_rows(table):
    for seed in SEEDS:
        split = panel_split(table, seed)
        assert split.y_test.size > 0
        assert not np.isin(split.y_test, split.y_train).any()


def test_development_sees_no_test_row_of_any_seed(table):
    closed = np.concatenate([panel_split(table, seed).y_test for seed in SEEDS])
    for seed in (1, 2, *SEEDS):
        split = development_split(table, seed)
        assert split.y_train.size > split.y_test.size > 0
        for seen in (split.y_train, split.y_test, split.X_train, split.X_test):
            assert not np.isin(seen, closed).any()
        assert not np.isin(split.y_test, split.y_train).any()


@pytest.mark.parametrize("name", ["iris", "friedman1", "sign_of_product"])
def test_development_sees_no_test_row_of_a_data_set(name):
    table = DATA_SETS[name].read(101)
    places = table._replace(X=np.arange(table.y.size), y=np.arange(table.y.size))
    closed = np.concatenate([panel_split(places, seed).y_test for seed in SEEDS])
    assert not np.isin(development_rows(table), closed).any()


@pytest.mark.parametrize(("name", "n_test"), [("official", 100), ("official, in groups", 100), ("in groups", 100)])
def test_pooled_rows_are_split_at_random_at_the_same_sizes(name, n_test):
    table = pooled(TABLES[name])
    tested = []
    for seed in SEEDS:
        split, again = panel_split(table, seed), panel_split(table, seed)
        np.testing.assert_array_equal(split.y_test, again.y_test)
        assert split.y_test.size == n_test
        assert sorted([*split.y_train, *split.y_test]) == list(range(300))
        # Neither the given split nor the groups are kept.
        assert split.y_test.min() < 200
        assert np.isin(split.y_test // 7, split.y_train // 7).any()
        tested.append(split.y_test)
    assert not np.array_equal(np.sort(tested[0]), np.sort(tested[1]))


def test_there_is_no_development_on_pooled_rows():
    with pytest.raises(ValueError, match="got pooled rows"):
        development_split(pooled(TABLES["official"]), 1)


@pytest.mark.parametrize("name", [name for name, data_set in DATA_SETS.items() if data_set.is_pooled])
def test_a_pooled_data_set_has_the_rows_of_its_own(name):
    data_set, given = DATA_SETS[name], DATA_SETS[name.removesuffix("_pooled")]
    assert (data_set.folder, data_set.task) == (given.folder, given.task)
    if not data_set.is_found:
        pytest.skip(f"CRAFTMAPS_DATA has no {data_set.folder}")
    table, other = data_set.read(101), given.read(101)
    np.testing.assert_array_equal(table.X, other.X)
    np.testing.assert_array_equal(table.y, other.y)
    split = panel_split(table._replace(X=np.arange(table.y.size), shape=None), 101)
    if other.n_official is not None:
        assert split.y_train.size == other.n_official
    else:
        assert split.y_test.size == round(other.y.size / 3)


def test_groups_stay_on_one_side():
    table = TABLES["in groups"]
    for split in (
        panel_split(table, 101),
        development_split(table, 1),
        development_split(TABLES["official, in groups"], 1),
    ):
        assert not np.isin(split.y_test // 7, split.y_train // 7).any()


def test_matrices_are_shaped_by_training_rows_alone():
    seen = []

    def shape(train, test):
        seen.append(train)
        return train, test

    split = panel_split(TABLES["by seed"]._replace(shape=shape), 101)
    np.testing.assert_array_equal(seen[0], split.X_train)


def test_pieces_of_a_file_of_source_code_stay_together():
    table = DATA_SETS["text"].read(101)
    again = DATA_SETS["text"].read(102)
    np.testing.assert_array_equal(table.X, again.X)
    places = table._replace(X=np.arange(table.y.size), shape=None)
    split = panel_split(places, 101)
    assert not np.isin(table.groups[split.X_test], table.groups[split.X_train]).any()
    assert np.unique(split.y_train).size == np.unique(table.y).size
