"""The steps that shape a row, read from a fitted metric and a length."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from craftmaps.export.portable import Linear
from craftmaps.shaping.category_columns import CategoryColumns
from craftmaps.shaping.covariance_metric import LinearMetric
from craftmaps.shaping.quantile_columns import QuantileColumns
from craftmaps.shaping.row_features import RowFeatures, same
from craftmaps.shaping.row_shaping import steps_of

METRICS = (CategoryColumns, LinearMetric, QuantileColumns, StandardScaler)


def metric_steps(metric: Any) -> list[dict[str, Any]]:
    """Return the steps of a metric; a pipeline has those of its transformers."""
    return [step for transformer in steps_of(metric) for step in _transformer_steps(transformer)]


def _transformer_steps(transformer: Any) -> list[dict[str, Any]]:
    """Return the steps of one fitted transformer."""
    if isinstance(transformer, LinearMetric):
        steps = [{"kind": "axes", "subtract": transformer.mean_, "axes": transformer.components_}]
        return [*steps, {"kind": "unit"}] if transformer._has_unit_rows else steps
    if isinstance(transformer, StandardScaler):
        subtract = transformer.mean_ if transformer.with_mean else None
        divide = transformer.scale_ if transformer.with_std else None
        return [{"kind": "columns", "subtract": subtract, "divide": divide}]
    if isinstance(transformer, QuantileColumns):
        return [_table(transformer.knots_, transformer.scores_)]
    if isinstance(transformer, CategoryColumns):
        return _category_steps(transformer)
    raise refused("metric", transformer)


def _table(knots: NDArray[np.float64], scores: NDArray[np.float64]) -> dict[str, Any]:
    """Return the tables of all columns, one behind the other, without the knots that pad them."""
    is_used = np.diff(knots, axis=1, prepend=-np.inf) > 0
    return {
        "kind": "table",
        "sizes": is_used.sum(axis=1).tolist(),
        "knots": knots[is_used],
        "scores": scores[is_used],
    }


def _category_steps(transformer: CategoryColumns) -> list[dict[str, Any]]:
    """Return the step that puts indicators of 0 and 1 behind the other columns, and the one that scores all of them."""
    numbers, values = transformer.numbers_, transformer.values_
    levels = {
        "kind": "levels",
        "numbers": numbers.tolist(),
        "columns": transformer.columns_.tolist(),
        "levels": transformer.levels_,
    }
    if len(transformer.knots_) < numbers.size:
        divide = np.concatenate([np.ones(numbers.size), 1 / values])
        return [levels, {"kind": "columns", "subtract": None, "divide": divide}]
    table = _table(transformer.knots_, transformer.scores_)
    table["sizes"] += [2] * values.size
    table["knots"] = np.concatenate([table["knots"], np.tile([0.0, 1.0], values.size)])
    table["scores"] = np.concatenate([table["scores"], np.outer(values, [0.0, 1.0]).ravel()])
    return [levels, table]


def width_after_step(step: dict[str, Any], width: int) -> int:
    """Return the width of rows behind a step, from their width before it."""
    if step["kind"] == "levels":
        return len(step["numbers"]) + len(step["columns"])
    return step["axes"].shape[0] if step["kind"] == "axes" else width


def length_steps(scale: float | None) -> list[dict[str, Any]]:
    """Return the step that sets the length of rows."""
    if scale is None:
        return [{"kind": "unit"}]
    return [] if scale == 1 else [{"kind": "multiply", "factor": float(scale)}]


def linear_part(shaping: RowFeatures, weights: NDArray[np.float64]) -> Linear | None:
    """Return the linear columns beside a map, from their weights: the rows, or those after the metric's first step."""
    if shaping.linear is None:
        return None
    columns, first = shaping.linear.columns, steps_of(shaping.metric)[:1]
    if columns is not None and not (first and same(columns, first[0])):
        raise ValueError(
            "The linear columns must be the rows, or the rows after the first step of the metric, to be exported; "
            f"got those of another {type(columns).__name__}."
        )
    return Linear(len(metric_steps(columns)), weights.T * shaping.linear.scale)


def width_after(metric: Any, width: int) -> int:
    """Return the width of rows behind a metric, from their width before it."""
    for step in metric_steps(metric):
        width = width_after_step(step, width)
    return width


def refused(part: str, got: Any) -> TypeError:
    """Return the error for a part that is not from craftmaps."""
    return TypeError(
        f"The {part} must be one of craftmaps to be exported, got {type(got).__name__} of "
        f"{type(got).__module__.split('.')[0]}, which other languages do not know."
    )
