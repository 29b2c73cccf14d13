"""Scores, probabilities and predictions agree, and probabilities are calibrated."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from tests.learner.examples import classifier, labelled_rows

X, Y = labelled_rows(400)
TRAIN, TEST = slice(0, 300), slice(300, 400)
CODES = ("one-vs-rest", "random", "hadamard")
DECODINGS = ("euclidean", "hamming", "loss")


def labels(n_classes):
    return Y if n_classes == 3 else np.where(Y == "ant", "ant", "other")


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_probabilities(code, decoding, n_classes, dtype):
    y, rows = labels(n_classes), X.astype(dtype)
    model = classifier(code=code, decoding=decoding).fit(rows[TRAIN], y[TRAIN])
    probabilities = model.predict_proba(rows)
    assert probabilities.shape == (400, n_classes)
    assert probabilities.dtype == dtype
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=10 * np.finfo(dtype).eps)
    assert (probabilities >= 0).all()
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(rows))
    uniform = np.log(n_classes)
    assert log_loss(y[TEST], probabilities[TEST], labels=model.classes_) < uniform


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("decoding", DECODINGS)
def test_decision_function(code, decoding):
    model = classifier(code=code, decoding=decoding).fit(X[TRAIN], Y[TRAIN])
    scores = model.decision_function(X)
    assert scores.shape == (400, 3)
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("decoding", DECODINGS)
def test_decision_function_of_two_classes(code, decoding):
    """As everywhere in scikit-learn: positive where the second class is predicted."""
    y = labels(2)
    model = classifier(code=code, decoding=decoding).fit(X[TRAIN], y[TRAIN])
    scores = model.decision_function(X)
    assert scores.shape == (400,)
    predicted = model.predict(X)
    assert set(predicted) == {"ant", "other"}
    np.testing.assert_array_equal(predicted == "other", scores > 0)
    order = np.argsort(scores, kind="stable")
    assert (np.diff(model.predict_proba(X)[order, 1]) >= -1e-12).all()


def test_codes_of_one_bit_and_of_two_give_the_same_for_two_classes():
    y = labels(2)
    one = classifier().fit(X[TRAIN], y[TRAIN])
    assert one.coef_.shape == (1, 32)
    two = classifier(code=[[1, -1], [-1, 1]]).fit(X[TRAIN], y[TRAIN])
    assert two.coef_.shape == (2, 32)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_calibration_is_by_rows_left_out():
    """Labels that are noise for half of the rows: whoever trusts the fit is surprised by new rows."""
    rng = np.random.default_rng(3)
    y = np.where(rng.random(400) < 0.5, rng.permutation(Y), Y)
    model = classifier().fit(X[TRAIN], y[TRAIN])
    calibrated = log_loss(y[TEST], model.predict_proba(X[TEST]), labels=model.classes_)
    assert calibrated < np.log(3)
    scores = model.decision_function(X[TEST])
    for factor in (0.1, 10.0):
        powers = np.exp(scores * model.calibration_.factor * factor)
        assert log_loss(y[TEST], powers / powers.sum(axis=1, keepdims=True), labels=model.classes_) > calibrated


def test_probabilities_without_cross_validation():
    model = classifier(cv=None, alphas=1e-2).fit(X[TRAIN], Y[TRAIN])
    probabilities = model.predict_proba(X[TEST])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
    assert log_loss(Y[TEST], probabilities, labels=model.classes_) < np.log(3)


def test_better_than_a_linear_rule_and_than_guessing():
    mapped = classifier().fit(X[TRAIN], Y[TRAIN]).score(X[TEST], Y[TEST])
    linear = classifier(feature_map=None).fit(X[TRAIN], Y[TRAIN]).score(X[TEST], Y[TEST])
    commonest = np.unique(Y[TEST], return_counts=True)[1].max() / 100
    # Two standard errors of a share of 100 rows.
    assert mapped > max(linear, commonest) + 0.1
