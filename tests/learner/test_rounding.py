"""Last digits, which another processor or precision may change, do not change the draw of a map."""

import numpy as np
import pytest

from craftmaps import CraftClassifier, CraftMap, LandmarkMap, Polynomial, RandomMaclaurin, datasets
from craftmaps.maps.feature_map import fit_in_order
from craftmaps.shaping.covariance_metric import LinearMetric

DIGITS = datasets.load("digits")
X, Y = (DIGITS.X_train / 60).astype(np.float32), DIGITS.y_train
CHANGED = X * (1 + np.random.default_rng(0).choice([-1e-7, 0.0, 1e-7], X.shape)).astype(np.float32)


def counts(feature_map):
    return getattr(feature_map, "up_", feature_map).degree_counts_


@pytest.mark.parametrize("map_class", [RandomMaclaurin, CraftMap])
def test_rows_in_order_have_the_same_degrees_whatever_their_last_digits(map_class):
    def drawn():
        return map_class(Polynomial(5), 512, random_state=0)

    assert (CHANGED != X).any(axis=1).mean() > 0.9
    np.testing.assert_array_equal(counts(fit_in_order(drawn(), X)), counts(fit_in_order(drawn(), CHANGED)))
    # The rows with the smallest hashes are others as soon as a digit is.
    assert (counts(drawn().fit(X)) != counts(drawn().fit(CHANGED))).any()


def test_landmarks_in_order_are_the_same_rows():
    landmarks = LandmarkMap(Polynomial(3), 100, random_state=0)
    np.testing.assert_array_equal(fit_in_order(landmarks, X).landmarks_, X[:100])
    twice = np.repeat(X[:60], 2, axis=0)
    np.testing.assert_array_equal(fit_in_order(LandmarkMap(Polynomial(3), 50), twice).landmarks_, X[:50])


def test_choices_and_map_of_a_learner_do_not_depend_on_last_digits(monkeypatch):
    parameters = {"n_components": 128, "alphas": [1e-4, 1e-2], "random_state": 0}
    exact = LinearMetric._transform_rows
    generator = np.random.default_rng(1)

    def rounded_otherwise(self, rows):
        shaped = exact(self, rows)
        return shaped * (1 + generator.choice([-1e-7, 0.0, 1e-7], shaped.shape)).astype(shaped.dtype)

    one = CraftClassifier(**parameters).fit(X, Y)
    monkeypatch.setattr(LinearMetric, "_transform_rows", rounded_otherwise)
    other = CraftClassifier(**parameters).fit(X, Y)
    np.testing.assert_array_equal(counts(one.features_.feature_map), counts(other.features_.feature_map))
    errors, other_errors = ([trial[:2] for trial in model.choices_.trials] for model in (one, other))
    errors, other_errors = dict(errors), dict(other_errors)
    assert errors.keys() == other_errors.keys()
    # A row on the edge may fall to the other side; another draw of the map would move many.
    n_scored = len(Y) / 2
    assert all(abs(errors[name] - other_errors[name]) * n_scored < 2.5 for name in errors)


def test_the_map_of_a_learner_is_the_same_in_both_precisions():
    parameters = {"kernel": Polynomial(5), "n_components": 300, "metric": None, "alphas": [1e-4], "random_state": 0}
    single, double = (CraftClassifier(**parameters).fit(rows, Y).features_.feature_map for rows in (X, X.astype(float)))
    np.testing.assert_array_equal(counts(single), counts(double))
