"""Draw a map many times and judge its estimates by their own standard errors.

A check returns how many standard errors the worst deviation has; the tests ask for less than
`LIMIT`, and `tests/power` shows that wrong maps exceed it.
"""

import numpy as np

LIMIT = 5.0
N_BATCHES = 25


def some_rows(n_rows=6, width=12):
    """Return rows of about unit length with positive and negative inner products."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, width)) + 0.5
    return X / np.linalg.norm(X, axis=1, keepdims=True) * rng.uniform(0.8, 1.1, size=(n_rows, 1))


def estimates(make, X, n_draws):
    """Return the kernel estimates of n_draws maps, one upper triangle a row."""
    upper = np.triu_indices(X.shape[0])
    result = np.empty((n_draws, upper[0].size))
    for seed in range(n_draws):
        Z = make(seed).fit_transform(X)
        result[seed] = (Z @ Z.T)[upper]
    return result


def upper(matrix):
    return matrix[np.triu_indices(matrix.shape[0])]


def bias_in_standard_errors(values, K):
    """Return the worst deviation of a mean estimate from the kernel."""
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(values.shape[0])
    # Where a map is exact its deviations are rounding errors.
    floor = 1e-12 * np.abs(upper(K)).max()
    return np.max(np.abs(mean - upper(K)) / np.maximum(error, floor))


def variance_in_standard_errors(values, variance):
    """Return how far the measured variances are from the closed form, on average over pairs.

    The standard error is that of the mean over batches of draws.
    """
    wanted = upper(variance)
    live = wanted > 1e-12 * wanted.max()
    batches = np.array_split(values, N_BATCHES)
    ratios = np.array([(batch.var(axis=0, ddof=1)[live] / wanted[live]).mean() for batch in batches])
    return abs(ratios.mean() - 1) / (ratios.std(ddof=1) / np.sqrt(N_BATCHES))
