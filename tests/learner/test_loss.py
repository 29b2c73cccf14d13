"""The logistic loss: better where squares are misled, honest, and only where the rows are at hand."""

import numpy as np
import pytest
from sklearn.base import clone

import craftmaps
from craftmaps import CraftClassifier, Polynomial, load_model
from craftmaps.learners.logistic_search import LogisticSearch
from craftmaps.learners.partitions import prepared
from craftmaps.learners.rows_again import RowsAtHand

EXPLICIT = {"kernel": Polynomial(2), "metric": None, "normalize": False, "n_components": 64, "random_state": 0}


def product(n_rows=3000, seed=0):
    """The sign of a product plus a column: the best squares lie a good way off."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 5))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


X, Y = product()
NEW_X, NEW_Y = product(seed=1)


def error(model):
    return 1 - model.score(NEW_X, NEW_Y)


def test_it_beats_squares_where_they_are_misled():
    squared, logistic = (CraftClassifier(**EXPLICIT, loss=loss).fit(X, Y) for loss in ("squared", "logistic"))
    assert error(logistic) < error(squared) / 2
    assert (squared.loss_, logistic.loss_) == ("squared", "logistic")
    held_out = logistic.cv_results_
    assert abs(held_out["error"] - error(logistic)) < 4 * np.sqrt(0.02 / held_out["n_rows"])


def test_auto_takes_it_there_and_not_for_explicit_settings():
    model = CraftClassifier(n_components=64, random_state=0).fit(X, Y)
    assert model.loss_ == "logistic"
    assert error(model) < 0.03
    assert CraftClassifier(**EXPLICIT).fit(X, Y).loss_ == "squared"


def test_the_error_on_noise_is_honest():
    """Many solutions are compared: the best of them by chance must not be what is reported."""
    errors = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(600, 4))
        model = CraftClassifier(**EXPLICIT | {"random_state": seed}, loss="logistic").fit(rows, rng.integers(0, 2, 600))
        errors.append(model.cv_results_["error"])
    assert abs(np.mean(errors) - 0.5) < 4 * np.std(errors, ddof=1) / np.sqrt(12)


def test_features_that_do_not_fit_are_mapped_again():
    model = CraftClassifier(**EXPLICIT, loss="logistic").fit(X, Y)
    kept, mapped = (
        LogisticSearch(True, (2, 4)).run(model.tally_, RowsAtHand(X, Y, None, memory), 1e-3, None, None)
        for memory in (np.inf, 0)
    )
    np.testing.assert_array_equal(kept.solution.coef, mapped.solution.coef)


def test_the_number_of_threads_does_not_matter():
    models = []
    for n in (1, 2):
        with craftmaps.threads(n):
            models.append(CraftClassifier(**EXPLICIT, loss="logistic").fit(X.astype(np.float32), Y))
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_weights_are_copies():
    weight = np.random.default_rng(0).integers(1, 4, 400).astype(float)
    part = slice(0, 400)
    weighted = CraftClassifier(**EXPLICIT, loss="logistic", cv=None, alphas=1e-3).fit(X[part], Y[part], weight)
    rows = np.repeat(np.arange(400), weight.astype(int))
    copied = CraftClassifier(**EXPLICIT, loss="logistic", cv=None, alphas=1e-3).fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.coef_, copied.coef_, atol=1e-6 * np.abs(copied.coef_).max())


def test_few_rows_are_solved_in_their_own_space():
    """The same as in the space of features, up to where the steps end."""
    part = slice(0, 120)
    few = CraftClassifier(**EXPLICIT | {"n_components": 256}, loss="logistic").fit(X[part], Y[part])
    assert few.loss_ == "logistic"
    outputs = few.features_(X[part]) @ few.coef_.T + few.intercept_
    np.testing.assert_array_equal(few.predict(X[part]), (outputs[:, 0] > 0).astype(int))
    assert few.score(NEW_X, NEW_Y) > 0.8


def test_given_splits():
    splits = [(np.arange(1000, 3000), np.arange(1000)), (np.arange(1000), np.arange(1000, 3000))]
    model = CraftClassifier(**EXPLICIT, loss="logistic", cv=splits).fit(X, Y)
    assert model.cv_results_["error_by_fold"].shape == (2,)
    assert error(model) < 0.05


def test_a_file_keeps_it(tmp_path):
    model = CraftClassifier(**EXPLICIT, loss="logistic").fit(X, Y)
    model.save(tmp_path / "model.craft", dtype=np.float64)
    loaded = load_model(tmp_path / "model.craft")
    assert (loaded.loss, loaded.loss_) == ("logistic", "logistic")
    np.testing.assert_array_equal(loaded.predict_proba(NEW_X), model.predict_proba(NEW_X))
    np.testing.assert_array_equal(clone(loaded).fit(X, Y).coef_, model.coef_)


def test_rows_that_are_looked_at_once():
    match = "loss must be 'squared' or 'auto' for rows that are looked at once, got 'logistic': use fit"
    with pytest.raises(ValueError, match=match):
        CraftClassifier(**EXPLICIT, loss="logistic").partial_fit(X, Y)
    with pytest.raises(ValueError, match=match):
        CraftClassifier(**EXPLICIT, loss="logistic").fit_stream([(X, Y)])
    with pytest.raises(ValueError, match=match):
        prepared(CraftClassifier(**EXPLICIT, loss="logistic"))
    with pytest.raises(ValueError, match=match):
        CraftClassifier(**EXPLICIT, loss="logistic").settle(X, Y)
    with pytest.raises(ValueError, match=match):
        craftmaps.tally_blocks(CraftClassifier(**EXPLICIT, loss="logistic"), [(X, Y)])
    model = CraftClassifier(n_components=64, random_state=0).fit(X, Y)
    assert model.partial_fit(NEW_X, NEW_Y).loss_ == "squared"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of"),
        ({"loss": "logistic", "code": "random"}, "loss='logistic' takes code='one-vs-rest'"),
        ({"loss": "logistic", "decoding": "loss"}, "loss='logistic' takes code='one-vs-rest'"),
        ({"loss": "logistic", "fit_intercept": False}, "loss='logistic' takes fit_intercept=True"),
        ({"loss": "logistic", "packed": True}, "loss='logistic' takes fit_intercept=True"),
    ],
)
def test_what_does_not_go_together(change, message):
    with pytest.raises(ValueError, match=message):
        CraftClassifier(**EXPLICIT | change).fit(X, Y)
