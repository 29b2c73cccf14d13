"""The recipe alone predicts as the model does, by a predictor that shares no code with the library."""

import json

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.linear_model import Ridge

from craftmaps import CraftClassifier, CraftMap, Polynomial
from craftmaps.export.packing import to_plain
from craftmaps.export.recipe import recipe_of
from craftmaps.shaping.gradient_metric import GradientMetric
from tests.export import models, reference


def plain_of(model, precision="float64"):
    return json.loads(json.dumps(to_plain(recipe_of(model), precision)))


def expected_scores(model, X):
    """Return corrected scores of all classes, or numbers, in double precision."""
    X = X.astype(np.float64)
    return model._scores(X) if isinstance(model, CraftClassifier) else model._outputs(X)


@pytest.mark.parametrize("name", models.NAMES)
def test_scores(name):
    model, X = models.fitted(name), models.rows_of(name, models.unseen_rows())
    plain, expected = plain_of(model), expected_scores(model, X)
    found = np.array([reference.outputs(plain, row) for row in X])
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=(1e-6 if name in models.IS_ROUGH else 1e-10) * scale)


@pytest.mark.parametrize("name", [name for name in models.NAMES if "regressor" not in name])
def test_probabilities_and_labels(name):
    model, X = models.fitted(name), models.rows_of(name, models.unseen_rows())
    plain = plain_of(model)
    found = np.array([reference.probabilities(plain, reference.outputs(plain, row)) for row in X])
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=1e-6)
    assert plain["classes"]["labels"] == model.classes_.tolist()


@pytest.mark.parametrize("name", models.MAPS)
def test_features(name):
    feature_map, X = models.fitted_map(name), models.unseen_rows()
    plain, expected = plain_of(feature_map), feature_map.transform(X)
    found = np.array([reference.outputs(plain, row) for row in X])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert recipe_of(feature_map).n_outputs == expected.shape[1]


@pytest.mark.parametrize("precision", ["float32", "int16"])
@pytest.mark.parametrize("name", ["craft", "covariance", "landmarks", "linear columns, quantile", "random code, loss"])
def test_rounded(name, precision):
    model, X = models.fitted(name), models.rows_of(name, models.unseen_rows())
    plain = plain_of(model, precision)
    found = np.array([reference.outputs(plain, row) for row in X])
    expected = expected_scores(model, X)
    tolerance = {"float32": 1e-5, "int16": 2e-3}[precision] * np.abs(expected).max()
    assert 0 < np.abs(found - expected).max() < tolerance


def test_columns_of_unlike_units_are_rounded_alike():
    X, _, numbers = models.rows()
    units = 10.0 ** np.arange(-9, 9, 3)
    metric = GradientMetric(standardize=True).fit(X * units, numbers)
    plain, expected = plain_of(metric, "int16"), metric.transform(X * units)
    found = np.array([reference.outputs(plain, row) for row in X * units])
    np.testing.assert_allclose(found, expected, rtol=0, atol=5e-3)
    assert np.abs(expected).mean(axis=0).min() > 5e-2


def test_a_recipe_is_small():
    model = models.fitted("craft wide")
    text = json.dumps(to_plain(recipe_of(model), "int16"))
    n_weights = recipe_of(model).head.weights.size
    assert len(text) < 2 * n_weights * 4 / 3 + 2000


def test_rows_that_wait_are_counted_first():
    X, y, _ = models.rows()
    model = models._classifier().partial_fit(X, y)
    assert recipe_of(model).n_outputs == 4


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"metric": PCA(3)}, "metric must .* got PCA of sklearn"),
        ({"feature_map": PolynomialCountSketch(n_components=8)}, "feature map must .* got PolynomialCountSketch"),
        ({"feature_map": CraftMap(models.P3, 8, up=PCA(3))}, "feature map must .* got PCA"),
    ],
    ids=["metric", "feature map", "up-projection"],
)
def test_parts_from_elsewhere_are_named(settings, named):
    X, y, _ = models.rows()
    model = CraftClassifier(models.P3, 8, **{"metric": None, "random_state": 0, "alphas": 1e-3, **settings}).fit(X, y)
    with pytest.raises(TypeError, match=named):
        recipe_of(model)


def test_a_model_from_elsewhere_is_named():
    with pytest.raises(TypeError, match=r"model must be a fitted learner or map of craftmaps .* got Ridge"):
        recipe_of(Ridge())


def test_a_model_must_be_fitted():
    with pytest.raises(ValueError, match="not fitted"):
        recipe_of(CraftClassifier())
    with pytest.raises(ValueError, match="not fitted"):
        recipe_of(CraftMap(Polynomial(2)))


def test_a_map_without_a_down_projection():
    X = models.unseen_rows().astype(np.float64)
    feature_map = CraftMap(Polynomial(2, coef0=0.0), 16, up_components="auto", random_state=0).fit(X[:, :4])
    assert feature_map.down_ is None
    expected = feature_map.transform(X[:, :4])
    found = np.array([reference.outputs(plain_of(feature_map), row) for row in X[:, :4]])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_exact_quadratic_columns_are_refused():
    X = models.unseen_rows()[:, :4]
    feature_map = CraftMap(Polynomial(3), 64, up_components="auto", random_state=0).fit(X)
    with pytest.raises(TypeError, match="exact quadratic columns cannot be exported: set up_components to an int"):
        recipe_of(feature_map)
