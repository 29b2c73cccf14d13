"""Pipelines with learners and maps convert with skl2onnx."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from craftmaps import CraftMap, Polynomial, datasets, export
from tests.export import models

skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


@pytest.fixture(scope="module", autouse=True)
def registered():
    export.register_skl2onnx()
    export.register_skl2onnx()


def converted(pipeline, X, **settings):
    proto = skl2onnx.to_onnx(pipeline, X[:1], **{"target_opset": 18, **settings})
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: X})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("target_opset", [18, 20])
def test_a_map_before_a_regression(dtype, target_opset):
    digits = datasets.load("digits")
    X = digits.X_train.astype(dtype)
    steps = (Normalizer(), CraftMap(Polynomial(3), 128, random_state=0), LogisticRegression(max_iter=500))
    pipeline = make_pipeline(*steps).fit(X, digits.y_train)
    label, probabilities = converted(pipeline, X[:200], target_opset=target_opset, options={"zipmap": False})
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(X[:200]), rtol=0, atol=2e-5)
    assert probabilities.dtype == dtype
    assert (label == pipeline.predict(X[:200])).all()


@pytest.mark.parametrize("zipmap", [True, False, "columns"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("labels", ["numbers", "text", "booleans"])
def test_a_classifier_in_a_pipeline(dtype, zipmap, labels):
    X, y, _ = models.rows()
    X = X.astype(dtype)
    y = {"numbers": y, "text": np.array(list("abcd"))[y], "booleans": y > 1}[labels]
    pipeline = make_pipeline(StandardScaler(), models._classifier()).fit(X, y)
    label, *rest = converted(pipeline, X, options={id(pipeline[-1]): {"zipmap": zipmap}})
    assert label.tolist() == [int(v) if labels == "booleans" else v for v in pipeline.predict(X).tolist()]
    if zipmap is True:
        found = np.array([list(row.values()) for row in rest[0]])
    else:
        found = rest[0] if zipmap is False else np.column_stack(rest)
    np.testing.assert_allclose(found, pipeline.predict_proba(X.astype(np.float64)), rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_regressor_in_a_pipeline(dtype):
    X, _, numbers = models.rows()
    X = X.astype(dtype)
    pipeline = make_pipeline(StandardScaler(), models._regressor()).fit(X, numbers)
    (found,) = converted(pipeline, X)
    np.testing.assert_allclose(found, pipeline.predict(X), rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["craft", "tensorsketch", "landmarks", "covariance", "subsampled", "maclaurin"])
@pytest.mark.parametrize("target_opset", [18, 20])
def test_maps(name, target_opset):
    X, _, numbers = models.rows()
    feature_map = models.fitted_map(name)
    pipeline = make_pipeline(feature_map, Ridge()).fit(X, numbers[:, 0])
    (found,) = converted(pipeline, X.astype(np.float32), target_opset=target_opset)
    expected = pipeline.predict(X)
    np.testing.assert_allclose(found[:, 0], expected, rtol=0, atol=2e-4 * np.abs(expected).max())


def test_whole_numbers_as_input():
    X = np.arange(60, dtype=np.int64).reshape(10, 6) % 7
    pipeline = make_pipeline(CraftMap(Polynomial(2), 16, random_state=0), Ridge()).fit(X, np.arange(10.0))
    (found,) = converted(pipeline, X)
    np.testing.assert_allclose(found[:, 0], pipeline.predict(X), rtol=0, atol=1e-3)


def test_large_means_in_double_precision():
    X, y, _ = models.rows()
    X = X + 1e7
    model = models._classifier(metric=StandardScaler()).fit(X, y)
    pipeline = make_pipeline(model)
    probabilities = converted(pipeline, X, options={"zipmap": False})[1]
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-5)


def test_old_operators_are_refused():
    X, y, _ = models.rows()
    with pytest.raises(ValueError, match="target_opset must be at least 18, got 15"):
        converted(make_pipeline(models._classifier()).fit(X, y), X, target_opset=15)
