"""Rows in many places give the model that one fit on all of them gives."""

import pickle
from functools import reduce

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from craftmaps import CraftClassifier, CraftRegressor, Polynomial, tally_blocks
from craftmaps.learners.counting import Counting
from craftmaps.learners.looking import Looking
from craftmaps.learners.partitions import (
    finished,
    prepared,
    settled_on,
    settled_on_first,
    survey_part,
    tally_part,
    to_ship,
)

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


class PartsAgain:
    """Parts that are looked at one after another, with all that is sent and returned as pickles."""

    def __init__(self, settled, parts):
        self.settled, self.parts, self.n_looks = settled, parts, 0

    def through(self, tally):
        self.looking = pickle.dumps(Looking.of(self.settled, tally))
        return self

    def added_up(self, look):
        self.n_looks += 1
        looking, look = pickle.loads(self.looking), pickle.loads(pickle.dumps(look))
        sums = [pickle.loads(pickle.dumps(looking.look(look, *part))) for part in self.parts]
        return reduce(lambda one, other: one + other, (part for part in sums if part is not None))


def learned(model, X, y, cuts, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    parts = [(X[rows], y[rows], weight[rows]) for rows in np.split(np.arange(len(y)), cuts)]
    ready = prepared(model, has_rows=True)
    surveys = [survey for survey in (survey_part(ready, *part) for part in parts) if survey is not None]
    found = sum(surveys[1:], surveys[0])
    settled = settled_on(ready, found, has_rows=True)
    counting = Counting(to_ship(settled), found.theta)
    tallies = [counting.tally(*part) for part in parts]
    total = tallies[0]
    for tally in tallies[1:]:
        total += tally
    rows = PartsAgain(to_ship(settled), parts)
    finished(model, settled, total, rows)
    assert rows.n_looks == 0 or model.loss != "squared"
    return model


def assert_same(one, other):
    np.testing.assert_allclose(one.alpha_, other.alpha_, rtol=1e-10)
    np.testing.assert_array_equal(one.tally_.held_out.sample.hashes, other.tally_.held_out.sample.hashes)
    assert np.abs(one.coef_ - other.coef_).max() <= 1e-8 * np.abs(other.coef_).max()
    assert repr(one.choices_) == repr(other.choices_)
    assert one.n_rows_seen_ == other.n_rows_seen_
    np.testing.assert_allclose(one.cv_results_["error_by_fold"], other.cv_results_["error_by_fold"], rtol=1e-8)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("cuts", CUTS)
def test_classes(settings, cuts):
    model = learned(CraftClassifier(**SETTINGS[settings]), X, Y, CUTS[cuts])
    whole = CraftClassifier(**SETTINGS[settings]).fit(X, Y)
    assert model.loss_ == whole.loss_ == ("logistic" if settings == "automatic" else "squared")
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
    assert_same(learned(CraftClassifier(**SMALL), X[order], Y[order], [50, 390]), CraftClassifier(**SMALL).fit(X, Y))


@pytest.mark.parametrize("settings", ["explicit", "automatic"])
@pytest.mark.parametrize("change", [{"loss": "logistic"}, {"class_weight": "balanced"}], ids=["logistic", "balanced"])
def test_what_needs_all_rows(settings, change):
    order, weight = np.argsort(Y, kind="stable"), RNG.uniform(0, 2, 400)
    model = learned(CraftClassifier(**SETTINGS[settings] | change), X[order], Y[order], [50, 390], weight[order])
    whole = CraftClassifier(**SETTINGS[settings] | change).fit(X, Y, weight)
    assert model.loss_ == whole.loss_
    assert_same(model, whole)


def test_balanced_classes_on_any_executor():
    order = np.argsort(Y, kind="stable")
    model = CraftClassifier(**SETTINGS["explicit"], class_weight="balanced")
    model.finish(tally_blocks(model, [(X[rows], Y[rows]) for rows in np.split(order, [50, 390])]))
    assert_same(model, CraftClassifier(**SETTINGS["explicit"], class_weight="balanced").fit(X, Y))


def test_few_rows_need_no_look(monkeypatch):
    monkeypatch.setattr(PartsAgain, "through", None)
    model = CraftClassifier(**SMALL | {"n_components": 512})
    assert_same(learned(model, X, Y, [100]), CraftClassifier(**SMALL | {"n_components": 512}).fit(X, Y))


def test_linear_models_of_wide_sparse_rows_are_refused():
    rng = np.random.default_rng(0)
    rows = csr_matrix(rng.random((300, 3000)) * (rng.random((300, 3000)) < 0.01))
    y = np.asarray(rows[:, :1500].sum(axis=1) > rows[:, 1500:].sum(axis=1)).ravel()
    match = "A linear model of sparse rows of 3000 columns is learned from all rows at once, not part by part: use fit"
    with pytest.raises(ValueError, match=match):
        learned(CraftClassifier(**SMALL | {"feature_map": None}), rows, y, [100])
    settings = SETTINGS["explicit"] | {"loss": "logistic"}
    assert_same(learned(CraftClassifier(**settings), rows, y, [100]), CraftClassifier(**settings).fit(rows, y))


def test_no_rows_and_one_class():
    ready = prepared(CraftClassifier(loss="squared", **SMALL))
    assert survey_part(ready, X[:0], Y[:0]) is None
    with pytest.raises(ValueError, match="at least one row with a positive weight, got none"):
        settled_on(ready, None)
    with pytest.raises(ValueError, match="at least 2 classes"):
        settled_on(ready, survey_part(ready, X, np.full(400, "x")))
    with pytest.raises(ValueError, match="the same n_features_in_, got 5 and 3"):
        survey_part(ready, X, Y) + survey_part(ready, X[:, :3], Y)


@pytest.mark.parametrize("metric", ["covariance", "gradient", "auto"])
def test_parts_keep_their_share_of_the_held_out_sample(metric):
    model = CraftClassifier(**SMALL | {"kernel": Polynomial(2), "metric": metric, "holdout_rows": 40})
    model.settle_rows = 60
    rows = np.random.default_rng(1).normal(size=(1000, 5))
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    ready, parts = prepared(model), [slice(i, i + 100) for i in range(0, 1000, 100)]
    found = None
    for part in parts:
        survey = survey_part(ready, rows[part], labels[part])
        found = survey if found is None else found + survey
    settled = settled_on(ready, found)
    counting, unbounded = Counting(to_ship(settled), found.theta), Counting(to_ship(settled))
    tallies = [counting.tally(rows[part], labels[part]) for part in parts]
    n_kept = sum(tally.held_out.sample.count.sum() for tally in tallies if tally.held_out.sample is not None)
    n_spent = settled.tally_.held_out.spent.hashes.size
    assert 40 <= n_kept <= 40 + 60
    if metric != "covariance":
        assert n_spent
    assert n_kept < sum(unbounded.tally(rows[part], labels[part]).held_out.sample.hashes.size for part in parts) / 3
    total = tallies[0]
    for tally in tallies[1:]:
        total = total + tally
    whole = settled.tally(rows, labels)
    np.testing.assert_array_equal(total.held_out.sample.hashes, whole.held_out.sample.hashes)
    assert total.held_out.theta == whole.held_out.theta


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_first_rows_settle_as_in_a_stream(settings):
    model, blocks = CraftClassifier(**SETTINGS[settings]), [(X[i : i + 70], Y[i : i + 70]) for i in range(0, 400, 70)]
    model.settle_rows = 150
    first = settled_on_first(model, iter(blocks))
    model.fit_stream(blocks)
    assert not first.features_.difference(model.features_)
    assert repr(first.choices_) == repr(model.choices_)
    total = sum((tally_part(first, *block) for block in blocks[1:]), tally_part(first, *blocks[0]))
    np.testing.assert_array_equal(total.held_out.sample.hashes, model.tally_.held_out.sample.hashes)
    np.testing.assert_array_equal(total.held_out.spent.hashes, model.tally_.held_out.spent.hashes)
    with pytest.raises(ValueError, match="at least one row with a positive weight, got none"):
        settled_on_first(model, [(X[:3], Y[:3], np.zeros(3))])
