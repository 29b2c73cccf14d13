"""Steps of a recipe as ONNX nodes. A tensor has a column for each row of the input."""

from collections.abc import Callable
from typing import Any

import numpy as np

from craftmaps.export.graph import Graph
from craftmaps.export.packing import knot_precision


def shape_rows(g: Graph, x: str, steps: list[dict[str, Any]], dtype: Any) -> list[str]:
    """Add the steps of rows; return the rows before the first step and after each.

    Rows of double precision are rounded after what the first step subtracts or looks up. Levels pass the columns that
    are numbers on to the next step as they are.
    """
    rows = [x if dtype == np.float32 else g.cast(x, np.float32)]
    if dtype != np.float32 and steps and steps[0].get("subtract") is not None:
        x = g.cast(g("Sub", x, g.column(steps[0]["subtract"], dtype=dtype)), np.float32)
        steps = [steps[0] | {"subtract": None}, *steps[1:]]
    elif [step["kind"] for step in steps if step["kind"] != "levels"][:1] != ["table"]:
        x = rows[0]
    for step in steps:
        x = _STEPS[step["kind"]](g, x, step)
        rows.append(x)
    return rows


def _columns(g: Graph, x: str, step: dict[str, Any]) -> str:
    """Subtract from columns, and divide them."""
    if step["subtract"] is not None:
        x = g("Sub", x, g.column(step["subtract"]))
    return x if step["divide"] is None else g("Div", x, g.column(step["divide"]))


def _axes(g: Graph, x: str, step: dict[str, Any]) -> str:
    """Centre rows and multiply them with axes."""
    if step["subtract"] is not None:
        x = g("Sub", x, g.column(step["subtract"]))
    return g("MatMul", g.constant(step["axes"]), x)


def _unit(g: Graph, x: str, step: dict[str, Any]) -> str:
    """Bring rows to unit length; divide them by their largest entry first, as squares may overflow."""
    axis, zero, one = g.shape(0), g.constant(0.0), g.constant(1.0)
    for operator, of in (("ReduceMax", lambda x: g("Abs", x)), ("ReduceL2", lambda x: x)):
        size = g(operator, of(x), axis, keepdims=1)
        x = g("Div", x, g("Where", g("Greater", size, zero), size, one))
    return x


def _multiply(g: Graph, x: str, step: dict[str, Any]) -> str:
    """Multiply rows by one factor."""
    return g("Mul", x, g.constant(step["factor"]))


def _table(g: Graph, x: str, step: dict[str, Any]) -> str:
    """Interpolate in a table for each column, in double precision: a binary search for the last knot not above.

    Memory is that of a few copies of the rows; a segment of each knot for each cell would take many times as much.
    """
    last = np.cumsum(step["sizes"]) - 1
    first = np.append(0, last[:-1] + 1)
    knots = g.constant(step["knots"], np.float64, np.dtype(knot_precision(step)))
    lowest, highest = (g("Gather", knots, g.indices(at[:, None]), axis=0) for at in (first, last))
    x = g("Min", g("Max", g.cast(x, np.float64), lowest), highest)
    at, end = g.indices(first[:, None]), g.indices(last[:, None])
    for bit in reversed(range((max(step["sizes"]) - 1).bit_length())):
        probe = g("Min", g("Add", at, g.constant(1 << bit, np.int32)), end)
        at = g("Where", g("GreaterOrEqual", x, g("Gather", knots, probe, axis=0)), probe, at)
    scores = g.constant(step["scores"])
    rise = g("Mul", g("Sub", x, g("Gather", knots, at, axis=0)), g("Gather", _slopes(g, knots, scores), at, axis=0))
    return g("Add", g("Gather", scores, at, axis=0), g.cast(rise, np.float32))


def _levels(g: Graph, x: str, step: dict[str, Any]) -> str:
    """Put indicators behind the columns that are numbers, in the precision of the rows."""
    parts = [g("Gather", x, g.indices(np.array(step["numbers"])), axis=0)] if step["numbers"] else []
    if step["columns"]:
        cells = g("Gather", x, g.indices(np.array(step["columns"])), axis=0)
        level, zero, one = (g("CastLike", g.constant(v), x) for v in (step["levels"][:, None], 0.0, 1.0))
        parts.append(g("Where", g("Equal", cells, level), one, zero))
    return g("Concat", *parts, axis=0)


def _slopes(g: Graph, knots: str, scores: str) -> str:
    """Return the slope behind each knot, made once, when the file is opened; that behind a last knot is not used."""
    start, second, before_end, end = (g.shape(place) for place in (0, 1, -1, 2**31 - 1))
    widths, rises = (
        g("Sub", g("Slice", values, second, end), g("Slice", values, start, before_end))
        for values in (knots, g.cast(scores, np.float64))
    )
    widths = g("Where", g("Greater", widths, g.constant(0.0, np.float64)), widths, g.constant(1.0, np.float64))
    return g("Concat", g("Div", rises, widths), g.constant([0.0], np.float64), axis=0)


_STEPS: dict[str, Callable[[Graph, str, dict[str, Any]], str]] = {
    "columns": _columns,
    "levels": _levels,
    "table": _table,
    "axes": _axes,
    "unit": _unit,
    "multiply": _multiply,
}
