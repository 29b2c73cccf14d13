"""`solver="iterative"`: the model of a tally, up to what steps leave, and what cannot be had without one."""

import numpy as np
import pytest

from craftmaps import CraftClassifier, CraftRegressor, LandmarkMap, Polynomial, load_model, threads
from craftmaps.learners import from_rows, one_pass
from craftmaps.least_squares import wide_ridge

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 8)).astype(np.float32)
SCORES = X[:, 0] * X[:, 1] + X[:, 2]
Y = np.select([SCORES < -0.5, SCORES < 0.5], ["low", "middle"], "high")
TEST, Y_TEST = X[2000:], Y[2000:]
SETTINGS = {"kernel": Polynomial(2), "metric": None, "normalize": False, "n_components": 512, "random_state": 0}


def fitted(solver, **changes):
    return CraftClassifier(**SETTINGS | {"solver": solver, "loss": "squared"} | changes).fit(X[:2000], Y[:2000])


@pytest.fixture(scope="module")
def models():
    """The same classifier, solved in both ways."""
    return fitted("iterative"), fitted("tally")


def test_it_is_the_model_of_a_tally(models):
    alpha = float(models[1].cv_results_["alpha"][models[1].cv_results_["chosen"]])
    one, two = (fitted(solver, alphas=[alpha]) for solver in ("iterative", "tally"))
    assert one.alpha_ == pytest.approx(two.alpha_, rel=1e-4)
    outputs = [model.decision_function(TEST) for model in (one, two)]
    assert np.corrcoef(outputs[0].ravel(), outputs[1].ravel())[0, 1] > 0.999
    assert np.mean(one.predict(TEST) == two.predict(TEST)) > 0.98


def test_its_error_is_honest(models):
    model = models[0]
    error = np.mean(model.predict(TEST) != Y_TEST)
    results = model.cv_results_
    assert abs(results["error"] - error) < 4 * np.sqrt(error * (1 - error) * (1 / results["n_rows"] + 1e-3))
    assert results["n_rows"] == 200  # a tenth
    shuffled = RNG.permutation(Y[:2000])
    lost = CraftClassifier(**SETTINGS | {"solver": "iterative"}).fit(X[:2000], shuffled)
    assert lost.cv_results_["error"] > 0.5


def test_neither_threads_nor_the_order_of_rows_matter(models):
    with threads(2):
        assert np.array_equal(fitted("iterative").coef_, models[0].coef_)
    order = RNG.permutation(2000)
    other = CraftClassifier(**SETTINGS | {"solver": "iterative"}).fit(X[:2000][order], Y[:2000][order])
    assert other.alpha_ == pytest.approx(models[0].alpha_, rel=1e-4)
    np.testing.assert_allclose(other.decision_function(TEST), models[0].decision_function(TEST), atol=0.02)


@pytest.mark.parametrize("n_rows", [3, 30, 60])
def test_few_rows(n_rows):
    settings = {"n_components": 512, "solver": "iterative", "random_state": 0}
    labels = np.arange(n_rows) % 2
    model = CraftClassifier(**settings).fit(X[:n_rows] + 3 * labels[:, None], labels)
    assert np.mean(model.predict(X[:n_rows] + 3 * labels[:, None]) == labels) > 0.9


def test_weights_are_copies():
    weight = RNG.integers(0, 3, 2000)
    settings = SETTINGS | {"solver": "iterative", "alphas": [1e-2]}
    weighted = CraftClassifier(**settings).fit(X[:2000], Y[:2000], weight)
    repeated = CraftClassifier(**settings).fit(np.repeat(X[:2000], weight, axis=0), np.repeat(Y[:2000], weight))
    np.testing.assert_allclose(weighted.decision_function(TEST), repeated.decision_function(TEST), atol=0.3)
    assert np.mean(weighted.predict(TEST) == repeated.predict(TEST)) > 0.97


