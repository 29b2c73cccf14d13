"""Weights of classes act like weights of rows, everywhere."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight

from craftmaps import CraftClassifier, Polynomial, load_model
from craftmaps.learners.partitions import settled_on_first
from tests.learner.examples import labelled_rows

X, Y = labelled_rows(400)
KEPT = np.r_[np.flatnonzero(Y == np.unique(Y)[0])[:30], np.flatnonzero(Y != np.unique(Y)[0])]
KEPT = np.random.default_rng(0).permutation(KEPT)
X, Y = X[KEPT], Y[KEPT]
WEIGHTS = dict(zip(np.unique(Y).tolist(), (3.0, 1.0, 0.5), strict=True))
EXPLICIT = {"kernel": Polynomial(2), "metric": None, "n_components": 32, "cv": 3, "random_state": 0}
SETTINGS = {
    "explicit": EXPLICIT,
    "automatic": {"n_components": 32, "cv": 3, "random_state": 0},
    "logistic": EXPLICIT | {"loss": "logistic"},
    "splits": EXPLICIT | {"cv": [(np.arange(100, len(Y)), np.arange(100)), (np.arange(100), np.arange(100, len(Y)))]},
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("class_weight", ["balanced", WEIGHTS], ids=["balanced", "dict"])
def test_the_same_as_weights_of_rows(name, class_weight):
    model = CraftClassifier(**SETTINGS[name], class_weight=class_weight).fit(X, Y)
    plain = CraftClassifier(**SETTINGS[name])
    plain.fit(X, Y, sample_weight=compute_sample_weight(class_weight, Y))
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9, atol=1e-9 * np.abs(plain.coef_).max())
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-6, atol=1e-9)
    assert model.cv_results_["error"] == pytest.approx(plain.cv_results_["error"], rel=1e-9)


def test_choices_know_weights():
    """Rows of one half of the table say nothing, and weigh next to nothing: choices are those of the other half."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 4))
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    is_noise = np.arange(4000) % 2 == 0
    labels[is_noise] = rng.integers(0, 2, is_noise.sum())
    errors = []
    for weight in (np.where(is_noise, 1e-9, 1.0), None):
        model = CraftClassifier(n_components=64, random_state=0).fit(rows, labels, weight)
        errors.append(min(trial.error for trial in model.choices_.trials))
    assert errors[0] < 0.1
    assert errors[1] > 0.2


def test_a_rare_class_is_found():
    rare = np.unique(Y)[0]
    plain, balanced = (
        CraftClassifier(**EXPLICIT, class_weight=weight).fit(X, Y).predict_proba(X)[:, 0].sum()
        for weight in (None, "balanced")
    )
    assert balanced > 2 * plain
    assert (Y == rare).mean() < 0.2


def test_blocks_with_given_weights():
    whole = CraftClassifier(**EXPLICIT, class_weight=WEIGHTS).fit(X, Y)
    model = CraftClassifier(**EXPLICIT, class_weight=WEIGHTS)
    for part in np.array_split(np.arange(len(Y)), 3):
        model.partial_fit(X[part], Y[part])
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    model.forget(X[:50], Y[:50])
    rest = CraftClassifier(**EXPLICIT, class_weight=WEIGHTS).fit(X[50:], Y[50:])
    np.testing.assert_allclose(model.coef_, rest.coef_, rtol=1e-6, atol=1e-8)


def test_labels_of_any_type():
    text, objects = (CraftClassifier(**EXPLICIT, class_weight="balanced").fit(X, y) for y in (Y, Y.astype(object)))
    np.testing.assert_array_equal(text.coef_, objects.coef_)


def test_balanced_needs_all_rows():
    with pytest.raises(ValueError, match="class_weight='balanced' needs all rows: use fit"):
        CraftClassifier(**EXPLICIT, class_weight="balanced").partial_fit(X, Y)
    with pytest.raises(ValueError, match="class_weight='balanced' needs all rows: use fit"):
        CraftClassifier(**EXPLICIT, class_weight="balanced").settle(X, Y)
    with pytest.raises(ValueError, match="class_weight='balanced' needs all rows: use fit"):
        settled_on_first(CraftClassifier(**EXPLICIT, class_weight="balanced"), [(X, Y)])


def test_tallies_of_other_weights_do_not_add_up():
    one, other = (CraftClassifier(**EXPLICIT, class_weight=w).fit(X, Y).tally_ for w in (None, WEIGHTS))
    with pytest.raises(ValueError, match="class_weight must be the same"):
        one + other


def test_a_file_keeps_them(tmp_path):
    model = CraftClassifier(**EXPLICIT, class_weight=WEIGHTS).fit(X, Y)
    model.save(tmp_path / "model.craft", dtype=np.float64)
    loaded = load_model(tmp_path / "model.craft")
    assert loaded.class_weight == WEIGHTS
    np.testing.assert_array_equal(clone(loaded).fit(X, Y).coef_, model.coef_)


@pytest.mark.parametrize(
    ("weight", "error", "message"),
    [
        ("even", TypeError, "class_weight must be a dict, 'balanced' or None, got 'even'"),
        ([1, 2, 3], TypeError, "class_weight must be a dict"),
        ({"ant": 0.0}, ValueError, "class_weight must have finite weights above 0, got 0.0"),
        ({"ant": np.nan}, ValueError, "class_weight must have finite weights above 0, got nan"),
        ({"ant": "2"}, ValueError, "class_weight must have finite weights above 0, got '2'"),
    ],
)
def test_what_is_no_weight(weight, error, message):
    with pytest.raises(error, match=message):
        CraftClassifier(**EXPLICIT, class_weight=weight).fit(X, Y)
