"""Data frames in place of arrays: recognise one, and encode it by a stored rule."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.tables.column_names import check_unique
from craftmaps.tables.column_rule import Columns
from craftmaps.tables.encoding import bind, encode_rows, fill_missing
from craftmaps.tables.frame_tables import classes, table_of
from craftmaps.tables.lazy_arrow import import_arrow

_NUMERIC_DTYPES = "biuf"
_NUMERIC_OBJECTS = ("integer", "floating", "boolean", "decimal", "mixed-integer-float", "empty")


def is_frame(X: Any) -> bool:
    """Tell whether X is a pandas or Polars DataFrame, or an Arrow table, without importing these libraries."""
    known = {"pandas": ("DataFrame",), "polars": ("DataFrame",), "pyarrow": ("Table", "RecordBatch")}
    return any(isinstance(X, classes(module, *names)) for module, names in known.items())


def encode_frame(frame: Any, columns: Columns, dtype: Any = np.float32) -> NDArray[np.floating]:
    """Encode a data frame by a rule: the same bits as from a Parquet file of that frame.

    Parameters
    ----------
    frame : pandas or Polars DataFrame, or Arrow table
        Columns are matched by name; further columns are ignored. If the rule has no names, as for NPZ files, a frame
        of the same width is matched by position.
    columns : Columns
    dtype : float32 or float64, default=float32

    Returns
    -------
    ndarray of shape (n_rows, n_features)

    Examples
    --------
    >>> import pandas
    >>> from craftmaps.tables import Column, Columns
    >>> rule = Columns((Column("eyes", "one-hot", values=("blue", "brown"), width=2), Column("age", "number", 40.0)))
    >>> encode_frame(pandas.DataFrame({"age": [30, None], "eyes": ["brown", "green"]}), rule).tolist()
    [[0.0, 1.0, 30.0], [0.0, 0.0, 40.0]]
    """
    frame = _renamed(frame, columns)
    used = {*columns.names, *columns.cell_names}
    table = table_of(frame, [name for name in map(str, frame_names(frame)) if name not in used])
    check_unique(table.schema.names, table.name)
    bound = bind(columns, table.schema, table.name, is_typed=True)
    X = np.empty((table.n_rows, columns.n_features), np.dtype(dtype))
    fill, start = columns.fill_values(), 0
    try:
        for batch, _ in table.batches({column.name: column.cell_kind for column in bound}, table.n_rows):
            rows = X[start : start + batch.num_rows]
            encode_rows(batch, bound, rows, table.name, start)
            fill_missing(rows, fill, columns, table.name, start)
            start += batch.num_rows
    except import_arrow().ArrowException as error:
        raise ValueError(f"{table.name} cannot be read: {error}.") from None
    return X


def text_columns(X: Any) -> list[str]:
    """Return the names of the columns of a data frame that are not numeric or have missing values."""
    if isinstance(X, classes("pandas", "DataFrame")):
        return [str(name) for i, name in enumerate(X.columns) if not _is_numeric_in_pandas(X.iloc[:, i])]
    if isinstance(X, classes("polars", "DataFrame")):
        return [column.name for column in X.iter_columns() if not _is_numeric_in_polars(column)]
    return [name for name, column in zip(X.schema.names, X.columns, strict=True) if not _is_numeric_in_arrow(column)]


def frame_names(frame: Any) -> list[Any]:
    """Return the column names of a frame."""
    if isinstance(frame, classes("pyarrow", "Table", "RecordBatch")):
        return list(frame.schema.names)
    return list(frame.columns)


def _renamed(frame: Any, columns: Columns) -> Any:
    """Give a frame the names of a rule that matches by position, unless it has some of them."""
    names = frame_names(frame)
    if columns.n_cells is None or {*columns.names, *columns.cell_names} & {*map(str, names)}:
        return frame
    if columns.n_cells != len(names):
        raise ValueError(f"{type(frame).__name__} must have {columns.n_cells} columns, got {len(names)}.")
    new = [f"x_{i}" for i in range(len(names))]
    if isinstance(frame, classes("pandas", "DataFrame")):
        return frame.set_axis(new, axis="columns")
    return frame.rename(dict(zip(names, new, strict=True))) if hasattr(frame, "rename") else frame.rename_columns(new)


def _is_numeric_in_pandas(series: Any) -> bool:
    """Tell whether a column holds numbers or booleans, none missing."""
    from pandas.api.types import infer_dtype

    dtype = getattr(getattr(series.dtype, "categories", None), "dtype", series.dtype)
    if str(dtype) == "object":
        is_number = infer_dtype(series) in _NUMERIC_OBJECTS
    else:
        is_number = getattr(dtype, "kind", "O") in _NUMERIC_DTYPES
    return is_number and not series.isna().any()


def _is_numeric_in_polars(series: Any) -> bool:
    """Tell whether a column holds numbers or booleans, none missing."""
    is_number = series.dtype.is_numeric() or str(series.dtype) == "Boolean"
    return is_number and not series.null_count() and not (series.dtype.is_float() and series.is_nan().any())


def _is_numeric_in_arrow(column: Any) -> bool:
    """Tell whether a column holds numbers or booleans, none missing."""
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    if not any(test(column.type) for test in tests) or column.null_count:
        return False
    return not (types.is_floating(column.type) and bool(np.isnan(column.to_numpy()).any()))
