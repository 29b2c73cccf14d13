"""Columns of whole numbers as categories: taken where levels are names, not where they are numbers."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.pipeline import Pipeline

import craftmaps
from craftmaps import CraftClassifier, CraftRegressor, Polynomial, load_model, load_tally
from craftmaps.learners.persistence.container import ModelFileError, read, write
from craftmaps.report import Run
from craftmaps.report.gather import gather
from craftmaps.report.html.search import search_section
from craftmaps.shaping.category_columns import CategoryColumns
from tests.sparse_rows import with_explicit_zeros

EFFECTS = np.array([0.0, 5, -3, 4, -5, 2, -1, 3])
EXPLICIT = {"kernel": Polynomial(2), "n_components": 64, "metric": None, "random_state": 0}


def table(n_rows=600, is_name=True, seed=0):
    """Three numbers and a column of eight levels, which is a name or a number; the first two multiply."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n_rows, 3)), rng.integers(0, 8, n_rows)])
    effect = EFFECTS[X[:, 3].astype(int)] if is_name else X[:, 3]
    return X, effect + X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n_rows)


def regressor(**settings):
    return CraftRegressor(**{"n_components": 96, "random_state": 0, **settings})


@pytest.mark.parametrize("n_rows", [200, 3000])
def test_names_are_found_by_score(n_rows):
    X, y = table(n_rows)
    model, as_numbers = regressor().fit(X, y), regressor(categories=None).fit(X, y)
    assert model.choices_.categories == (3,)
    assert as_numbers.choices_.categories is None
    assert 8 * model.cv_results_["error"] < as_numbers.cv_results_["error"]


@pytest.mark.parametrize("n_rows", [200, 3000])
def test_numbers_stay_numbers(n_rows):
    X, y = table(n_rows, is_name=False)
    model = regressor().fit(X, y)
    assert any("categories" in trial.name for trial in model.choices_.trials)
    assert model.choices_.categories is None


def test_classes_too():
    X, y = table(2000)
    model, as_numbers = (
        CraftClassifier(n_components=96, random_state=0, categories=c).fit(X, y > 0) for c in ("auto", None)
    )
    assert model.choices_.categories == (3,)
    assert model.cv_results_["error"] < 0.5 * as_numbers.cv_results_["error"]


@pytest.mark.parametrize("n_rows", [300, 2000])
def test_rows_without_candidates_pay_nothing(n_rows):
    X, y = table(n_rows)
    X[:, 3] = X[:, 3] > 3
    models = [regressor(categories=c).fit(X, y) for c in ("auto", None)]
    names = [[trial.name for trial in model.choices_.trials] for model in models]
    assert names[0] == names[1]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_few_rows_are_not_compared():
    X, y = table(58)
    model = regressor().fit(X, y)
    assert model.choices_.categories is None
    assert not model.choices_.trials
    assert regressor(categories=[3]).fit(X, y).choices_.categories == (3,)


def test_wide_rows_are_not_compared():
    X, y = table(300)
    X = np.hstack([X, np.random.default_rng(0).integers(0, 5, (300, 200))])
    assert not any("categories" in trial.name for trial in regressor().fit(X, y).choices_.trials)


@pytest.mark.parametrize("metric", [None, "covariance", "gradient"])
def test_with_a_metric_auto_means_numbers(metric):
    X, y = table(300)
    assert regressor(metric=metric).fit(X, y).choices_.categories is None
    model = regressor(metric=metric, categories=[3]).fit(X, y)
    assert model.choices_.categories == (3,)
    assert model.cv_results_["error"] < 0.5


SETTINGS = {
    "auto": {},
    "given": {"categories": [3]},
    "none": {"categories": None},
    "gradient": {"categories": [3], "metric": "gradient", "kernel": Polynomial(2)},
    "everything given": {"categories": [3], **EXPLICIT},
    "linear columns": {"categories": [3], "linear_columns": True, **EXPLICIT},
    "no map": {"categories": [3], "feature_map": None},
    "landmarks": {"categories": [3], "feature_map": "landmarks"},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_choices_repeat_the_model(name):
    X, y = table(300)
    model = regressor(**SETTINGS[name]).fit(X, y)
    parameters = {"n_components": model.n_components, "random_state": 0} | model.choices_.parameters()
    again = CraftRegressor(**parameters).fit(X, y)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert again.choices_.categories == model.choices_.categories


@pytest.mark.parametrize("name", SETTINGS)
def test_model_files(name, tmp_path):
    X, y = table(300)
    model = regressor(**SETTINGS[name]).fit(X, y)
    model.save(tmp_path / "model.craft", dtype=np.float64, tally=True)
    loaded = load_model(tmp_path / "model.craft")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.categories == model.categories
    assert loaded.choices_.categories == model.choices_.categories
    np.testing.assert_array_equal(clone(loaded).fit(X, y).coef_, model.coef_)
    more, more_y = table(100, seed=1)
    for part in (model, loaded):
        part.partial_fit(more, more_y)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


def test_tallies_of_parts(tmp_path):
    X, y = table(400)
    settled = regressor().settle(X, y)
    settled.tally(X[:150], y[:150]).save(tmp_path / "part.craft")
    tally = load_tally(tmp_path / "part.craft") + settled.tally(X[150:], y[150:])
    whole = regressor().settle(X, y).finish(settled.tally(X, y))
    assert settled.choices_.categories == (3,)
    np.testing.assert_allclose(settled.finish(tally).predict(X), whole.predict(X), rtol=1e-6, atol=1e-6)


def test_names_of_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = table(300)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "carrier"])
    model = regressor(categories=["carrier"], **EXPLICIT).fit(frame, y)
    np.testing.assert_array_equal(model.coef_, regressor(categories=[3], **EXPLICIT).fit(X, y).coef_)
    model.save(tmp_path / "model.craft")
    assert load_model(tmp_path / "model.craft").categories == ["carrier"]
    assert "columns carrier" in model._repr_html_()
    with pytest.raises(ValueError, match="got the name 'plane', which X does not have"):
        regressor(categories=["plane"], **EXPLICIT).fit(frame, y)
    with pytest.raises(ValueError, match="got the name 'carrier', rows have none"):
        regressor(categories=["carrier"], **EXPLICIT).fit(X, y)


