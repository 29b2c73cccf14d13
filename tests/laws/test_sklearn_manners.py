"""Maps behave in pipelines, searches, frames and pickles as scikit-learn's own transformers do."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from craftmaps import CraftMap, LandmarkMap, MaclaurinSeries, Polynomial, RandomMaclaurin, TensorSketch
from tests.catalogue import MAPS
from tests.comparison import assert_rows_close

KERNEL_MAPS = pytest.mark.parametrize("family", [RandomMaclaurin, TensorSketch, CraftMap, LandmarkMap])


@pytest.mark.parametrize("name", MAPS)
def test_names_of_the_features(rows, name):
    feature_map = clone(MAPS[name]).fit(rows)
    prefix = type(feature_map).__name__.lower()
    expected = [f"{prefix}{i}" for i in range(feature_map.transform(rows).shape[1])]
    assert feature_map.get_feature_names_out().tolist() == expected


@pytest.mark.parametrize("name", MAPS)
def test_frames_come_out_if_asked_for(rows, name):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, columns=[f"column {k}" for k in range(12)], index=range(100, 160))
    feature_map = clone(MAPS[name]).set_output(transform="pandas").fit(frame)
    Z = feature_map.transform(frame)
    assert isinstance(Z, pandas.DataFrame)
    assert Z.columns.tolist() == feature_map.get_feature_names_out().tolist()
    assert Z.index.tolist() == list(range(100, 160))
    assert_rows_close(Z.to_numpy(), clone(MAPS[name]).fit_transform(rows), 1e-12)


@pytest.mark.parametrize("name", MAPS)
def test_frames_come_out_if_configured(rows, name):
    pandas = pytest.importorskip("pandas")
    with sklearn.config_context(transform_output="pandas"):
        Z = clone(MAPS[name]).fit(rows).transform(rows)
    assert isinstance(Z, pandas.DataFrame)
    assert_rows_close(Z.to_numpy(), clone(MAPS[name]).fit_transform(rows), 1e-12)


@pytest.mark.parametrize("name", MAPS)
def test_a_pickled_map_is_the_same_map(rows, csr_rows, name):
    feature_map = clone(MAPS[name]).fit(rows)
    copy = pickle.loads(pickle.dumps(feature_map))
    for X in (rows, csr_rows):
        np.testing.assert_array_equal(copy.transform(X), feature_map.transform(X))


@pytest.mark.parametrize("name", MAPS)
def test_a_clone_of_a_fitted_map_fits_alike(rows, name):
    feature_map = clone(MAPS[name]).fit(rows)
    copy = clone(feature_map)
    assert str(copy.get_params()) == str(feature_map.get_params())
    np.testing.assert_array_equal(copy.fit_transform(rows), feature_map.transform(rows))


@KERNEL_MAPS
def test_setting_the_degree_leaves_the_default_kernel_alone(family):
    feature_map = family().set_params(kernel__degree=9)
    assert feature_map.kernel.degree == 9
    assert family().kernel.degree == 3


@KERNEL_MAPS
def test_setting_the_degree_leaves_a_shared_kernel_alone(family):
    kernel = Polynomial(4)
    first, second = family(kernel), family(kernel)
    make_pipeline(first).set_params(**{f"{family.__name__.lower()}__kernel__degree": 7})
    assert (first.kernel.degree, second.kernel.degree, kernel.degree) == (7, 4, 4)


@KERNEL_MAPS
def test_setting_kernel_and_degree_together_leaves_the_given_kernel_alone(family):
    kernel = Polynomial(4)
    feature_map = family().set_params(kernel=kernel, kernel__degree=7)
    assert (feature_map.kernel.degree, kernel.degree) == (7, 4)


def test_setting_the_degree_of_a_nested_map_leaves_its_kernel_alone():
    kernel = Polynomial(4)
    craft_map = CraftMap(up=RandomMaclaurin(kernel)).set_params(up__kernel__degree=7)
    assert (craft_map.up.kernel.degree, kernel.degree) == (7, 4)


def test_an_unknown_parameter_is_refused():
    with pytest.raises(ValueError, match="power"):
        RandomMaclaurin().set_params(kernel__power=2)
    with pytest.raises(ValueError, match="degree"):
        RandomMaclaurin(MaclaurinSeries([1.0, 1.0])).set_params(kernel__degree=2)


@KERNEL_MAPS
def test_a_search_over_the_degree_finds_what_the_data_is(family):
    X = np.random.default_rng(0).normal(size=(120, 3))
    name = family.__name__.lower()
    model = make_pipeline(family(Polynomial(1), 40, random_state=0), Ridge(alpha=1e-6))
    search = GridSearchCV(model, {f"{name}__kernel__degree": [0, 1, 2]}, cv=3).fit(X, X[:, 0] * X[:, 1])
    assert search.best_params_ == {f"{name}__kernel__degree": 2}
    assert search.best_score_ > 0.99
    assert model[0].kernel.degree == 1


def test_a_search_over_the_coefficients_of_a_series_works(rows):
    model = make_pipeline(RandomMaclaurin(MaclaurinSeries([1.0]), 40, random_state=0), Ridge(alpha=1e-6))
    choices = [[1.0], [0.0, 1.0]]
    search = GridSearchCV(model, {"randommaclaurin__kernel__coefficients": choices}, cv=3)
    search.fit(rows, rows @ np.arange(12.0))
    assert search.best_params_ == {"randommaclaurin__kernel__coefficients": [0.0, 1.0]}