def test_numbers():
    targets = np.c_[SCORES, 100 * X[:, 3] + 7]
    one, two = (
        CraftRegressor(**SETTINGS | {"solver": solver}).fit(X[:2000], targets[:2000])
        for solver in ("iterative", "tally")
    )
    for column in range(2):
        spread = targets[2000:, column].std()
        assert np.sqrt(np.mean((one.predict(TEST) - targets[2000:])[:, column] ** 2)) < 0.05 * spread
    np.testing.assert_allclose(one.predict(TEST), two.predict(TEST), atol=5.0)


def test_the_logistic_loss():
    """Where squares are misled, steps of the logistic loss follow, and none where squares are asked for."""
    y = SCORES > 0
    models = {
        (solver, loss): CraftClassifier(**SETTINGS | {"solver": solver, "loss": loss}).fit(X[:2000], y[:2000])
        for solver, loss in (("iterative", "auto"), ("iterative", "squared"), ("tally", "logistic"))
    }
    errors = {key: np.mean(model.predict(TEST) != y[2000:]) for key, model in models.items()}
    assert [model.loss_ for model in models.values()] == ["squared", "squared", "logistic"]  # "auto" of a given kernel
    forced = CraftClassifier(**SETTINGS | {"solver": "iterative", "loss": "logistic"}).fit(X[:2000], y[:2000])
    error = np.mean(forced.predict(TEST) != y[2000:])
    assert forced.loss_ == "logistic"
    assert error < 0.7 * errors["iterative", "squared"]
    assert error < errors["tally", "logistic"] + 0.01
    assert abs(forced.cv_results_["error"] - error) < 4 * np.sqrt(0.05 * 0.95 / 200)


def test_it_is_saved_without_a_tally(models, tmp_path):
    model = models[0]
    model.save(tmp_path / "model.craft", np.float64)
    loaded = load_model(tmp_path / "model.craft")
    np.testing.assert_allclose(loaded.decision_function(TEST), model.decision_function(TEST), rtol=1e-6)
    assert loaded.solver == "iterative"
    for refused in (lambda: model.tally_, lambda: loaded.merge(model), lambda: model.forget(X, Y)):
        with pytest.raises(ValueError, match=r"cannot go on learning: fit a new one, with solver='tally'"):
            refused()


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"cv": None, "alphas": 0.1}, "cv"),
        ({"packed": True}, "packed"),
        ({"feature_map": LandmarkMap(Polynomial(2), 64, whiten=False, random_state=0)}, "feature_map"),
        ({"fit_intercept": False}, "fit_intercept"),
    ],
)
def test_what_needs_a_tally(changes, name):
    with pytest.raises(ValueError, match=rf"solver must be 'auto' or 'tally' with .*{name}"):
        fitted("iterative", **changes)
    assert fitted("auto", **changes).n_rows_seen_ == 2000


def test_rows_that_do_not_come_at_once():
    model = CraftClassifier(**SETTINGS | {"solver": "iterative"})
    with pytest.raises(ValueError, match=r"solver must be 'auto' or 'tally' for rows that do not come at once"):
        model.partial_fit(X, Y, classes=np.unique(Y))
    with pytest.raises(ValueError, match=r"solver must be one of 'auto', 'tally', 'iterative', got 'cholesky'"):
        fitted("cholesky")


class Losses:
    """Scores of alphas whose losses are known."""

    def __init__(self, losses):
        self.losses, self.errors = losses, []

    def best(self):
        return int(np.argmin(self.errors))

    def tried(self, first, patience=1):
        order = []
        for i in from_rows._trial_order(self, first, len(self.losses), patience):
            order.append(i)
            self.errors.append(self.losses[i])
        return order


