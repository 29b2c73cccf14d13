"""Rows, labels and settings that the tests of the learners share."""

from itertools import pairwise

import numpy as np

from craftmaps import CraftClassifier, CraftRegressor, Polynomial

# Nothing depends on rows: maps are drawn from the seed alone.
EXPLICIT = {
    "kernel": Polynomial(2),
    "n_components": 32,
    "metric": None,
    "alphas": [1e-4, 1e-2, 1.0],
    "cv": 3,
    "random_state": 0,
}
# Everything is settled on the first rows.
AUTO = {"n_components": 24, "alphas": [1e-4, 1e-2, 1.0], "cv": 3, "random_state": 0}


def labelled_rows(n_rows=240, width=6, seed=0):
    """Return rows of mixed scales and three labels that no linear rule gets right."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, width))
    labels = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5)
    return X, np.array(["ant", "bee", "cricket"])[labels]


def curve(n_rows=240, seed=0):
    """Return rows and a nonlinear function of them with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, X[:, 0] * X[:, 1] + X[:, 2] ** 2 + 0.1 * rng.normal(size=n_rows)


def classifier(**changes):
    """Return a small classifier that needs no rows to be settled."""
    return CraftClassifier(**{**EXPLICIT, **changes})


def regressor(**changes):
    """Return a small regressor that needs no rows to be settled."""
    return CraftRegressor(**{**EXPLICIT, **changes})


def blocks_of(X, y, bounds):
    """Cut rows and targets at the bounds."""
    edges = [0, *bounds, X.shape[0]]
    return [(X[start:stop], y[start:stop]) for start, stop in pairwise(edges)]
