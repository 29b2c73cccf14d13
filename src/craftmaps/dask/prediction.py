"""Predictions of Dask collections, computed block by block when they are asked for."""

from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed

from craftmaps._system.threads import threads
from craftmaps.dask.blocks import is_matrix
from craftmaps.learners.partitions import without_tally


def predict(estimator: Any, X: Any) -> Any:
    """Predict lazily, block by block: an array for an array, a series for a dataframe, a list for a list."""
    return _by_block(estimator, X, "predict")


def predict_proba(estimator: Any, X: Any) -> Any:
    """Return probabilities of the classes lazily; those of a dataframe in columns named by the classes."""
    return _by_block(estimator, X, "predict_proba")


def decision_function(estimator: Any, X: Any) -> Any:
    """Return scores of the classes lazily."""
    return _by_block(estimator, X, "decision_function")


def transform(feature_map: Any, X: Any) -> Any:
    """Map rows lazily, block by block."""
    return _by_block(feature_map, X, "transform")


def _by_block(estimator: Any, X: Any, method: str) -> Any:
    """Apply a method to every block of X when it is computed."""
    model = delayed(without_tally(estimator))
    if isinstance(X, list | tuple):
        return [delayed(_applied)(block, model, method) for block in X]
    if isinstance(X, dd.DataFrame):
        names = getattr(estimator, "feature_names_in_", None)
        X = X if names is None else X[list(names)]
        meta = _applied(X._meta_nonempty, estimator, method).iloc[:0]
        return X.map_partitions(_applied, model=model, method=method, empty=meta, meta=meta)
    if is_matrix(X):
        meta = _applied(np.ones((1, X.shape[1]), X.dtype), estimator, method)[:0]
        shape = {"drop_axis": 1} if meta.ndim == 1 else {"chunks": (X.chunks[0], (meta.shape[1],))}
        return X.rechunk({1: -1}).map_blocks(_applied, model=model, method=method, empty=meta, meta=meta, **shape)
    raise TypeError(f"X must be rows of a dask array or dataframe, or a list of blocks, got {type(X).__name__}.")


def _applied(X: Any, model: Any, method: str, empty: Any = None) -> Any:
    """Apply a method to a block; of a data frame the result is one with the same index."""
    if empty is not None and not X.shape[0]:
        return empty
    with threads(1):
        values = getattr(model, method)(X)
    if not isinstance(X, pd.DataFrame):
        return values
    if values.ndim == 1:
        return pd.Series(values, X.index)
    columns = model.get_feature_names_out() if method == "transform" else getattr(model, "classes_", None)
    return pd.DataFrame(values, X.index, columns)
