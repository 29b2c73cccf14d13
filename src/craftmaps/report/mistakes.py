"""The mistakes that a classifier was surest of, as something to look at."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from craftmaps.report.run import Run

_MOST_PICTURES = 24
_MOST_ROWS = 12
_SAMPLE_ROWS = 2000
_NARROWEST_PICTURE = 64
_COLUMNS_SHOWN = 5


def surest_mistakes(
    run: Run, X: Any, wrong: NDArray[np.bool_], confidence: NDArray[np.float64]
) -> tuple[NDArray[np.int64], list[dict[str, Any]]]:
    """Return which rows they are, the surest first, and what to show of each.

    Rows that are square pictures, as far as one can tell from numbers, show their `picture`, in
    shades from 0 to 255; others show the `columns` that are furthest from their mean, in standard deviations.
    """
    rows = np.flatnonzero(wrong)
    rows = rows[np.argsort(-confidence[rows], kind="stable")][:_MOST_PICTURES]
    if not rows.size:
        return rows, []
    sample = _dense(run.some_rows("X_test", _SAMPLE_ROWS))
    values = _dense(_take(X, rows))
    side = int(np.sqrt(sample.shape[1]))
    if side * side == sample.shape[1] >= _NARROWEST_PICTURE and min(sample.min(), values.min()) >= 0:
        return rows, _pictures(values, side)
    rows = rows[:_MOST_ROWS]
    return rows, _unusual_columns(values[:_MOST_ROWS], sample, run.column_names())


def _pictures(values: NDArray[np.float64], side: int) -> list[dict[str, Any]]:
    """Return rows as shades, brightest where a row is largest."""
    largest = np.maximum(values.max(axis=1, keepdims=True), np.finfo(float).tiny)
    shades = np.rint(values / largest * 255).astype(int)
    return [{"picture": row.reshape(side, side).tolist()} for row in shades]


def _unusual_columns(values: NDArray[np.float64], sample: NDArray[np.float64], names: list[str]) -> list[dict]:
    """Return the columns of each row that are most unlike other rows."""
    mean, deviation = sample.mean(axis=0), sample.std(axis=0)
    with np.errstate(all="ignore"):
        distance = np.nan_to_num((values - mean) / deviation, nan=0.0, posinf=0.0, neginf=0.0)
    found = []
    for row, far in zip(values, distance, strict=True):
        columns = np.argsort(-np.abs(far), kind="stable")[:_COLUMNS_SHOWN]
        found.append({"columns": [[names[i], float(row[i]), float(far[i])] for i in columns]})
    return found


def _take(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of an array, a sparse matrix or a data frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _dense(rows: Any) -> NDArray[np.float64]:
    """Return rows as a dense array of doubles."""
    return (rows.toarray() if issparse(rows) else np.asarray(rows)).astype(np.float64)
