"""Matrix scaling: scores corrected by left-out rows, where these call for it and nowhere else."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.metrics import log_loss

from craftmaps import CraftClassifier, Polynomial, load_model
from craftmaps.learners.calibration import calibrate
from craftmaps.learners.persistence import container as model_file
from tests.learner.examples import classifier

LINEAR = {"kernel": Polynomial(1), "feature_map": None, "metric": None, "normalize": False}


def masked(n_rows=2000, seed=0):
    """Return three classes side by side: of linear least squares the one in the middle is never the largest."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n_rows)
    X = np.c_[labels - 1 + 0.2 * rng.normal(size=n_rows), rng.normal(size=n_rows)]
    return X, np.array(["left", "middle", "right"])[labels]


def scored(n_rows=900, n_classes=4, seed=0):
    """Return scores that are a mixture of what they should be, labels and weights."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n_rows, n_classes))
    labels = (truth + 0.5 * rng.gumbel(size=truth.shape)).argmax(axis=1)
    mixture = np.eye(n_classes) + 0.4 * rng.normal(size=(n_classes, n_classes))
    return truth @ mixture / 4 + 0.1, labels, rng.random(n_rows) + 0.5


def surprise(calibration, scores, labels, weight):
    """Return what is minimised, the slow way: each row's surprise, and how far matrix and offset are from none."""
    k = scores.shape[1]
    matrix = np.eye(k) if calibration.matrix is None else calibration.matrix
    offset = np.zeros(k) if calibration.offset is None else calibration.offset
    total = 0.0
    for row, label, w in zip(scores, labels, weight / weight.mean(), strict=True):
        total -= w * log_softmax(calibration.factor * (row @ matrix + offset))[label]
    return total + 5.0 * (((matrix - np.eye(k)) ** 2).sum() + ((calibration.factor * offset) ** 2).sum())


def test_matrix_and_offset_are_the_best_ones():
    scores, labels, weight = scored()
    found = calibrate(scores, labels, weight, "matrix")
    plain = calibrate(scores, labels, weight, "temperature")
    assert plain.matrix is None
    assert found.factor == pytest.approx(plain.factor, rel=0.01)
    best = surprise(found, scores, labels, weight)
    assert best < surprise(plain, scores, labels, weight) - 20
    rng = np.random.default_rng(1)
    for size in (0.03, 0.3):
        for _ in range(10):
            other = found._replace(
                matrix=found.matrix + size * rng.normal(size=(4, 4)),
                offset=found.offset + size * rng.normal(size=4) / found.factor,
            )
            assert surprise(other, scores, labels, weight) > best
    for factor in (0.9, 1.1):
        other = plain._replace(factor=factor * plain.factor)
        assert surprise(other, scores, labels, weight) > surprise(plain, scores, labels, weight)


def test_only_ratios_of_weights_count():
    scores, labels, weight = scored()
    once, scaled = (calibrate(scores, labels, w, "matrix") for w in (weight, 1e6 * weight))
    np.testing.assert_allclose(scaled.matrix, once.matrix, rtol=0, atol=1e-6)
    other = calibrate(scores, labels, np.where(labels == 0, 5.0, 1.0), "matrix")
    assert np.abs(other.matrix - once.matrix).max() > 0.01


def test_a_masked_class_is_found():
    X, y = masked()
    new_X, new_y = masked(seed=1)
    plain = classifier(**LINEAR).fit(X, y)
    matrix = classifier(**LINEAR, calibration="matrix").fit(X, y)
    assert plain.calibration_.matrix is None
    assert plain.score(new_X, new_y) < 0.75
    assert matrix.score(new_X, new_y) > 0.95
    np.testing.assert_array_equal(matrix.coef_, plain.coef_)
    probabilities = matrix.predict_proba(new_X)
    assert log_loss(new_y, probabilities) < log_loss(new_y, plain.predict_proba(new_X)) / 2
    for labels in (probabilities.argmax(axis=1), matrix.decision_function(new_X).argmax(axis=1)):
        np.testing.assert_array_equal(matrix.classes_[labels], matrix.predict(new_X))


def test_two_classes():
    X, y = masked()
    y = np.where(y == "left", "left", "other")
    model = classifier(**LINEAR, calibration="matrix").fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == "other")
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1] > 0.5, model.predict(X) == "other")


