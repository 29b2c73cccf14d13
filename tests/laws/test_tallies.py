"""Tallies are values: they add up, rows can be taken out again, and unlike ones refuse each other."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix, issparse

from craftmaps import CraftClassifier, CraftRegressor, Polynomial, load_tally

SETTINGS = {"n_components": 32, "cv": 3, "alphas": [1e-4, 1e-2, 1.0], "random_state": 0}
EXPLICIT = SETTINGS | {"kernel": Polynomial(2), "metric": None}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6))
LABELS = np.array(["a", "b", "c"])[np.digitize(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=300), [-0.4, 0.4])]
NUMBERS = X[:, 0] * X[:, 1] + 0.1 * RNG.normal(size=300)
WEIGHT = RNG.integers(1, 4, 300).astype(float)
PARTS = [np.arange(0, 7), np.arange(7, 120), np.arange(120, 120), np.arange(120, 300)]
KINDS = {
    "classes": (CraftClassifier(**EXPLICIT), LABELS),
    "numbers": (CraftRegressor(**EXPLICIT), NUMBERS),
    "two numbers": (CraftRegressor(**EXPLICIT), np.c_[NUMBERS, X[:, 2]]),
    "automatic": (CraftClassifier(**SETTINGS), LABELS),
    "few held out": (CraftClassifier(**EXPLICIT, holdout_rows=40), LABELS),
    "none held out": (CraftClassifier(**EXPLICIT | {"cv": None, "alphas": 1e-3}), LABELS),
    "packed": (CraftClassifier(**EXPLICIT, packed=True), LABELS),
}
# Rounding errors of a packed statistic are those of single precision.
ROUNDING = dict.fromkeys(KINDS, 1e-10) | {"packed": 1e-4}


def tallies(kind, parts=PARTS, weight=WEIGHT):
    model, y = KINDS[kind]
    model.settle(X, y)
    return model, [
        model.tally(X[part], y[part], weight[part]) if len(part) else model.tally_.emptied() for part in parts
    ]


def assert_same(one, other, rounding):
    assert one.n_rows == other.n_rows
    assert one.targets.n_columns == other.targets.n_columns
    for name in ("gram", "cross", "feature_sums", "target_sums", "weight"):
        mine, theirs = getattr(one.statistic, name), getattr(other.statistic, name)
        mine, theirs = (np.tril(mine), np.tril(theirs)) if name == "gram" else (mine, theirs)
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=rounding * max(np.abs(theirs).max(), 1.0))
    if one.held_out is not None:
        assert one.held_out.n_rows == other.held_out.n_rows
        if other.held_out.sample is not None:
            np.testing.assert_array_equal(one.held_out.sample.hashes, other.held_out.sample.hashes)
            rows = [tally.held_out.sample.X for tally in (one, other)]
            np.testing.assert_array_equal(*(X.toarray() if issparse(X) else X for X in rows))
            np.testing.assert_array_equal(one.held_out.sample.count, other.held_out.sample.count)
            np.testing.assert_allclose(one.held_out.sample.weight, other.held_out.sample.weight, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_any_parts_in_any_order(kind):
    model, (a, b, c, d) = tallies(kind)
    _, (whole,) = tallies(kind, [np.arange(300)])
    for total in ((a + b) + (c + d), a + (b + (c + d)), d + c + b + a, sum([b, d, a, c])):
        assert_same(total, whole, ROUNDING[kind])
    assert_same(whole + whole.emptied(), whole, 0.0)
    alpha = model.finish(whole).alpha_
    coef = model.coef_
    np.testing.assert_allclose(model.finish(a + b + c + d).alpha_, alpha, rtol=1e-10 if kind != "packed" else 1e-5)
    assert np.abs(model.coef_ - coef).max() <= 1e-8 * np.abs(coef).max() or kind == "packed"


@pytest.mark.parametrize("kind", KINDS)
def test_rows_can_be_taken_out_again(kind):
    _, (a, b, c, d) = tallies(kind)
    rest = a + b + c + d - b
    expected = a + c + d
    theta = None if rest.held_out is None else min(part.held_out.theta for part in (rest, expected))
    if kind == "few held out":  # the threshold stays as low as it was: the sample is all rows left below it
        low = expected.held_out.sample.hashes <= np.uint64(theta)
        np.testing.assert_array_equal(rest.held_out.sample.hashes, expected.held_out.sample.hashes[low])
    else:
        assert_same(rest, expected, ROUNDING[kind])


def test_nothing_is_left_of_all_rows(tmp_path):
    _, (a, b, *_) = tallies("classes")
    nothing = a + b - b - a
    nothing.save(tmp_path / "nothing.tally")
    assert load_tally(tmp_path / "nothing.tally").n_rows == 0
    assert nothing.n_rows == nothing.held_out.n_rows == 0
    assert np.abs(nothing.statistic.gram).max() < 1e-9


def test_rows_that_were_never_added_cannot_be_taken_out():
    _, (a, b, _, d) = tallies("classes")
    with pytest.raises(ValueError, match="A tally of 7 rows cannot lose 113"):
        a - b
    with pytest.raises(ValueError, match="some were not"):
        d - b


def test_rows_of_a_class_that_were_never_added_are_noticed_without_held_out_rows():
    model = CraftClassifier(Polynomial(2), 16, metric=None, cv=None, alphas=1e-3, random_state=0).settle(X, LABELS)
    some = model.tally(X[LABELS != "c"], LABELS[LABELS != "c"])
    gone = model.tally(X[LABELS == "c"][:3], LABELS[LABELS == "c"][:3])
    with pytest.raises(ValueError, match=r"added only: some of class .*c.* were not"):
        some - gone
    numbers = CraftRegressor(Polynomial(2), 16, metric=None, cv=None, alphas=1e-3, random_state=0).settle(X, NUMBERS)
    light, heavy = (numbers.tally(X[:9], NUMBERS[:9], np.full(9, weight)) for weight in (1.0, 2.0))
    with pytest.raises(ValueError, match="added only: their weights were smaller"):
        light - heavy
    assert (heavy - light).statistic.weight == 9


def test_decay_weighs_rows_less():
    model, (a, b, _, d) = tallies("numbers", weight=np.ones(300))
    y = NUMBERS
    old, new = a + b, d
    weight = np.r_[np.full(120, 0.25), np.ones(180)]
    expected = model.finish(model.tally(X, y, weight)).coef_
    coef = model.finish(0.25 * old + new).coef_
    np.testing.assert_allclose(coef, expected, rtol=1e-8, atol=1e-10)
    for factor in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="factor must be a finite number above 0"):
            old * factor


def test_a_tally_is_not_changed_by_those_who_use_it():
    model, (a, b, *_) = tallies("classes")
    before = pickle.loads(pickle.dumps(a))
    model.finish(a).partial_fit(X[100:], LABELS[100:])
    _ = a + b, (a + b) - a, a * 0.5
    held = model.tally_
    n_rows = held.n_rows
    model.partial_fit(X[:9], LABELS[:9])
    assert (held.n_rows, model.tally_.n_rows) == (n_rows, n_rows + 9)
    assert_same(a, before, 0.0)


def test_a_pickle_has_no_scratch_buffers():
    model = CraftClassifier(**EXPLICIT | {"n_components": 512}).settle(X, LABELS)
    tally = model.tally(X, LABELS)
    assert len(pickle.dumps(tally)) < 1.5 * tally.statistic.gram.nbytes


def test_labels_of_one_part_only():
    model, y = KINDS["classes"]
    model.settle(X, y)
    parts = [y == label for label in "abc"]
    total = sum(model.tally(X[part], y[part]) for part in parts)
    assert_same(total, model.tally(X, y), 1e-10)
    fresh = CraftClassifier(**EXPLICIT).settle(X[:50], np.where(np.arange(50) % 2, "a", "b"))
    late = fresh.tally(X[parts[2]], y[parts[2]])
    assert (fresh.tally(X[parts[0]], y[parts[0]]) + late).targets.classes.tolist() == ["a", "b", "c"]


def test_sparse_rows_come_to_the_same():
    model, y = KINDS["classes"]
    model.settle(X, y)
    assert_same(model.tally(csr_matrix(X), y) + model.tally(X, y) - model.tally(X, y), model.tally(X, y), 1e-9)


UNLIKE = {
    "seed": ({"random_state": 1}, "differ in feature_map"),
    "kernel": ({"kernel": Polynomial(3)}, "differ in feature_map"),
    "metric": ({"metric": "covariance"}, "differ in metric"),
    "held-out size": ({"holdout_rows": 50}, "same size and seed"),
    "nothing held out": ({"cv": None, "alphas": 1.0}, "both hold rows out, or neither"),
    "packed": ({"packed": True}, "both be packed, or neither"),
}


@pytest.mark.parametrize("case", UNLIKE)
def test_unlike_tallies_refuse_each_other(case):
    changes, words = UNLIKE[case]
    one = CraftClassifier(**EXPLICIT).settle(X, LABELS).tally(X, LABELS)
    other = CraftClassifier(**EXPLICIT | changes).settle(X, LABELS).tally(X, LABELS)
    for combine in (lambda: one + other, lambda: one - other):
        with pytest.raises(ValueError, match=words):
            combine()


def test_tallies_of_classes_and_of_numbers():
    one, other = (KINDS[kind][0].settle(X, KINDS[kind][1]).tally_ for kind in ("classes", "numbers"))
    with pytest.raises(ValueError, match="both be of classes, or both of numbers"):
        one + other


def test_tallies_of_other_columns():
    names = list("abcdef")
    one = CraftClassifier(**EXPLICIT).settle(pd.DataFrame(X, columns=names), LABELS)
    other = CraftClassifier(**EXPLICIT).settle(pd.DataFrame(X, columns=names[::-1]), LABELS)
    with pytest.raises(ValueError, match="same feature_names_in_ to be added, got"):
        one.tally_ + other.tally_
    narrow = CraftClassifier(**EXPLICIT).settle(X[:, :4], LABELS)
    with pytest.raises(ValueError, match="same n_features_in_ to be added, got 6 and 4"):
        one.tally_ + narrow.tally_
    with pytest.raises(TypeError):
        one.tally_ + 1


def test_forgotten_rows_are_gone():
    model, y = KINDS["classes"]
    kept, gone = np.arange(250), np.arange(250, 300)
    model.fit(X, y).forget(X[gone], y[gone])
    never = CraftClassifier(**EXPLICIT).fit(X[kept], y[kept])
    assert model.n_rows_seen_ == 250
    np.testing.assert_allclose(model.alpha_, never.alpha_, rtol=1e-10)
    assert np.linalg.norm(model.coef_ - never.coef_) < 1e-7 * np.linalg.norm(never.coef_)
    assert not np.isin(X[gone][:, 0], model.tally_.held_out.sample.X[:, 0]).any()
    # A model that had not forgotten would differ.
    assert np.linalg.norm(CraftClassifier(**EXPLICIT).fit(X, y).coef_ - never.coef_) > 1e-3 * np.linalg.norm(
        never.coef_
    )


def test_what_is_not_settled_has_no_tally():
    waiting = CraftClassifier(**SETTINGS).partial_fit(X, LABELS)
    with pytest.raises(ValueError, match=r"call settle\(X, y\) first"):
        waiting.tally(X, LABELS)
    with pytest.raises(ValueError, match=r"call settle\(X, y\) first"):
        _ = waiting.tally_
