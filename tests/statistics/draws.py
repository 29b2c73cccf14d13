"""Draw a map many times and judge its estimates by their own standard errors.

A check returns how many standard errors the worst deviation has; the tests ask for less than
`LIMIT`, and `tests/power` shows that wrong maps exceed it.
"""

import numpy as np

from craftmaps import RandomMaclaurin
from craftmaps._rows.randomness import child_seed
from craftmaps.maps.feature_map import SeededMap

LIMIT = 5.0
N_BATCHES = 25


def some_rows(n_rows=6, width=12):
    """Return rows of about unit length with positive and negative inner products."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, width)) + 0.5
    return X / np.linalg.norm(X, axis=1, keepdims=True) * rng.uniform(0.8, 1.1, size=(n_rows, 1))


def estimates(make, X, n_draws):
    """Return the kernel estimates of n_draws maps, one upper triangle a row.

    A fit costs several times as much as a draw, and does the same for every seed but for degrees that are drawn. So
    a map that is unbiased for the degrees of one fit is fitted once and drawn again, any other is fitted every time.
    """
    feature_map = make(0).fit(X)
    if is_unbiased_as_allocated(feature_map):
        return estimates_of_one_fit(feature_map, X, n_draws)
    return _triangles(make(seed).fit_transform(X) for seed in range(n_draws))


def estimates_of_one_fit(feature_map, X, n_draws):
    """Return the kernel estimates of n_draws draws of a fitted map, one upper triangle a row."""
    # The fit has validated the rows, which takes as long as mapping them.
    return _triangles(draw_again(feature_map, seed)._transform_rows(X) for seed in range(n_draws))


def draw_again(feature_map, seed):
    """Draw a fitted map from another seed, for what its fit has learned from rows."""
    _restore(feature_map, seed)
    feature_map._draw()
    return feature_map


def is_unbiased_as_allocated(feature_map):
    """Tell whether the features of every degree add up to its coefficient, so that no degree was left to chance."""
    feature_map = getattr(feature_map, "up_", feature_map)
    if not isinstance(feature_map, RandomMaclaurin):
        return True
    shares = feature_map.shares_
    wanted = np.where(shares.weights > 0, shares.coefficients, 0.0)
    return np.allclose(shares.counts * shares.weights, wanted, rtol=1e-12, atol=0)


def _restore(feature_map, seed):
    """Give a map and the up-projection in it the seeds of a fit."""
    if isinstance(getattr(feature_map, "up_", None), SeededMap):
        _restore(feature_map.up_, child_seed(seed, "up"))
    feature_map.random_state = seed
    feature_map._restore(feature_map.n_features_in_, feature_map._state())


def _triangles(features):
    return np.array([upper(Z @ Z.T) for Z in features])


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
