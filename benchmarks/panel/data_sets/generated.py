"""Tables drawn from a formula: new rows for every seed, the training rows first."""

from collections.abc import Callable

import numpy as np
from scipy.stats import norm, rankdata
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

from benchmarks.panel.splits import Table

N_FRIEDMAN = 20_000
N_FRIEDMAN_TEST = 10_000
N_SIGN = 100_000
N_SIGN_TEST = 25_000
SIGN_COLUMNS = 20


def friedman1(seed: int) -> Table:
    """Ten columns in [0, 1], five of which matter; the noise has deviation 1."""
    return _friedman(make_friedman1, seed, noise=1.0)


def friedman2(seed: int) -> Table:
    """Impedance of a circuit; four columns of unlike ranges; the noise is a third of the signal."""
    return _friedman(make_friedman2, seed, noise=125.0)


def friedman3(seed: int) -> Table:
    """Phase of a circuit; the same columns; the noise is a third of the signal."""
    return _friedman(make_friedman3, seed, noise=0.1)


def friedman1_heavy(seed: int) -> Table:
    """The same targets from log-normal columns."""
    return _heavy_tailed(friedman1(seed))


def friedman2_heavy(seed: int) -> Table:
    """The same targets from log-normal columns."""
    return _heavy_tailed(friedman2(seed))


def friedman3_heavy(seed: int) -> Table:
    """The same targets from log-normal columns."""
    return _heavy_tailed(friedman3(seed))


def sign_of_product(seed: int) -> Table:
    """Sign of x0 x1 + x2, 20 normal columns, no noise."""
    X = np.random.default_rng([seed, 3]).normal(size=(N_SIGN + N_SIGN_TEST, SIGN_COLUMNS))
    return Table(X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int), N_SIGN)


def _friedman(make: Callable, seed: int, noise: float) -> Table:
    X, y = make(n_samples=N_FRIEDMAN + N_FRIEDMAN_TEST, noise=noise, random_state=seed)
    return Table(X, y, N_FRIEDMAN)


def _heavy_tailed(table: Table) -> Table:
    """Replace every column by the exponential of its normal scores; targets stay."""
    ranks = rankdata(table.X, axis=0)
    return table._replace(X=np.exp(norm.ppf((ranks - 0.5) / table.y.size)))
