"""Rows in many places give the model that one fit on all of them gives."""

import numpy as np
import pytest

from craftmaps import CraftClassifier, CraftRegressor, Polynomial
from craftmaps.learners.partitions import finished, prepared, settled_on, survey_part, tally_part

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 5))
X[300:] = X[:100]  # copies, some with other labels
Y = np.array(["x", "y", "z"])[np.digitize(X[:, 0] * X[:, 1] + 0.4 * RNG.normal(size=400), [-0.5, 0.5])]
SMALL = {"n_components": 24, "cv": 3, "alphas": [1e-4, 1e-2, 1.0], "random_state": 0}
SETTINGS = {
    "explicit": SMALL | {"kernel": Polynomial(2), "metric": None},
    "automatic": SMALL,
    "landmarks": SMALL | {"kernel": Polynomial(5), "metric": "covariance", "feature_map": "landmarks"},
    "few held out": SMALL | {"kernel": Polynomial(2), "metric": None, "holdout_rows": 60},
}
CUTS = {
    "one": [],
    "two": [200],
    "four": [10, 11, 300],
    "seven, some empty": [0, 50, 50, 120, 399, 400],
}


def learned(model, X, y, cuts, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    parts = [(X[rows], y[rows], weight[rows]) for rows in np.split(np.arange(len(y)), cuts)]
    ready = prepared(model)
    surveys = [survey for survey in (survey_part(ready, *part) for part in parts) if survey is not None]
    settled = settled_on(ready, sum(surveys[1:], surveys[0]))
    tallies = [tally_part(settled, *part) for part in parts]
    total = tallies[0]
    for tally in tallies[1:]:
        total += tally
    return finished(model, settled, total)


def assert_same(one, other):
    np.testing.assert_allclose(one.alpha_, other.alpha_, rtol=1e-10)
    np.testing.assert_array_equal(one.tally_.held_out.sample.hashes, other.tally_.held_out.sample.hashes)
    assert np.abs(one.coef_ - other.coef_).max() <= 1e-8 * np.abs(other.coef_).max()
    assert repr(one.choices_) == repr(other.choices_)
    assert one.n_rows_seen_ == other.n_rows_seen_


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("cuts", CUTS)
def test_classes(settings, cuts):
    model = learned(CraftClassifier(loss="squared", **SETTINGS[settings]), X, Y, CUTS[cuts])
    whole = CraftClassifier(loss="squared", **SETTINGS[settings]).fit(X, Y)
    assert_same(model, whole)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


@pytest.mark.parametrize("settings", ["explicit", "automatic"])
def test_numbers_in_another_order_with_weights(settings):
    order = RNG.permutation(400)
    y, weight = X[:, 0] * X[:, 1], RNG.integers(0, 3, 400).astype(float)
    model = learned(CraftRegressor(**SETTINGS[settings]), X[order], y[order], [100, 350], weight[order])
    assert_same(model, CraftRegressor(**SETTINGS[settings]).fit(X, y, weight))


def test_a_label_in_one_place_only():
    order = np.argsort(Y, kind="stable")
    assert_same(
        learned(CraftClassifier(loss="squared", **SMALL), X[order], Y[order], [50, 390]),
        CraftClassifier(loss="squared", **SMALL).fit(X, Y),
    )


def test_no_rows_and_one_class():
    ready = prepared(CraftClassifier(loss="squared", **SMALL))
    assert survey_part(ready, X[:0], Y[:0]) is None
    with pytest.raises(ValueError, match="at least one row with a positive weight, got none"):
        settled_on(ready, None)
    with pytest.raises(ValueError, match="at least 2 classes"):
        settled_on(ready, survey_part(ready, X, np.full(400, "x")))
    with pytest.raises(ValueError, match="the same n_features_in_, got 5 and 3"):
        survey_part(ready, X, Y) + survey_part(ready, X[:, :3], Y)
