"""Tables of quantile columns: values of any size, ends, knots, and how knots are stored."""

import numpy as np
import pytest

from craftmaps.export.packing import knot_precision, to_plain
from craftmaps.export.recipe import recipe_of
from craftmaps.shaping.quantile_columns import QuantileColumns
from craftmaps.shaping.row_features import LinearColumns
from tests.export import models
from tests.export.predictors import PREDICTORS
from tests.export.test_recipe import expected_scores, plain_of


def uneven_rows(n=400):
    """Return float32 rows: seconds of a day in 2023, a far offset, heavy tails, two levels, a constant, tiny numbers.

    Neighbouring seconds differ by 128 in float32, and knots of a far offset by few of its last digits.
    """
    rng = np.random.default_rng(0)
    columns = [
        1.7e9 + 86400 * rng.random(n),
        1e6 + rng.normal(size=n),
        rng.standard_cauchy(n) ** 3,
        rng.integers(0, 2, n),
        np.full(n, 7.0),
        1e-30 * rng.normal(size=n),
    ]
    return np.stack(columns, axis=1)


@pytest.fixture(scope="module")
def model():
    X = uneven_rows()
    y = (X[:, 0] > 1.7e9 + 4e4).astype(int) + 2 * (X[:, 1] > 1e6)
    return models._classifier(metric=QuantileColumns(n_knots=64), feature_map=None, normalize=False).fit(X, y)


def values_at_knots_and_beyond(model):
    """Return rows in single precision: training rows, rows of knots, and rows beyond all ends."""
    ends = np.array([[-3e38], [-1.0], [0.0], [3e38]]) * np.ones(6)
    return np.concatenate([uneven_rows(20), model.features_.metric.knots_.T[::7], ends]).astype(np.float32)


@pytest.mark.parametrize("predictor", PREDICTORS)
def test_values_of_any_size(predictor, model, monkeypatch):
    X = values_at_knots_and_beyond(model)
    expected = expected_scores(model, X)
    found = PREDICTORS[predictor](plain_of(model), X.astype(np.float64), None, monkeypatch)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(expected).max())


def test_knots_are_trimmed(model):
    (step,) = recipe_of(model.features_.metric).steps
    assert step["sizes"][3:5] == [2, 1]
    assert step["sizes"] == [np.unique(knots).size for knots in model.features_.metric.knots_]
    assert step["knots"].size == step["scores"].size == sum(step["sizes"])


def test_knots_have_the_precision_that_they_need(model):
    (fine,) = recipe_of(model.features_.metric).steps
    (usual,) = recipe_of(QuantileColumns().fit(models.rows()[0].round(2))).steps
    assert (knot_precision(usual), knot_precision(fine)) == ("float32", "float64")
    huge = recipe_of(QuantileColumns().fit([[-1e300], [0.0], [1e300]])).steps[0]
    assert knot_precision(huge) == "float64"
    stored = [to_plain(recipe_of(m), "int16")["steps"][0] for m in (model, models.fitted("quantile"))]
    assert [step["knots"]["type"] for step in stored] == ["float64", "float32"]
    assert [step["scores"]["type"] for step in stored] == ["float32", "float32"]


def test_rows_of_double_precision_in_a_pipeline():
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    from craftmaps import export

    export.register_skl2onnx()
    X = uneven_rows()
    metric = QuantileColumns().fit(X)
    proto = skl2onnx.to_onnx(metric, X[:1], target_opset=18)
    session = runtime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {"X": X})[0]
    np.testing.assert_allclose(found, metric.transform(X), rtol=0, atol=1e-6)


def test_models_have_linear_columns():
    for name in models.NAMES:
        assert (recipe_of(models.fitted(name)).linear is not None) == name.startswith("linear columns")


def test_other_linear_columns_are_refused():
    X, y, _ = models.rows()
    model = models._classifier(metric=QuantileColumns(), linear_columns=True).fit(X, y)
    other = LinearColumns(QuantileColumns(n_knots=5).fit(X), 1.0)
    object.__setattr__(model._solved.features, "linear", other)
    with pytest.raises(ValueError, match=r"linear columns must be .* got those of another QuantileColumns"):
        recipe_of(model)
