"""Dask collections as blocks of rows."""

from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import Delayed, delayed


def blocks_of(X: Any, y: Any, sample_weight: Any) -> list[Delayed]:
    """Return the partitions as delayed blocks (X, y) or (X, y, sample_weight)."""
    if isinstance(X, list | tuple):
        if y is not None or sample_weight is not None:
            raise ValueError("y and sample_weight must be parts of the blocks if X is a list of them.")
        blocks = [block if isinstance(block, Delayed) else delayed(tuple(block)) for block in X]
    elif isinstance(X, dd.DataFrame):
        columns = [_column(X, values, name) for values, name in ((y, "y"), (sample_weight, "sample_weight"))]
        blocks = [delayed(_split)(*parts) for parts in zip(X.to_delayed(), *columns, strict=True)]
    elif is_matrix(X):
        X = X.rechunk({1: -1})
        columns = [_chunks(X, values, name) for values, name in ((y, "y"), (sample_weight, "sample_weight"))]
        parts = [chunks for chunks in (X.to_delayed().ravel(), *columns) if chunks is not None]
        blocks = [delayed(block) for block in zip(*parts, strict=True)]
    else:
        raise TypeError(f"X must be rows of a dask array or dataframe, or a list of blocks, got {type(X).__name__}.")
    if not blocks:
        raise ValueError("X must have at least one partition, got none.")
    return blocks


def is_matrix(X: Any) -> bool:
    """Tell whether X is a dask array of rows."""
    return isinstance(X, da.Array) and X.ndim == 2


def _column(X: Any, values: Any, name: str) -> list[Any]:
    """Return the name of a column for every partition of a dataframe, or the partitions of a series."""
    if not isinstance(values, dd.Series | dd.DataFrame):
        is_there = name != "y" if values is None else np.ndim(values) == 0 and values in X.columns
        if not is_there:
            raise ValueError(f"{name} must be a column of X or a dask series, got {values!r}.")
        return [values] * X.npartitions
    if values.npartitions != X.npartitions or (values.known_divisions and values.divisions != X.divisions):
        raise ValueError(f"{name} must have the partitions of X, {X.npartitions}, got {values.npartitions} or others.")
    return values.to_delayed()


def _split(frame: Any, y: Any, weight: Any) -> tuple:
    """Cut a partition into rows, targets and weights, where these are columns of it."""
    names = [values for values in (y, weight) if values is not None and np.ndim(values) == 0]
    columns = [frame[values] if np.ndim(values) == 0 else values for values in (y, weight) if values is not None]
    return frame.drop(columns=names), *columns


def _chunks(X: Any, values: Any, name: str) -> Any:
    """Return the chunks of targets or weights that belong to those of an array, if there are any."""
    if values is None:
        return None
    values = values.to_dask_array() if isinstance(values, dd.Series | dd.DataFrame) else da.asarray(values)
    values = values.rechunk({1: -1}) if values.ndim > 1 else values
    if np.isnan([*X.chunks[0], *values.chunks[0]]).any():
        if values.numblocks[0] != X.numblocks[0]:
            raise ValueError(f"{name} must have {X.numblocks[0]} chunks as X, got {values.numblocks[0]}.")
        return values.to_delayed().ravel()
    if values.shape[0] != X.shape[0]:
        raise ValueError(f"{name} must have {X.shape[0]} rows as X, got {values.shape[0]}.")
    return values.rechunk({0: X.chunks[0]}).to_delayed().ravel()