@pytest.mark.parametrize(
    ("losses", "first", "order"),
    [
        ([5, 4, 3, 2, 3, 4], 0, [0, 1, 2, 3, 4]),  # down, until it gets worse
        ([5, 4, 3, 2, 3, 4], 2, [2, 3, 4]),
        ([5, 4, 3, 2, 3, 4], 4, [4, 5, 3, 2]),  # up, if the first was the best of the smaller ones
        ([1, 2, 3, 4, 5, 6], 3, [3, 4, 2, 1, 0]),
        ([6, 5, 4, 3, 2, 1], 5, [5, 4]),
    ],
)
def test_which_alphas_are_tried(losses, first, order):
    assert Losses(losses).tried(first) == order


def test_the_curve_falls_and_names_the_best(models):
    results = models[0].cv_results_
    assert (np.diff(results["alpha"]) < 0).all()
    values = results["mean_error"]
    assert values[results["chosen"]] <= values.min() + 0.02


def test_when_it_pays(monkeypatch):
    assert from_rows.pays(60_000, 8192, 10)
    assert from_rows.pays(60_000, 4096, 10)
    assert not from_rows.pays(60_000, 4095, 10)  # the matrix is quick enough, and leaves a tally
    assert not from_rows.pays(60_000, 8192, 100)  # steps for so many classes take longer
    assert from_rows.pays(4000, 8192, 100)  # but less than solving, where rows are few
    assert not from_rows.pays(1000, 8192, 10)  # few rows have a way of their own
    monkeypatch.setattr(from_rows, "available_memory", lambda: 10**9)
    assert not from_rows.pays(60_000, 8192, 10)
    monkeypatch.setattr(from_rows, "_LEAST_WIDTH", 256)
    monkeypatch.setattr(from_rows, "_STEPS", 10)
    monkeypatch.setattr(from_rows, "FEW_ROWS", 100)
    with pytest.raises(ValueError, match="A model without a tally"):
        _ = fitted("auto").tally_


def test_copies_of_a_row_are_not_held_out_side_by_side():
    """A few rows that come often, with labels that differ: the rows left out must have all of them."""
    rows, labels = np.repeat(X[:4], 500, axis=0), np.tile([0, 0, 0, 1], 500)
    model = CraftClassifier(**SETTINGS | {"solver": "iterative", "loss": "squared"}).fit(rows, labels)
    assert model.cv_results_["error"] == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 200))
    order = RNG.permutation(2000)
    again = CraftClassifier(**SETTINGS | {"solver": "iterative", "loss": "squared"}).fit(rows[order], labels[order])
    assert again.cv_results_["error"] == model.cv_results_["error"]


def test_what_does_not_come_to_an_end_is_tallied(monkeypatch):
    """Where the best penalty takes too many steps, "auto" goes on with the Gram matrix, and "iterative" does not."""
    monkeypatch.setattr(wide_ridge, "_MOST_STEPS", 1)
    monkeypatch.setattr(one_pass, "pays", lambda *_: True)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 6)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0).astype(int)
    settings = {"n_components": 96, "kernel": Polynomial(3), "metric": None, "random_state": 0}
    tallied = CraftClassifier(solver="tally", **settings).fit(X, y)
    found = CraftClassifier(solver="auto", **settings).fit(X, y)
    np.testing.assert_array_equal(found.coef_, tallied.coef_)
    assert found.tally_.n_rows == 2500
    forced = CraftClassifier(solver="iterative", **settings).fit(X, y)
    with pytest.raises(ValueError, match="without a tally"):
        _ = forced.tally_


def test_no_number_of_threads_changes_the_logistic_loss():
    """So many rows that BLAS would share out a dot product of them."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(12_000, 6)).astype(np.float32)
    labels = (rows[:, 0] * rows[:, 1] + rows[:, 2] + rng.normal(size=len(rows)) > 0).astype(int)
    found = []
    for n in (1, 2):
        with threads(n):
            settings = SETTINGS | {"n_components": 64, "solver": "iterative", "loss": "logistic"}
            found.append(CraftClassifier(**settings).fit(rows, labels))
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)
    assert found[0].alpha_ == found[1].alpha_
