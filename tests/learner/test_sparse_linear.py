"""Sparse rows of very many columns: a linear model of the columns themselves, without a tally."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.linear_model import Ridge

from craftmaps import CraftClassifier, CraftRegressor, load_model


def words(n_rows=900, n_columns=4000, seed=0):
    """Rows of a few words each; three classes have words of their own."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n_rows)
    noise = random_array((n_rows, n_columns), density=0.004, rng=rng, format="lil")
    for i, label in enumerate(labels):
        noise[i, 40 * label + rng.integers(0, 40, 4)] = 1.0
    return csr_array(noise), np.array(["ant", "bee", "cricket"])[labels]


X, Y = words()
NEW_X, NEW_Y = words(seed=1)


@pytest.fixture(scope="module")
def model():
    return CraftClassifier(n_components=128, random_state=0).fit(X, Y)


def test_it_is_chosen_and_good(model):
    assert model.choices_.feature_map is None
    assert model.coef_.shape == (3, 4000)
    error = 1 - model.score(NEW_X, NEW_Y)
    assert error < 0.05
    results = model.cv_results_
    assert abs(results["error"] - error) < 4 * np.sqrt((results["error"] + 0.01) / results["n_effective"])
    assert model.n_rows_seen_ == 900


def test_it_is_ridge_regression(model):
    ridge = Ridge(alpha=model.alpha_, solver="sparse_cg", tol=1e-10)
    rows = model.features_.shape_rows(X)
    ridge.fit(rows, 2.0 * (Y[:, None] == model.classes_) - 1)
    outputs = rows @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(outputs, ridge.predict(rows), atol=0.01)


def test_probabilities_and_dense_rows(model):
    probabilities = model.predict_proba(NEW_X[:50])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.predict_proba(NEW_X[:50].toarray()), probabilities, atol=1e-9)


def test_the_order_of_rows_does_not_matter(model):
    order = np.random.default_rng(0).permutation(len(Y))
    other = CraftClassifier(n_components=128, random_state=0).fit(X[order], Y[order])
    np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-6 * np.abs(model.coef_).max())


def test_it_has_no_tally(model):
    for refused in (lambda: model.tally_, lambda: model.partial_fit(X, Y), lambda: model.forget(X, Y)):
        with pytest.raises(ValueError, match=r"solved from rows at hand, cannot go on learning"):
            refused()


def test_files(model, tmp_path):
    model.save(tmp_path / "model.craft", dtype=np.float64)
    loaded = load_model(tmp_path / "model.craft")
    np.testing.assert_array_equal(loaded.predict(NEW_X), model.predict(NEW_X))


def test_choices_can_be_passed_back(model):
    again = CraftClassifier(n_components=128, random_state=0, **model.choices_.parameters()).fit(X, Y)
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_numbers():
    rng = np.random.default_rng(0)
    weights = np.where(np.arange(4000) < 120, rng.normal(size=4000), 0.0)
    model = CraftRegressor(n_components=64, random_state=0).fit(X, X @ weights)
    assert model.score(NEW_X, NEW_X @ weights) > 0.8


def test_blocks_go_through_a_map():
    """Rows that come in blocks are looked at once, so that there is a tally."""
    model = CraftClassifier(n_components=64, random_state=0).partial_fit(X[:450], Y[:450]).partial_fit(X[450:], Y[450:])
    assert model.coef_.shape == (3, 64)
    assert model.tally_.n_rows == 900
