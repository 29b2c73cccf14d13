"""Learners as stages of a Spark ML Pipeline, which save and load with it."""
# ruff: noqa: N802 - names are those of Spark ML.

from typing import Any, Self

from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params
from pyspark.ml.param.shared import HasFeaturesCol, HasLabelCol, HasPredictionCol, HasProbabilityCol, HasWeightCol
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everywhere in PySpark

from craftmaps.learners import CraftClassifier, CraftRegressor
from craftmaps.spark.estimator_text import from_text, to_text
from craftmaps.spark.fitting import fit
from craftmaps.spark.prediction import from_bytes, predict, to_bytes

_PIECE = 2**22  # bytes of a model in a row of its Parquet file


class _ModelWriter(MLWriter):
    """Write metadata as Spark ML does, and beside it the bytes of the model file in rows of Parquet."""

    def __init__(self, instance: "_LearnerModel"):
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        """Write a model to a folder."""
        data = to_bytes(self.instance.learner)
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession)
        pieces = [(i, data[start : start + _PIECE]) for i, start in enumerate(range(0, len(data), _PIECE))]
        self.sparkSession.createDataFrame(pieces, "piece int, data binary").coalesce(1).write.parquet(f"{path}/model")


class _ModelReader(MLReader):
    """Read what a `_ModelWriter` wrote."""

    def __init__(self, cls: type["_LearnerModel"]):
        super().__init__()
        self.cls = cls

    def load(self, path: str) -> "_LearnerModel":
        """Read a model from a folder."""
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        pieces = self.sparkSession.read.parquet(f"{path}/model").sort("piece").collect()
        model = self.cls(from_bytes(b"".join(row.data for row in pieces)))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


class _LearnerModel(Model, HasFeaturesCol, HasPredictionCol, MLReadable, MLWritable):
    """A fitted learner as a transformer; `learner` is the fitted estimator."""

    def __init__(self, learner: Any = None):
        super().__init__()
        self.learner = learner

    def write(self) -> _ModelWriter:
        """Return what `save` calls."""
        return _ModelWriter(self)

    @classmethod
    def read(cls) -> _ModelReader:
        """Return what `load` calls."""
        return _ModelReader(cls)


class CraftClassifierSparkModel(_LearnerModel, HasProbabilityCol):
    """A fitted classifier in a Pipeline.

    Predictions are doubles, as evaluators of Spark ML want them, or text if labels are text; probabilities are vectors
    in the order of `learner.classes_`.

    Attributes
    ----------
    learner : CraftClassifier
    """

    def _transform(self, dataset: DataFrame) -> DataFrame:
        output, probability = self.getPredictionCol(), self.getProbabilityCol()
        df = predict(self.learner, dataset, features=self.getFeaturesCol(), output=output, probability=probability)
        df = df.withColumn(probability, array_to_vector(F.col(probability)))
        is_text = self.learner.classes_.dtype.kind in "OU"
        return df if is_text else df.withColumn(output, F.col(output).cast("double"))


class CraftRegressorSparkModel(_LearnerModel):
    """A fitted regressor in a Pipeline.

    Attributes
    ----------
    learner : CraftRegressor
    """

    def _transform(self, dataset: DataFrame) -> DataFrame:
        return predict(self.learner, dataset, features=self.getFeaturesCol(), output=self.getPredictionCol())


class _Learner(
    Estimator,
    HasFeaturesCol,
    HasLabelCol,
    HasWeightCol,
    HasPredictionCol,
    DefaultParamsReadable,
    DefaultParamsWritable,
):
    """A learner to be fitted."""

    estimator: Param[str] = Param(
        Params._dummy(),
        "estimator",
        "the learner to fit, an estimator of craftmaps; kept as JSON text",
        typeConverter=lambda value: to_text(from_text(value) if isinstance(value, str) else value),
    )
    _learner: type
    _model: type[_LearnerModel]
    _input_kwargs: dict[str, Any]  # the arguments of the constructor that were given: `keyword_only` sets it

    def getEstimator(self) -> Any:
        """Return the learner to fit, a new one at every call."""
        learner = from_text(self.getOrDefault(self.estimator))
        if not isinstance(learner, self._learner):
            raise TypeError(f"estimator must be a {self._learner.__name__}, got a {type(learner).__name__}.")
        return learner

    def setParams(self, **params: Any) -> Self:
        """Set parameters."""
        return self._set(**params)

    def _begin(self) -> None:
        """Set defaults and the parameters that were given."""
        self._setDefault(estimator=to_text(self._learner()))
        self._set(**self._input_kwargs)

    def _fit(self, dataset: DataFrame) -> _LearnerModel:
        weight = self.getWeightCol() if self.isSet(self.weightCol) else None
        learner = fit(
            self.getEstimator(),
            dataset,
            features=self.getFeaturesCol(),
            label=self.getLabelCol(),
            weight=weight or None,
        )
        return self._copyValues(self._model(learner))


class CraftClassifierSpark(_Learner, HasProbabilityCol):
    """`CraftClassifier` as an estimator of Spark ML.

    Parameters
    ----------
    estimator : CraftClassifier, optional
        The learner with its parameters, which must be numbers, names or kernels.
    featuresCol : str, default="features"
        A column of vectors or of arrays.
    labelCol : str, default="label"
        Numbers or text.
    weightCol : str, optional
    predictionCol : str, default="prediction"
    probabilityCol : str, default="probability"

    Examples
    --------
    >>> from craftmaps import CraftClassifier
    >>> CraftClassifierSpark(estimator=CraftClassifier(n_components=512)).getEstimator()
    CraftClassifier(n_components=512)
    """

    _learner, _model = CraftClassifier, CraftClassifierSparkModel

    @keyword_only
    def __init__(
        self,
        *,
        estimator: Any = None,
        featuresCol: str = "features",
        labelCol: str = "label",
        weightCol: str | None = None,
        predictionCol: str = "prediction",
        probabilityCol: str = "probability",
    ):
        super().__init__()
        self._begin()


class CraftRegressorSpark(_Learner):
    """`CraftRegressor` as an estimator of Spark ML.

    Parameters
    ----------
    estimator : CraftRegressor, optional
        The learner with its parameters, which must be numbers, names or kernels.
    featuresCol : str, default="features"
        A column of vectors or of arrays.
    labelCol : str, default="label"
        Numbers, or arrays of them for several targets.
    weightCol : str, optional
    predictionCol : str, default="prediction"

    Examples
    --------
    >>> CraftRegressorSpark(featuresCol="x").getFeaturesCol()
    'x'
    """

    _learner, _model = CraftRegressor, CraftRegressorSparkModel

    @keyword_only
    def __init__(
        self,
        *,
        estimator: Any = None,
        featuresCol: str = "features",
        labelCol: str = "label",
        weightCol: str | None = None,
        predictionCol: str = "prediction",
    ):
        super().__init__()
        self._begin()
