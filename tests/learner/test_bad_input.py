"""What a learner cannot use is refused with a clear error, and an earlier model still works."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

from craftmaps import CraftClassifier, CraftRegressor
from tests.learner.examples import AUTO, classifier, curve, labelled_rows, regressor

X, Y = labelled_rows()
SPOILT = X.copy()
SPOILT[3, 4] = np.nan
NEGATIVE = np.ones(240)
NEGATIVE[7] = -1.0

BAD_PARAMETERS = {
    "kernel": ({"kernel": "poly"}, TypeError, "kernel must be 'auto' or a kernel of this library, got 'poly'"),
    "width": ({"n_components": 0}, ValueError, "n_components == 0"),
    "fractional width": ({"n_components": 2.5}, TypeError, "n_components must be an instance of"),
    "map": ({"feature_map": "foo"}, ValueError, "feature_map must be one of .*'landmarks', None, got 'foo'"),
    "metric": (
        {"metric": "foo"},
        ValueError,
        "metric must be one of .*'gradient', None, got 'foo'",
    ),
    "normalize": (
        {"normalize": "yes"},
        ValueError,
        "normalize must be 'auto', True, False or a positive number, got 'yes'",
    ),
    "negative alpha": ({"alphas": [1.0, -1.0]}, ValueError, r"alphas must be .* none negative, got \[1.0, -1.0\]"),
    "one negative alpha": ({"alphas": -1.0}, ValueError, "alphas must be .* none negative, got -1.0"),
    "NaN alpha": ({"alphas": [np.nan]}, ValueError, r"alphas must be finite numbers.*, got \[nan\]"),
    "no alphas": ({"alphas": []}, ValueError, r"alphas must be .*, got \[\]"),
    "alphas of text": ({"alphas": "abc"}, ValueError, "alphas must be .*, got 'abc'"),
    "one fold": ({"cv": 1}, ValueError, "cv == 1"),
    "no folds, no alpha": ({"cv": None, "alphas": None}, ValueError, "alphas must be a single number if cv is None"),
    "no folds, alphas": ({"cv": None, "alphas": [1, 2]}, ValueError, r"alphas must be a single .*, got \[1, 2\]"),
    "held-out rows": ({"holdout_rows": 1}, ValueError, "holdout_rows == 1"),
    "rows at a time": ({"batch_rows": 0}, ValueError, "batch_rows == 0"),
    "intercept": ({"fit_intercept": "no"}, ValueError, "fit_intercept must be one of True, False, got 'no'"),
    "seed": ({"random_state": -1}, ValueError, "random_state must be .*, got -1"),
}
OF_CODES = {
    "code": ({"code": "foo"}, ValueError, "code must be one of .*'hadamard' or an array, got 'foo'"),
    "code of zeros": ({"code": np.zeros((3, 4))}, ValueError, r"code must consist of \+1 and -1"),
    "code size": ({"code": "random", "code_size": 0}, ValueError, "code_size == 0"),
    "decoding": ({"decoding": "foo"}, ValueError, "decoding must be one of 'euclidean', .*, got 'foo'"),
}


@pytest.mark.parametrize("case", {**BAD_PARAMETERS, **OF_CODES})
def test_parameters_of_a_classifier(case):
    """They are refused before any row is counted: a stream may take hours."""
    changes, error, message = {**BAD_PARAMETERS, **OF_CODES}[case]
    with pytest.raises(error, match=message):
        classifier(**changes).fit(X, Y)
    with pytest.raises(error, match=message):
        classifier(**changes).partial_fit(X, Y)


@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_parameters_of_a_regressor(case):
    changes, error, message = BAD_PARAMETERS[case]
    with pytest.raises(error, match=message):
        regressor(**changes).partial_fit(X, X[:, 0])


BAD_ROWS = {
    "y None": ((X, None), "requires y to be passed, but the target y is None"),
    "NaN": ((SPOILT, Y), "Input X contains NaN"),
    "NaN in CSR": ((csr_matrix(SPOILT), Y), "contains NaN"),
    "other lengths": ((X, Y[:-1]), r"inconsistent numbers of samples: \[240, 239\]"),
    "continuous labels": ((X, X[:, 0]), "Unknown label type"),
    "two labels a row": ((X, np.c_[Y, Y]), "1d array|Unknown label type|multi"),
    "no rows": ((X[:0], Y[:0]), r"0 sample\(s\)"),
    "negative weight": ((X, Y, NEGATIVE), "sample_weight must be 240 finite numbers, none negative"),
    "too few weights": ((X, Y, np.ones(3)), r"sample_weight must be 240 .*got shape \(3,\)"),
}
ONLY_FIT = {
    "no weight": ((X, Y, np.zeros(240)), "weight.*(zero|positive)"),
    "one class": ((X, np.full(240, "ant")), "y must have at least 2 classes, got only one class"),
    "narrow rows and bad labels": ((X[:, :3], X[:, 0]), "Unknown label type"),
    "narrow rows and bad weights": ((X[:, :3], Y, NEGATIVE), "sample_weight must be"),
}


@pytest.mark.parametrize("case", {**BAD_ROWS, **ONLY_FIT})
def test_fit_refuses_and_the_earlier_model_still_works(case):
    arguments, message = {**BAD_ROWS, **ONLY_FIT}[case]
    model = classifier().fit(X, Y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=message):
        model.fit(*arguments)
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("case", {**BAD_ROWS, "width": ()})
def test_partial_fit_refuses_and_nothing_is_lost(case):
    bad = {**BAD_ROWS, "width": ((X[:, :4], Y), "X has 4 features, but CraftClassifier is expecting 6")}
    (rows, labels, *weight), message = bad[case]
    model = classifier().partial_fit(X[:150], Y[:150])
    with pytest.raises(ValueError, match=message):
        model.partial_fit(rows, labels, sample_weight=weight[0] if weight else None)
    model.partial_fit(X[150:], Y[150:])
    np.testing.assert_array_equal(model.predict_proba(X), reference().predict_proba(X))


def reference():
    return classifier().partial_fit(X[:150], Y[:150]).partial_fit(X[150:], Y[150:]).finish()


def test_one_class_so_far_is_no_model_yet_and_settles_nothing():
    first = Y == "ant"
    for settings in ({}, {**AUTO, "kernel": "auto", "metric": "auto", "loss": "squared"}):
        model = classifier(**settings).partial_fit(X[first], Y[first])
        with pytest.raises(ValueError, match=r"at least 2 classes, got only one class: .*ant"):
            model.predict(X)
        model.partial_fit(X[~first], Y[~first])
        expected = classifier(**settings).fit(X, Y)
        np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), rtol=1e-8, atol=1e-8)


def test_rows_that_wait_outlive_a_failed_finish():
    """A code for three classes cannot be solved for while only two have been seen."""
    late = Y == "cricket"
    for settings in ({}, {**AUTO, "kernel": "auto", "metric": "auto"}):
        model = classifier(code=2 * np.eye(3) - 1, **settings).partial_fit(X[~late], Y[~late])
        with pytest.raises(ValueError, match="code must have a row for each of 2 classes"):
            model.finish()
        assert model.partial_fit(X[late], Y[late]).finish().n_rows_seen_ == 240


@pytest.mark.parametrize("learner", [CraftClassifier, CraftRegressor])
def test_nothing_seen_yet(learner):
    for call in (lambda m: m.predict(X), lambda m: m.finish()):
        with pytest.raises(NotFittedError, match=f"This {learner.__name__} instance is not fitted yet"):
            call(learner())


def test_targets_of_another_shape_lose_nothing():
    rows, y = curve()
    for settings in ({}, {"metric": "covariance"}):
        model = regressor(**settings).partial_fit(rows[:200], y[:200])
        with pytest.raises(ValueError, match="y must have 1 targets as before, got 2"):
            model.partial_fit(rows, np.c_[y, y])
        model.partial_fit(rows[200:], y[200:, None])  # a column says the same as a row
        expected = regressor(**settings).fit(rows, y)
        np.testing.assert_allclose(np.ravel(model.predict(rows)), expected.predict(rows), rtol=1e-8, atol=1e-8)
