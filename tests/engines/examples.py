"""Rows, settings and comparisons that the tests of all engines share."""

import numpy as np

from craftmaps import Polynomial

SMALL = {"n_components": 48, "cv": 3, "alphas": [1e-4, 1e-2, 1.0], "random_state": 0}
EXPLICIT = SMALL | {"kernel": Polynomial(2), "metric": None}
SETTINGS = {
    "automatic": SMALL,
    "explicit": EXPLICIT,
    "covariance": SMALL | {"kernel": Polynomial(3), "metric": "covariance", "holdout_rows": 100},
}


def labelled_rows(n_rows=450, width=6, seed=0):
    """Return rows, some of them copies with other labels, and three labels that no linear rule gets right."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, width))
    X[-(n_rows // 8) :] = X[: n_rows // 8]
    score = X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=n_rows)
    return X, np.array(["ant", "bee", "cricket"])[np.digitize(score, [-0.5, 0.5])]


def assert_same_model(one, other, tolerance=1e-8):
    """Assert that choices, held-out rows, alpha, loss and errors are the same, and coefficients but for rounding."""
    assert repr(one.choices_) == repr(other.choices_)
    assert getattr(one, "loss_", None) == getattr(other, "loss_", None)
    np.testing.assert_allclose(one.cv_results_["error_by_fold"], other.cv_results_["error_by_fold"], rtol=tolerance)
    assert one.n_rows_seen_ == other.n_rows_seen_
    np.testing.assert_array_equal(one.tally_.held_out.sample.hashes, other.tally_.held_out.sample.hashes)
    np.testing.assert_array_equal(one.tally_.held_out.sample.count, other.tally_.held_out.sample.count)
    assert (
        one.cv_results_["alpha"][one.cv_results_["chosen"]] == other.cv_results_["alpha"][other.cv_results_["chosen"]]
    )
    np.testing.assert_allclose(one.alpha_, other.alpha_, rtol=tolerance / 100)
    assert np.abs(one.coef_ - other.coef_).max() <= tolerance * np.abs(other.coef_).max()
