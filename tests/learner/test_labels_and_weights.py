"""Labels may be of any type and turn up late; weights count as repetitions."""

import numpy as np
import pytest
from sklearn.base import clone

from tests.learner.examples import classifier, curve, labelled_rows, regressor

LABELS = {
    "strings": ["a", "bcd", "ef"],
    "objects": np.array(["a", "bcd", "ef"], dtype=object),
    "negative integers": [-7, -1, 3],
    "small unsigned": np.array([0, 200, 255], dtype=np.uint8),
    "floats that are integers": [0.0, 1.0, 2.0],
    "bools": [False, True],
    "dates": np.array(["2020-01-01", "2021-06-01", "2022-01-31"], dtype="M8[D]"),
}


def as_labels(y, names):
    names = np.asarray(names)
    codes = np.unique(y, return_inverse=True)[1]
    return names[np.minimum(codes, len(names) - 1)]


@pytest.mark.parametrize("case", LABELS)
@pytest.mark.parametrize("code", ["one-vs-rest", "random", "hadamard"])
def test_type_of_labels(case, code):
    X, y = labelled_rows()
    y = as_labels(y, LABELS[case])
    model = classifier(code=code).fit(X, y)
    plain = classifier(code=code, cv=None, alphas=1e-2).fit(X, np.unique(y, return_inverse=True)[1])
    np.testing.assert_array_equal(model.classes_, LABELS[case])
    predicted = model.predict(X)
    assert predicted.dtype == y.dtype
    assert np.mean(predicted == y) > 0.6
    model.set_params(cv=None, alphas=1e-2).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.classes_[plain.predict(X)])


@pytest.mark.parametrize("dtype", [float, bool, np.uint8])
def test_equal_numbers_of_another_type_are_the_same_labels_when_rows_are_held_out(dtype):
    X, y = labelled_rows()
    y = (y == "ant").astype(int)
    model = classifier().partial_fit(X, y).partial_fit(X, y.astype(dtype))
    model.partial_fit(X[:1], [2.0])  # from here on all labels are floats
    assert len(model.partial_fit(X, y).tally_.held_out) == len(X) + 1


def test_new_labels_in_a_later_block():
    X, y = labelled_rows()
    y = np.where(y == "ant", "a much longer name", y)
    alphas = [1e-4, 1e-2]  # a larger one would never predict the rarest label
    whole = classifier(alphas=alphas).fit(X, y)
    model = classifier(alphas=alphas)
    for label in ("bee", "a much longer name", "cricket"):
        model.partial_fit(X[y == label], y[y == label])
    assert_same_model(model.finish(), whole)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    assert set(model.predict(X)) == set(y)


def test_new_labels_after_a_look_at_the_model():
    X, y = labelled_rows()
    early = y != "ant"
    model = classifier().partial_fit(X[early], y[early])
    assert model.predict_proba(X).shape == (240, 2)
    assert model.decision_function(X).shape == (240,)
    model.partial_fit(X[~early], y[~early])
    assert model.predict_proba(X).shape == (240, 3)
    assert_same_model(model, classifier().fit(X, y))


def test_labels_of_one_worker_only():
    X, y = labelled_rows()
    parts = [classifier().partial_fit(X[y == label], y[y == label]) for label in ("cricket", "ant", "bee")]
    assert_same_model(parts[0].merge(parts[1]).merge(parts[2]).finish(), classifier().fit(X, y))


def test_classes_named_beforehand():
    X, y = labelled_rows()
    early = y != "ant"
    model = classifier().partial_fit(X[early], y[early], classes=["ant", "bee", "cricket", "dragonfly"])
    np.testing.assert_array_equal(model.classes_, ["ant", "bee", "cricket", "dragonfly"])
    assert model.predict_proba(X).shape == (240, 4)
    assert not np.isin(model.predict(X), ["ant", "dragonfly"]).any()
    model.partial_fit(X[~early], y[~early])
    np.testing.assert_array_equal(model.predict(X), classifier().fit(X, y).predict(X))


def test_words_and_numbers_are_not_the_same_labels():
    """NumPy would turn the number 1 into the word '1' without a word."""
    X, y = labelled_rows()
    model = classifier().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises((TypeError, ValueError), match=r"label|class|type"):
        model.partial_fit(X, np.arange(240) % 2)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    with pytest.raises((TypeError, ValueError), match=r"label|class|type"):
        model.partial_fit(X, y, classes=[1, 2])
    np.testing.assert_array_equal(model.predict_proba(X), before)


def assert_same_model(one, two, rtol=1e-8):
    np.testing.assert_array_equal(one.classes_, two.classes_)
    np.testing.assert_allclose(one.alpha_, two.alpha_, rtol=1e-12)
    scale = np.abs(two.coef_).max()
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=rtol, atol=rtol * scale)
    np.testing.assert_allclose(one.intercept_, two.intercept_, rtol=rtol, atol=rtol * scale)


def test_weights_of_a_classifier_are_repetitions():
    """But copies are held out one by one, as a random split would, and a row of some weight is held out whole."""
    X, y = labelled_rows()
    weight = np.random.default_rng(8).integers(0, 4, 240)
    settings = {"cv": None, "alphas": 1e-3}
    weighted = classifier(**settings).fit(X, y, sample_weight=weight)
    repeated = classifier(**settings).fit(X.repeat(weight, axis=0), y.repeat(weight))
    assert_same_model(weighted, repeated)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-6)
    assert not np.allclose(weighted.coef_, classifier(**settings).fit(X, y).coef_, rtol=1e-3)


def test_weights_of_a_regressor_are_repetitions():
    X, y = curve()
    weight = np.random.default_rng(8).integers(0, 4, 240)
    fixed = regressor(cv=None, alphas=1e-3)
    weighted = clone(fixed).partial_fit(X[:90], y[:90], weight[:90]).partial_fit(X[90:], y[90:], weight[90:])
    repeated = clone(fixed).fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(weighted.alpha_, repeated.alpha_, rtol=1e-12)


def test_a_block_of_no_weight_counts_as_nothing():
    X, y = labelled_rows()
    weights = [np.zeros(80), np.ones(80), np.zeros(80)]
    blocks = [(X[i::3], y[i::3], weight) for i, weight in enumerate(weights)]
    assert_same_model(classifier().fit_stream(blocks), classifier().fit(X[1::3], y[1::3]))
    with pytest.raises(ValueError, match="sample_weight must not be all zero"):
        classifier().fit(X, y, np.zeros(240))
    with pytest.raises(ValueError, match="at least one block of rows"):
        classifier().fit_stream(blocks[:1])


def test_a_label_of_no_weight_is_no_label():
    X, y = labelled_rows()
    model = classifier().fit(X, y, sample_weight=(y != "bee").astype(float))
    np.testing.assert_array_equal(model.classes_, ["ant", "cricket"])
    assert model.n_rows_seen_ == np.sum(y != "bee")


def test_weights_in_a_stream():
    X, y = labelled_rows()
    weight = np.random.default_rng(8).integers(1, 4, 240)
    stream = [(X[i : i + 50], y[i : i + 50], weight[i : i + 50]) for i in range(0, 240, 50)]
    assert_same_model(classifier().fit_stream(stream), classifier().fit(X, y, weight))
