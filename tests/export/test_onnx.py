"""ONNX files predict as models do, in onnxruntime."""

import numpy as np
import pytest
from sklearn.base import clone

from craftmaps import CraftClassifier, datasets, export
from craftmaps.export.onnx_model import model_proto
from craftmaps.export.recipe import recipe_of
from tests.export import models
from tests.export.test_recipe import expected_scores

pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def run(proto, X):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X.astype(np.float32)}), strict=True))


def rounding(model, X):
    """Return how far the model's own scores in single precision are from those in double precision."""
    exact = expected_scores(model, X)
    single = X.astype(np.float32)
    own = model._scores(single) if isinstance(model, CraftClassifier) else model._outputs(single)
    return np.abs(own - exact).max()


@pytest.mark.parametrize("name", models.NAMES)
def test_outputs(name):
    model, X = models.fitted(name), models.rows_of(name, models.unseen_rows()).astype(np.float32)
    found, expected = run(model_proto(recipe_of(model)), X), expected_scores(model, X)
    tolerance = 3 * rounding(model, X) if name in models.IS_ROUGH else 5e-6 * np.abs(expected).max()
    if not isinstance(model, CraftClassifier):
        assert found["prediction"].dtype == np.float64
        np.testing.assert_allclose(found["prediction"], expected, rtol=0, atol=tolerance)
        return
    np.testing.assert_allclose(found["scores"], expected, rtol=0, atol=tolerance)
    probabilities = model.predict_proba(X.astype(np.float64))
    np.testing.assert_allclose(found["probabilities"], probabilities, rtol=0, atol=max(5e-6, 10 * tolerance))
    best = np.sort(expected, axis=1)
    is_clear = best[:, -1] - best[:, -2] > max(1e-5, 2 * tolerance)
    assert is_clear.any()
    labels = model.predict(X.astype(np.float64))
    assert found["label"][is_clear].tolist() == labels[is_clear].tolist()


@pytest.mark.parametrize("name", models.MAPS)
def test_features(name):
    feature_map, X = models.fitted_map(name), models.unseen_rows().astype(np.float32)
    expected = feature_map.transform(X.astype(np.float64))
    own = np.abs(feature_map.transform(X) - expected).max()
    found = run(model_proto(recipe_of(feature_map)), X)["features"]
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=max(3 * own, 2e-6 * np.abs(expected).max()))


@pytest.mark.parametrize("n", [0, 1, 7])
def test_any_number_of_rows(n):
    found = run(model_proto(recipe_of(models.fitted("craft"))), models.unseen_rows()[:n])
    assert found["probabilities"].shape == (n, 4)


def test_large_transforms():
    rng = np.random.default_rng(0)
    X = rng.random((200, 200)).astype(np.float32)
    model = CraftClassifier(models.P3, 64, metric=None, alphas=1e-3, random_state=0).fit(X, np.arange(200) % 3)
    found = run(model_proto(recipe_of(model)), X)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X.astype(np.float64)), rtol=0, atol=5e-6)


@pytest.mark.parametrize("name", ["craft", "craft real"])
def test_many_classes(name):
    X = models.rows()[0]
    model = models.MODELS[name]
    model = clone(model).fit(X, np.arange(160) % 40)
    found = run(model_proto(recipe_of(model)), X)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), rtol=0, atol=5e-6)


def test_targets_far_from_zero():
    X, _, numbers = models.rows()
    model = models._regressor().fit(X, numbers + 1e6)
    found = run(model_proto(recipe_of(model)), X)["prediction"]
    np.testing.assert_allclose(found, model.predict(X), rtol=0, atol=1e-4)


def test_a_file(tmp_path):
    digits = datasets.load("digits")
    model = CraftClassifier(models.P3, 256, metric=None, random_state=0).fit(digits.X_train, digits.y_train)
    export.onnx(model, tmp_path / "digits.onnx")
    assert (tmp_path / "digits.onnx").stat().st_size <= 45_000
    session = onnxruntime.InferenceSession(tmp_path / "digits.onnx", providers=["CPUExecutionProvider"])
    label, probabilities, _ = session.run(None, {"X": digits.X_test.astype(np.float32)})
    np.testing.assert_allclose(probabilities, model.predict_proba(digits.X_test), rtol=0, atol=5e-6)
    assert (label == model.predict(digits.X_test)).all()


def test_nothing_is_left_of_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(TypeError, match="Ridge"):
        export.onnx(__import__("sklearn.linear_model").linear_model.Ridge(), tmp_path / "ridge.onnx")
    assert not list(tmp_path.iterdir())
