"""Predictions on a cluster, and learners in a Pipeline of Spark ML."""

import numpy as np
import pytest

from craftmaps import CraftClassifier, CraftRegressor, Exponential, GradientMetric, Polynomial
from tests.engines.spark_rows import NUMBERS, SMALL, WEIGHT, Y, assert_same, frame
from tests.engines.spark_rows import X as ROWS
from tests.engines.spark_session import PYSPARK_WARNINGS, spark  # noqa: F401 - a fixture

pytestmark = PYSPARK_WARNINGS
EXPLICIT = SMALL | {"kernel": Polynomial(2), "metric": None}


def columns(df, *names):
    """Return columns as arrays, in the order of `at`."""
    table = df.orderBy("at").select(*names).toArrow()
    return [np.array(table[name].to_pylist()) for name in names]


def test_labels_and_probabilities(spark):  # noqa: F811
    from craftmaps.spark import predict

    model = CraftClassifier(**EXPLICIT).fit(ROWS, Y)
    df = predict(model, frame(spark, 3), features="features", probability="p")
    assert df.columns == ["at", "features", "label", "prediction", "p"]
    labels, probabilities = columns(df, "prediction", "p")
    np.testing.assert_array_equal(labels, model.predict(ROWS))
    np.testing.assert_allclose(probabilities, model.predict_proba(ROWS), rtol=1e-12)


@pytest.mark.parametrize("targets", [NUMBERS, np.column_stack([NUMBERS, WEIGHT])], ids=["one", "two"])
def test_numbers(spark, targets):  # noqa: F811
    from craftmaps.spark import predict

    model = CraftRegressor(**EXPLICIT).fit(ROWS, targets)
    names = {f"x{i}": values for i, values in enumerate(ROWS.T)}
    df = predict(model, frame(spark, 3, **names), features=list(names), output="label")  # which it replaces
    (found,) = columns(df, "label")
    np.testing.assert_allclose(found, model.predict(ROWS), rtol=1e-12)


@pytest.mark.parametrize(("labels", "kind"), [(NUMBERS > 0, "boolean"), (NUMBERS.astype(int), "bigint")])
def test_labels_keep_their_type(spark, labels, kind):  # noqa: F811
    from craftmaps.spark import predict

    model = CraftClassifier(**EXPLICIT).fit(ROWS, labels)
    df = predict(model, frame(spark, 3), features="features")
    assert df.schema["prediction"].dataType.simpleString() == kind
    (found,) = columns(df, "prediction")
    np.testing.assert_array_equal(found, model.predict(ROWS))


def test_a_pipeline_is_fitted_saved_loaded_and_used(spark, tmp_path):  # noqa: F811
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator
    from pyspark.ml.feature import StringIndexer, VectorAssembler
    from pyspark.ml.functions import vector_to_array

    from craftmaps.spark import CraftClassifierSpark

    names = {f"x{i}": values for i, values in enumerate(ROWS.T)}
    df = frame(spark, 2, weight=WEIGHT, **names).drop("features")
    stages = [
        StringIndexer(inputCol="label", outputCol="number", stringOrderType="alphabetAsc"),
        VectorAssembler(inputCols=list(names), outputCol="features"),
        CraftClassifierSpark(estimator=CraftClassifier(**EXPLICIT), labelCol="number", weightCol="weight"),
    ]
    Pipeline(stages=stages).write().overwrite().save(str(tmp_path / "unfitted"))
    fitted = Pipeline.load(str(tmp_path / "unfitted")).fit(df)
    numbers = np.searchsorted(["x", "y", "z"], Y).astype(float)
    whole = CraftClassifier(**EXPLICIT).fit(ROWS, numbers, WEIGHT)
    assert_same(fitted.stages[-1].learner, whole)
    fitted.save(str(tmp_path / "fitted"))
    loaded = PipelineModel.load(str(tmp_path / "fitted"))
    predicted = loaded.transform(df)
    labels, probabilities = columns(predicted.withColumn("p", vector_to_array("probability")), "prediction", "p")
    np.testing.assert_array_equal(labels, whole.predict(ROWS))
    np.testing.assert_allclose(probabilities, whole.predict_proba(ROWS), rtol=1e-8)
    accuracy = MulticlassClassificationEvaluator(labelCol="number", metricName="accuracy").evaluate(predicted)
    assert accuracy == pytest.approx(whole.score(ROWS, numbers))


def test_a_regressor_in_a_pipeline(spark):  # noqa: F811
    from craftmaps.spark import CraftRegressorSpark

    stage = CraftRegressorSpark(featuresCol="rows", predictionCol="found").setParams(
        estimator=CraftRegressor(**EXPLICIT)
    )
    model = stage.fit(frame(spark, 2, label=NUMBERS).withColumnRenamed("features", "rows"))
    whole = CraftRegressor(**EXPLICIT).fit(ROWS, NUMBERS)
    assert_same(model.learner, whole)
    (found,) = columns(model.transform(frame(spark, 3).withColumnRenamed("features", "rows")), "found")
    np.testing.assert_allclose(found, whole.predict(ROWS), rtol=1e-8)


@pytest.mark.parametrize(
    "estimator",
    [
        CraftClassifier(),
        CraftClassifier(
            Exponential(0.5), 64, alphas=np.array([0.5, 1]), normalize=np.float64(2), code=[[1, -1], [-1, 1]]
        ),
        CraftRegressor(Polynomial(np.int64(4), coef0=0.5), alphas=(1, 2), cv=None),
    ],
)
def test_an_estimator_as_text(estimator):
    pytest.importorskip("pyspark")
    from craftmaps.spark.estimator_text import from_text, to_text

    again = from_text(to_text(estimator))
    assert type(again) is type(estimator)
    assert to_text(again) == to_text(estimator)


def test_estimators_that_cannot_be_parameters():
    pytest.importorskip("pyspark")
    from craftmaps.spark import CraftClassifierSpark

    with pytest.raises(TypeError, match="metric must be a number, a name, a list of numbers or a kernel"):
        CraftClassifierSpark(estimator=CraftClassifier(metric=GradientMetric()))
    with pytest.raises(TypeError, match="estimator must be a CraftClassifier or a CraftRegressor, got 3"):
        CraftClassifierSpark(estimator=3)
    with pytest.raises(ValueError, match="estimator must be an estimator, or one as text, got 'nonsense'"):
        CraftClassifierSpark(estimator="nonsense")
    with pytest.raises(TypeError, match="estimator must be a CraftClassifier, got a CraftRegressor"):
        CraftClassifierSpark(estimator=CraftRegressor()).getEstimator()
