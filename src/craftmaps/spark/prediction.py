"""Predict for the rows of a DataFrame with a fitted model."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everywhere in PySpark

import craftmaps
from craftmaps.learners import CraftClassifier, load_model
from craftmaps.spark.columns import Columns, matrix_column
from craftmaps.spark.rows import matrix

# Kinds of labels, as Spark and Arrow call them.
_TYPES = {"b": ("boolean", pa.bool_()), "i": ("bigint", pa.int64()), "u": ("bigint", pa.int64())}
_TYPES |= {"f": ("double", pa.float64()), "U": ("string", pa.string()), "O": ("string", pa.string())}


def predict(
    model: Any, df: DataFrame, *, features: Columns, output: str = "prediction", probability: str | None = None
) -> DataFrame:
    """Return a DataFrame with the predictions of a fitted model in a further column, computed when it is read.

    Parameters
    ----------
    model : CraftClassifier or CraftRegressor
    df : DataFrame
    features : str or list of str
        As in `fit`.
    output : str, default="prediction"
        The column for labels or numbers; several targets become an array.
    probability : str, optional
        A column for the probabilities of the classes, as an array in the order of `model.classes_`.

    Examples
    --------
    >>> predict(model, df, features="features", probability="probability")  # doctest: +SKIP
    """
    if probability is not None and not isinstance(model, CraftClassifier):
        raise TypeError(f"probability must be None for a {type(model).__name__}, got {probability!r}.")
    found = _predicted(model, matrix_column(df, features, "features"), with_probabilities=probability is not None)
    columns = {output: "_craft.prediction"} | ({} if probability is None else {probability: "_craft.probability"})
    df = df.withColumn("_craft", found)
    return df.withColumns({name: F.col(field) for name, field in columns.items()}).drop("_craft")


def _predicted(model: Any, features: Column, with_probabilities: bool) -> Column:
    """Return a column of structs: a prediction and perhaps probabilities."""
    data = to_bytes(model)
    kind, arrow_type = _output_type(model)
    fields = f"prediction: {kind}" + (", probability: array<double>" if with_probabilities else "")

    def predict_batches(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        model, context = from_bytes(data), TaskContext.get()
        with craftmaps.threads(1 if context is None else context.cpus()):
            for batch in batches:
                yield _predictions(
                    model, matrix(batch, "features", model.n_features_in_), arrow_type, with_probabilities
                )

    function: Any = F.arrow_udf(predict_batches, f"struct<{fields}>")  # type: ignore[call-overload]
    return function(features)


def to_bytes(model: Any) -> bytes:
    """Return a model as the content of a model file, in full precision."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.craft")
        model.save(path, dtype=np.float64)
        return Path(path).read_bytes()


def from_bytes(data: bytes) -> Any:
    """Return the model of the content of a model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.craft")
        path.write_bytes(data)
        return load_model(path)


def _output_type(model: Any) -> tuple[str, pa.DataType]:
    """Return the type of a prediction, as Spark and as Arrow calls it."""
    if isinstance(model, CraftClassifier):
        return _TYPES[model.classes_.dtype.kind]
    is_flat = model.coef_.ndim == 1
    return _TYPES["f"] if is_flat else ("array<double>", pa.list_(pa.float64()))


def _predictions(model: Any, X: NDArray, arrow_type: pa.DataType, with_probabilities: bool) -> pa.StructArray:
    """Return the predictions for rows as Arrow has them."""
    if not with_probabilities:
        labels = model.predict(X)
        column = _lists(labels) if labels.ndim == 2 else pa.array(labels, arrow_type)
        return pa.StructArray.from_arrays([column], ["prediction"])
    probabilities = model.predict_proba(X).astype(np.float64)
    probabilities /= probabilities.sum(axis=1, keepdims=True)  # of float32 rows they add up to one in float32 only
    labels = model.classes_[probabilities.argmax(axis=1)]
    return pa.StructArray.from_arrays(
        [pa.array(labels, arrow_type), _lists(probabilities)], ["prediction", "probability"]
    )


def _lists(numbers: NDArray) -> pa.ListArray:
    """Return the rows of a matrix as lists."""
    starts = np.arange(numbers.shape[0] + 1, dtype=np.int32) * numbers.shape[1]
    return pa.ListArray.from_arrays(starts, pa.array(numbers.ravel(), pa.float64()))
