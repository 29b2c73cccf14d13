"""Training and test rows of the panel, and rows for development that contain no test row of any seed.

A table either has an official split or is split by seed. In the second case half of its rows, the same half for all
seeds, are closed: test rows of every seed are drawn from them. Development sees open rows only.

Pooled tables are the exception. They take test rows from all rows, also from rows that development on the same data
set may see, so they compare errors of one learner with each other, and there is no development on them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

CLOSED_SHARE = 1 / 2
TEST_SHARE = 1 / 3
VALIDATION_SHARE = 1 / 3
CLOSING_SEED = 100

Rows = Any  # a matrix, dense or CSR, or an array of texts


class Split(NamedTuple):
    """Rows to learn from and rows to be judged by."""

    X_train: Rows
    y_train: NDArray
    X_test: Rows
    y_test: NDArray


class Table(NamedTuple):
    """Rows of a data set before they are split.

    `n_official` is the number of training rows at the front, if a split is given; the others are test rows.
    `groups` are numbers of rows that must stay on one side. `shape` makes matrices of both sides, and is fitted to the
    first. `n_pooled_test` rows of all are tested, by seed, if it is given.
    """

    X: Rows
    y: NDArray
    n_official: int | None = None
    groups: NDArray | None = None
    max_train: int | None = None
    max_test: int | None = None
    shape: Callable[[Rows, Rows], tuple[Rows, Rows]] | None = None
    n_pooled_test: int | None = None


def pooled(table: Table) -> Table:
    """Return a table without its given split or groups, split at random at the same sizes, or with a third tested."""
    n_rows = table.y.size
    n_test = round(TEST_SHARE * n_rows) if table.n_official is None else n_rows - table.n_official
    return table._replace(n_official=None, groups=None, n_pooled_test=n_test)


def panel_split(table: Table, seed: int) -> Split:
    """Return the training and test rows of a seed."""
    n_rows = table.y.size
    if table.n_pooled_test is not None:
        order = np.random.default_rng([seed, 3]).permutation(n_rows)
        return _taken(table, order[table.n_pooled_test :], order[: table.n_pooled_test])
    if table.n_official is not None:
        return _taken(table, np.arange(table.n_official), np.arange(table.n_official, n_rows))
    groups = _groups(table)
    closed = _closed_groups(groups)
    rng = np.random.default_rng([seed, 1])
    n_test = round(TEST_SHARE * np.unique(groups).size)
    is_test = np.isin(groups, rng.permutation(closed)[:n_test])
    train, test = (rng.permutation(np.flatnonzero(part)) for part in (~is_test, is_test))
    return _taken(table, train[: table.max_train], test[: table.max_test])


def development_split(table: Table, seed: int) -> Split:
    """Return rows that are test rows of no seed: two thirds to learn from, a third to validate with."""
    open_rows = development_rows(table)
    groups = _groups(table)[open_rows]
    rng = np.random.default_rng([seed, 2])
    names = rng.permutation(np.unique(groups))
    is_validation = np.isin(groups, names[: round(VALIDATION_SHARE * names.size)])
    train, validation = (rng.permutation(open_rows[part]) for part in (~is_validation, is_validation))
    return _taken(table, train[: table.max_train], validation[: table.max_test])


def development_rows(table: Table) -> NDArray[np.intp]:
    """Return the places of all rows that development may look at."""
    if table.n_pooled_test is not None:
        raise ValueError("table must have a closed half or a given split for development, got pooled rows.")
    if table.n_official is not None:
        return np.arange(table.n_official)
    groups = _groups(table)
    return np.flatnonzero(~np.isin(groups, _closed_groups(groups)))


def _groups(table: Table) -> NDArray:
    """Return a number for each row; rows of the same number stay together."""
    return np.arange(table.y.size) if table.groups is None else table.groups


def _closed_groups(groups: NDArray) -> NDArray:
    """Return the groups that test rows of all seeds are drawn from."""
    names = np.unique(groups)
    return np.random.default_rng(CLOSING_SEED).permutation(names)[: round(CLOSED_SHARE * names.size)]


def _taken(table: Table, train: NDArray, test: NDArray) -> Split:
    """Return rows by their places, as matrices."""
    X_train, X_test = table.X[train], table.X[test]
    if table.shape is not None:
        X_train, X_test = table.shape(X_train, X_test)
    return Split(X_train, table.y[train], X_test, table.y[test])