def test_a_new_level_is_predicted():
    X, y = table()
    model = regressor(categories=[3], **EXPLICIT).fit(X, y)
    new = X[:20].copy()
    new[:, 3] = 99
    assert np.isfinite(model.predict(new)).all()
    new[:, 3] = 3.5
    assert np.isfinite(model.predict(new)).all()
    new[0, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.predict(new)


@pytest.mark.parametrize("settings", [EXPLICIT, {"n_components": 64}], ids=["explicit", "searched"])
def test_csr_rows_with_explicit_zeros(settings):
    X, y = table(400)
    sparse, stored = (
        regressor(categories=[3], **settings).fit(rows, y) for rows in (csr_matrix(X), with_explicit_zeros(X))
    )
    np.testing.assert_allclose(stored.predict(X), sparse.predict(csr_matrix(X)), rtol=1e-7, atol=1e-7)
    assert sparse.cv_results_["error"] < 0.1 * np.var(y)


def test_single_precision():
    X, y = table()
    model = regressor(categories=[3], **EXPLICIT).fit(X.astype(np.float32), y)
    assert model.features_(X[:2].astype(np.float32)).dtype == np.float32
    expected = regressor(categories=[3], **EXPLICIT).fit(X, y).predict(X)
    np.testing.assert_allclose(model.predict(X.astype(np.float32)), expected, rtol=0, atol=0.02)


def test_threads_change_nothing():
    X, y = table(1000)
    with craftmaps.threads(1):
        one = regressor().fit(X, y)
    with craftmaps.threads(2):
        two = regressor().fit(X, y)
    assert one.choices_.categories == two.choices_.categories == (3,)
    np.testing.assert_array_equal(one.features_(X[:50]), two.features_(X[:50]))


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ("weekday", "categories must be None, 'auto' or a list of columns, got 'weekday'"),
        (3, "categories must be None, 'auto' or a list of columns, got 3"),
        ([-1], "categories must be names of columns, or positions from 0, got -1"),
        ([None], "categories must be names of columns, or positions from 0, got None"),
        ([4], "categories must be positions from 0 to 3, got 4"),
        ([0], "categories must be columns of whole numbers"),
    ],
)
def test_bad_values(categories, message):
    X, y = table(100)
    for settings in (EXPLICIT, {}):
        with pytest.raises((TypeError, ValueError), match=message):
            regressor(categories=categories, **settings).fit(X, y)


def test_report_and_notebooks_name_them():
    X, y = table()
    model = regressor().fit(X, y)
    numbers = gather(Run(model, feature_names=["a", "b", "c", "carrier"]))
    assert numbers["choices"]["categories"] == ["carrier"]
    assert "carrier" in str(search_section(numbers))
    assert re.search(r"categories.*columns 3.*chosen", model._repr_html_(), re.DOTALL)
    assert "categories" not in regressor(categories=None).fit(X, y)._repr_html_().split("<table")[-1]


def test_pipelines_begin_with_categories():
    X, y = table()
    metric = regressor().fit(X, y).features_.metric
    first = metric.steps[0][1] if isinstance(metric, Pipeline) else metric
    assert isinstance(first, CategoryColumns)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("columns_", np.array([3] * 7 + [2]), "columns_ must be the categories, ascending"),
        ("columns_", np.array([3] * 7 + [2**40]), "columns_ must be the categories, ascending"),
        ("columns_", np.array([3.0] * 8), "columns_ must be an array of any numbers as int64"),
        ("levels_", np.arange(7.0), "levels_ must be an array of 8 numbers"),
        ("levels_", np.arange(8.0)[::-1].copy(), "levels_ must be whole numbers up to 16777216, ascending"),
        ("levels_", np.arange(8.0) / 2, "levels_ must be whole numbers"),
        ("levels_", np.arange(8.0) * np.nan, "levels_ must consist of finite numbers"),
        ("values_", np.zeros(8), "values_ must be above zero"),
        ("knots_", np.zeros((2, 256)), "knots_ must be an array of 0 x 256 numbers"),
        ("categories", [3, 4], "categories must be a list of positions from 0 to 3"),
        ("categories", [2], "columns_ must be the categories"),
        ("categories", "auto", "categories must be a list of positions"),
        ("distribution", "log", "distribution must be one of"),
        ("n_levels", 2, "columns_ must be the categories, ascending, each at most 2 times"),
        ("n_levels", 0, "n_levels must be a whole number from 1"),
    ],
)
def test_hostile_files(name, value, message, tmp_path):
    X, y = table(200)
    path = tmp_path / "model.craft"
    regressor(categories=[3], **EXPLICIT).fit(X, y).save(path)
    header = read(path)
    metric = header["lift"]["metric"]
    part = metric["learned"] if name.endswith("_") else metric["parameters"]
    assert name in part
    part[name] = value
    write(path, header)
    with pytest.raises(ModelFileError, match=re.escape(message)):
        load_model(path)
