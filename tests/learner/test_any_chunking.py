"""However rows arrive, the model is the same: fit, partial_fit, fit_stream, merge."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from craftmaps import CraftClassifier, CraftRegressor
from tests.learner.examples import AUTO, EXPLICIT, blocks_of, curve, labelled_rows

BOUNDS = {"one row first": [1], "halves": [120], "odd": [7, 50, 51, 199], "many": list(range(20, 240, 20))}
SETTINGS = {
    "explicit": EXPLICIT,
    "auto": AUTO | {"loss": "squared"},  # rows of a stream are looked at once
    "small blocks": {**EXPLICIT, "batch_rows": 13},
    "random code": {**EXPLICIT, "code": "random", "holdout_rows": 50},
    "covariance": {**EXPLICIT, "metric": "covariance"},
}
CASES = [
    *(("explicit", bounds) for bounds in BOUNDS),
    *((name, "odd") for name in ("small blocks", "random code", "covariance")),
]


def by_partial_fit(model, blocks):
    for X, y in blocks:
        model.partial_fit(X, y)
    return model.finish()


def by_stream(model, blocks):
    return model.fit_stream(iter(blocks))


def by_merging(order):
    def merged(model, blocks):
        workers = [pickle.loads(pickle.dumps(model)).partial_fit(X, y) for X, y in blocks]
        first, *others = workers[::order]
        for other in others:
            first.merge(other)
        return first.finish()

    return merged


def by_a_tree(model, blocks):
    workers = [pickle.loads(pickle.dumps(model)).partial_fit(X, y) for X, y in blocks]
    while len(workers) > 1:
        workers = [a.merge(b[0]) if b else a for a, *b in (workers[i : i + 2] for i in range(0, len(workers), 2))]
    return workers[0].finish()


WAYS = {
    "partial_fit": by_partial_fit,
    "stream": by_stream,
    "merge": by_merging(1),
    "merge backwards": by_merging(-1),
    "merge as a tree": by_a_tree,
}


def assert_same_model(one, two, rtol=1e-8):
    np.testing.assert_allclose(one.alpha_, two.alpha_, rtol=1e-12)
    np.testing.assert_array_equal(one.tally_.held_out.sample.hashes, two.tally_.held_out.sample.hashes)
    np.testing.assert_array_equal(one.tally_.held_out.sample.weight, two.tally_.held_out.sample.weight)
    scale = np.abs(two.coef_).max()
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=rtol, atol=rtol * scale)
    np.testing.assert_allclose(one.intercept_, two.intercept_, rtol=rtol, atol=rtol * scale)
    assert one.n_rows_seen_ == two.n_rows_seen_
    assert repr(one.choices_) == repr(two.choices_)
    trials = [[trial._replace(seconds=0.0) for trial in model.choices_.trials] for model in (one, two)]
    assert trials[0] == trials[1]


@pytest.fixture(scope="module")
def expected():
    X, y = labelled_rows()
    return {name: CraftClassifier(**settings).fit(X, y) for name, settings in SETTINGS.items()}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "bounds"), CASES)
def test_classifier(expected, name, bounds, way):
    X, y = labelled_rows()
    model = WAYS[way](CraftClassifier(**SETTINGS[name]), blocks_of(X, y, BOUNDS[bounds]))
    assert_same_model(model, expected[name])
    np.testing.assert_array_equal(model.predict(X), expected[name].predict(X))


@pytest.mark.parametrize("way", WAYS)
def test_automatic_choices(expected, way):
    X, y = labelled_rows()
    assert_same_model(WAYS[way](CraftClassifier(**SETTINGS["auto"]), blocks_of(X, y, BOUNDS["odd"])), expected["auto"])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n_targets", [1, 2])
def test_regressor(way, n_targets):
    X, y = curve()
    y = y if n_targets == 1 else np.c_[y, X[:, 0]]
    model = WAYS[way](CraftRegressor(**EXPLICIT), blocks_of(X, y, BOUNDS["odd"]))
    assert_same_model(model, CraftRegressor(**EXPLICIT).fit(X, y))


def test_rows_in_another_order(expected, seed):
    X, y = labelled_rows()
    order = np.random.default_rng(seed).permutation(len(y))
    for name in ("explicit", "auto"):
        assert_same_model(CraftClassifier(**SETTINGS[name]).fit(X[order], y[order]), expected[name])


@pytest.mark.parametrize("way", WAYS)
def test_single_precision(way):
    X, y = labelled_rows()
    X = X.astype(np.float32)
    whole = CraftClassifier(**EXPLICIT).fit(X, y)
    model = WAYS[way](CraftClassifier(**EXPLICIT), blocks_of(X, y, BOUNDS["odd"]))
    np.testing.assert_array_equal(model.tally_.held_out.sample.hashes, whole.tally_.held_out.sample.hashes)
    np.testing.assert_allclose(model.alpha_, whole.alpha_, rtol=1e-5)
    scores = whole.decision_function(X)
    assert scores.dtype == np.float32
    clear = np.ptp(np.sort(scores, axis=1)[:, -2:], axis=1) > 1e-4
    assert clear.mean() > 0.98
    np.testing.assert_array_equal(model.predict(X)[clear], whole.predict(X)[clear])


@pytest.mark.parametrize("way", WAYS)
def test_csr(expected, way):
    X, y = labelled_rows()
    model = WAYS[way](CraftClassifier(**EXPLICIT), blocks_of(csr_matrix(X), y, BOUNDS["odd"]))
    assert_same_model(model, expected["explicit"])
    scores = expected["explicit"].decision_function(X)
    np.testing.assert_allclose(model.decision_function(csr_matrix(X)), scores, rtol=1e-8, atol=1e-8)


def test_looking_at_the_model_on_the_way_changes_nothing(expected):
    X, y = labelled_rows()
    model = CraftClassifier(**EXPLICIT)
    for X_block, y_block in blocks_of(X, y, BOUNDS["many"]):
        model.partial_fit(X_block, y_block).predict_proba(X)
    assert_same_model(model.finish(), expected["explicit"])


def test_fit_forgets_and_partial_fit_does_not(expected):
    X, y = labelled_rows()
    model = CraftClassifier(**EXPLICIT).fit(X[:100] + 1, y[:100]).fit(X[:80], y[:80])
    assert_same_model(model.partial_fit(X[80:], y[80:]).finish(), expected["explicit"])
    assert_same_model(model.fit_stream(blocks_of(X, y, [9])), expected["explicit"])


def test_merging_leaves_the_other_alone(expected):
    X, y = labelled_rows()
    a, b = (CraftClassifier(**EXPLICIT).partial_fit(*block) for block in blocks_of(X, y, [100]))
    assert len(b.tally_.held_out) == 140  # which sorts the sample, as merging does
    before = pickle.dumps(b)
    a.merge(b)
    assert pickle.dumps(b) == before
    a.partial_fit(X, y)
    assert pickle.dumps(b) == before
