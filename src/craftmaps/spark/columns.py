"""Which columns of a DataFrame are features, label and weight, as columns that Arrow can carry."""

from collections.abc import Sequence

from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everywhere in PySpark
from pyspark.sql import types as T  # noqa: N812

Columns = str | Sequence[str]


def selected(df: DataFrame, features: Columns, label: Columns, weight: str | None) -> DataFrame:
    """Return columns X, y, perhaps weight, and where each row stands: its partition and its number there."""
    X, y = matrix_column(df, features, "features"), _label_column(df, label)
    columns = [X.alias("X"), y.alias("y"), F.monotonically_increasing_id().alias("place")]
    if weight is not None:
        _refuse_other(df, weight, "weight")
        columns.append(F.col(weight).cast("double").alias("weight"))
    return df.select(*columns)


def matrix_column(df: DataFrame, names: Columns, argument: str) -> Column:
    """Return a vector, an array or several numeric columns as one column of arrays of float or double."""
    if isinstance(names, str):
        kind = _type_of(df, names, argument)
        if isinstance(kind, VectorUDT):
            return vector_to_array(F.col(names))
        if not isinstance(kind, T.ArrayType) or not isinstance(kind.elementType, T.NumericType):
            raise TypeError(
                f"{argument} must be a column of vectors or of arrays of numbers, or a list of numeric columns, "
                f"got the column {names!r} of type {kind.simpleString()}."
            )
        is_single = isinstance(kind.elementType, T.FloatType)
        return F.col(names) if is_single else F.col(names).cast("array<double>")
    if not isinstance(names, Sequence) or not names:
        raise TypeError(f"{argument} must be a column or a list of columns, got {names!r}.")
    for name in names:
        _refuse_other(df, name, argument)
    is_single = all(isinstance(_type_of(df, name, argument), T.FloatType) for name in names)
    return F.array(*[F.col(name).cast("float" if is_single else "double") for name in names])


def _label_column(df: DataFrame, label: Columns) -> Column:
    """Return one label or number a row, or several numbers as an array."""
    if not isinstance(label, str):
        return matrix_column(df, label, "label")
    kind = _type_of(df, label, "label")
    if isinstance(kind, T.ArrayType | VectorUDT):
        return matrix_column(df, label, "label")
    return F.col(label).cast("double") if isinstance(kind, T.DecimalType) else F.col(label)


def _refuse_other(df: DataFrame, name: str, argument: str) -> None:
    """Refuse a column that does not hold numbers."""
    kind = _type_of(df, name, argument)
    if not isinstance(kind, T.NumericType | T.BooleanType):
        raise TypeError(
            f"{argument} must be of numeric columns, got the column {name!r} of type {kind.simpleString()}."
        )


def _type_of(df: DataFrame, name: str, argument: str) -> T.DataType:
    """Return the type of a column, which must be there."""
    if name not in df.columns and "." not in name:
        raise ValueError(f"{argument} must name columns of df, got {name!r}, which is not among {df.columns}.")
    return df.select(name).schema[0].dataType
