"""Estimators that did not do the same are not merged; the difference is named, and both stay as they were."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from craftmaps import CraftClassifier, CraftRegressor, Polynomial
from tests.learner.examples import AUTO, classifier, curve, labelled_rows, regressor

X, Y = labelled_rows()

DIFFERENT = {
    "kernel": {"kernel": Polynomial(3)},
    "coef0": {"kernel": Polynomial(2, coef0=0.5)},
    "n_components": {"n_components": 33},
    "feature_map": {"feature_map": "maclaurin"},
    "up_components": {"up_components": 100},
    "metric": {"metric": "covariance"},
    "normalize": {"normalize": False},
    "code": {"code": "random"},
    "decoding": {"decoding": "hamming"},
    "alphas": {"alphas": [1e-4, 1e-2]},
    "cv": {"cv": 4},
    "holdout_rows": {"holdout_rows": 50},
    "fit_intercept": {"fit_intercept": False},
    "seed_": {"random_state": 1},
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_parameters(case):
    one = classifier().fit(X[:120], Y[:120])
    other = classifier(**DIFFERENT[case]).partial_fit(X[120:], Y[120:])
    before = one.predict_proba(X)
    name = "kernel" if case == "coef0" else case
    with pytest.raises(ValueError, match=f"must have the same {name} to be merged, got .+ and .+"):
        one.merge(other)
    np.testing.assert_array_equal(one.predict_proba(X), before)
    assert (one.n_rows_seen_, other.n_rows_seen_) == (120, 120)


def test_columns_in_another_order():
    names = [f"column {i}" for i in range(X.shape[1])]
    one = classifier().partial_fit(pd.DataFrame(X[:120], columns=names), Y[:120])
    other = classifier().partial_fit(pd.DataFrame(X[120:, ::-1], columns=names[::-1]), Y[120:])
    with pytest.raises(ValueError, match="must have seen the same columns in the same order to be merged, got"):
        one.merge(other)
    assert one.merge(classifier().partial_fit(X[120:], Y[120:])).n_rows_seen_ == 240  # no names are no others


def test_what_does_not_matter():
    one = classifier(batch_rows=10, verbose=0).fit(X[:120], Y[:120])
    one.merge(classifier(batch_rows=50, verbose=1).fit(X[120:], Y[120:]))
    assert one.finish().n_rows_seen_ == 240


def test_long_codes_that_differ_in_the_middle():
    """Arrays of more than 1,000 numbers are shown in part only, so their text does not tell."""
    code = np.random.default_rng(0).choice([-1.0, 1.0], (3, 600))
    changed = code.copy()
    changed[1, 300] *= -1
    one = classifier(code=code).partial_fit(X, Y)
    with pytest.raises(ValueError, match="must have the same code to be merged"):
        one.merge(classifier(code=changed).partial_fit(X, Y))


def test_widths():
    one = classifier().partial_fit(X, Y)
    with pytest.raises(ValueError, match="the same n_features_in_ to be merged, got 6 and 4"):
        one.merge(classifier().partial_fit(X[:, :4], Y))


@pytest.mark.parametrize(
    ("settings", "part"),
    [({"metric": "covariance"}, "metric"), ({"feature_map": "landmarks", "n_components": 20}, "feature_map")],
    ids=["metric", "landmarks"],
)
def test_settled_on_different_rows(settings, part):
    one = classifier(**settings).fit(X[:120], Y[:120])
    other = classifier(**settings).fit(X[120:], Y[120:])
    before = one.predict_proba(X)
    with pytest.raises(ValueError, match=f"differ in {part}: they were settled on different rows"):
        one.merge(other)
    np.testing.assert_array_equal(one.predict_proba(X), before)
    assert one.n_rows_seen_ == 120


def test_settled_on_different_rows_automatically():
    one, other = (CraftClassifier(**AUTO).fit(X[part], Y[part]) for part in (slice(0, 120), slice(120, 240)))
    with pytest.raises(ValueError, match="settled on different rows"):
        one.merge(other)


def test_what_is_not_settled_yet_follows_what_is():
    settings = {"metric": "covariance"}
    settled = classifier(**settings).fit(X[:120], Y[:120])
    for one, other in (("settled", "open"), ("open", "settled")):
        parts = {
            "settled": classifier(**settings).fit(X[:120], Y[:120]),
            "open": classifier(**settings).partial_fit(X[120:], Y[120:]),
        }
        merged = parts[one].merge(parts[other]).finish()
        expected = classifier(**settings).fit(X[:120], Y[:120]).partial_fit(X[120:], Y[120:]).finish()
        np.testing.assert_allclose(
            merged.features_.metric.components_, settled.features_.metric.components_, rtol=1e-12
        )
        np.testing.assert_allclose(merged.decision_function(X), expected.decision_function(X), rtol=1e-8, atol=1e-8)
        assert merged.n_rows_seen_ == 240


def test_another_kind_of_estimator():
    with pytest.raises(TypeError, match="other must be a CraftClassifier, got CraftRegressor"):
        classifier().fit(X, Y).merge(regressor().fit(X, X[:, 0]))


def test_nothing_seen_yet():
    with pytest.raises(NotFittedError):
        classifier().merge(classifier().fit(X, Y))
    with pytest.raises(NotFittedError):
        classifier().fit(X, Y).merge(classifier())


@pytest.mark.parametrize("settings", [{}, {"metric": "covariance"}], ids=["settled", "waiting"])
def test_regressors_of_other_targets(settings):
    rows, y = curve()
    one = CraftRegressor(**{**AUTO, "kernel": Polynomial(2), "metric": None, **settings}).partial_fit(rows, y)
    other = CraftRegressor(**one.get_params(deep=False)).partial_fit(rows, np.c_[y, y])
    with pytest.raises(ValueError, match=r"1 targets .*got 2"):
        one.merge(other)
    assert one.n_rows_seen_ == 240
    np.testing.assert_array_equal(
        one.predict(rows), CraftRegressor(**one.get_params(deep=False)).fit(rows, y).predict(rows)
    )


@pytest.mark.parametrize("settings", [{}, {"metric": "covariance"}], ids=["settled", "waiting"])
def test_labels_of_another_type(settings):
    one = classifier(**settings).partial_fit(X, Y)
    with pytest.raises((TypeError, ValueError), match=r"label|class|type"):
        one.merge(classifier(**settings).partial_fit(X, np.arange(240) % 3))
    assert one.n_rows_seen_ == 240
    np.testing.assert_array_equal(one.finish().classes_, np.unique(Y))