@pytest.mark.parametrize(
    ("change", "has_matrix"),
    [
        ({"metric": "auto", "loss": "squared"}, True),
        ({"metric": "auto"}, False),  # the logistic loss masks no class
        ({"metric": "auto", "calibration": "temperature"}, False),
        ({}, False),  # explicit kernel and metric: least squares has the last word
        ({"metric": "auto", "cv": None, "alphas": 1e-3}, False),
    ],
)
def test_auto_is_for_those_who_leave_choices_to_the_library(change, has_matrix):
    model = classifier(**(LINEAR | change)).fit(*masked())
    assert (model.calibration_.matrix is not None) is has_matrix


def test_auto_wants_rows_that_say_so(monkeypatch):
    scores, labels, weight = scored()
    assert calibrate(scores, labels, weight, "auto").matrix is not None
    few = slice(0, 499)
    assert calibrate(scores[few], labels[few], weight[few], "auto").matrix is None
    # Where scores are right already, what a matrix learns is noise.
    rng = np.random.default_rng(0)
    right = rng.normal(size=(600, 4))
    calm = [
        calibrate(right, (right + rng.gumbel(size=right.shape)).argmax(axis=1), np.ones(600), "auto").matrix is None
        for _ in range(20)
    ]
    assert sum(calm) > 10
    assert calibrate(scores, labels, weight, "auto", most_classes=3).matrix is None


def test_many_classes_want_two_rows_for_each_number_of_a_matrix():
    scores, labels, weight = scored(n_rows=1200, n_classes=24)
    assert calibrate(scores, labels, weight, "auto", n_rows=2 * 24**2).matrix is not None
    assert calibrate(scores, labels, weight, "auto", n_rows=2 * 24**2 - 1).matrix is None


def test_auto_takes_no_matrix_that_makes_rows_likelier_and_more_of_them_wrong():
    """Scores are right already, but for an offset that makes labels likelier: what a matrix adds is mostly noise."""
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(20):
        truth = rng.normal(size=(2000, 3))
        labels = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
        scores, weight, aside = truth + 0.05 * rng.normal(size=(3, 1)).T, np.ones(2000), np.arange(2000) % 4 == 0
        rest = calibrate(scores[~aside], labels[~aside], weight[~aside], "matrix")
        corrected = [s[aside] for s in (scores, rest.corrected(scores))]
        wrong = [(s.argmax(axis=1) != labels[aside]).sum() for s in corrected]
        found = calibrate(scores, labels, weight, "auto", aside=aside)
        if wrong[1] > wrong[0]:
            refused += 1
            assert found.matrix is None
    assert refused > 3


def test_alpha_is_chosen_by_least_squares_again_and_again():
    X, y = masked()
    model = classifier(**LINEAR, calibration="matrix").fit(X, y)
    errors, matrix = model.cv_results_["mean_error"].copy(), model.calibration_.matrix
    model.finish()
    np.testing.assert_array_equal(model.cv_results_["mean_error"], errors)
    np.testing.assert_array_equal(model.calibration_.matrix, matrix)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-5), ("float16", 1e-1)])
def test_model_files(tmp_path, dtype, tolerance):
    X, y = masked()
    model = CraftClassifier(n_components=32, random_state=0, calibration="matrix", cv=3).fit(X, y)
    model.save(tmp_path / "model", dtype=dtype)
    again = load_model(tmp_path / "model")
    assert again.calibration_.matrix.dtype == np.float64
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=0, atol=tolerance)


def test_a_matrix_of_other_classes_is_refused(tmp_path):
    X, y = masked()
    classifier(calibration="matrix").fit(X, y).save(tmp_path / "model")
    header = model_file.read(tmp_path / "model")
    header["calibration"]["matrix"] = np.eye(4)
    model_file.write(tmp_path / "wrong", header)
    with pytest.raises(model_file.ModelFileError, match=r"calibration.matrix must be an array of 3 x 3"):
        load_model(tmp_path / "wrong")


def test_refusals():
    X, y = masked(100)
    with pytest.raises(ValueError, match="calibration must be one of 'auto', 'temperature', 'matrix', got 'foo'"):
        classifier(calibration="foo").fit(X, y)
    with pytest.raises(ValueError, match="cv must be set for calibration='matrix'"):
        classifier(calibration="matrix", cv=None, alphas=1.0).fit(X, y)
