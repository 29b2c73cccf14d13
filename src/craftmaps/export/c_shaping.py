"""Steps of rows as C."""

from typing import Any

import numpy as np

from craftmaps.export.c_text import array, single, source_part
from craftmaps.export.packing import knot_precision
from craftmaps.export.portable import Recipe
from craftmaps.export.row_steps import width_after_step

# The types of the arrays of steps; tables have another one.
_TYPES = {
    "subtract": "float",
    "divide": "float",
    "axes": "float",
    "sizes": "int32_t",
    "scores": "float",
    "numbers": "int32_t",
    "columns": "int32_t",
    "levels": "float",
}
# Steps that change the width of a row, which cannot be done in place.
_RESIZING = ("axes", "levels")


def shaping_text(recipe: Recipe) -> str:
    """Return arrays of the steps, a function that shapes a row into craft_x, and craft_init."""
    knot = _knot_type(recipe)
    types = _TYPES if knot is None else _TYPES | {"knots": knot}
    arrays = [
        array(f"{name}{i}", np.ravel(step[name]), kind)
        for i, step in enumerate(recipe.steps)
        for name, kind in types.items()
        if step.get(name) is not None and len(step[name])
    ]
    buffers, calls = _calls(recipe)
    draws = ["craft_draw();"] if "seed" in recipe.features else []
    draws += ["craft_draw_down();"] if recipe.down is not None else []
    return "\n".join(
        [
            *([f"typedef {knot} craft_knot;", source_part("table.h")] if knot is not None else []),
            *([source_part("levels.h")] if any(step["kind"] == "levels" for step in recipe.steps) else []),
            *arrays,
            *buffers,
            _room(recipe),
            _function("craft_shape(const float *row)", calls),
            "/* To be called once, before the first prediction. */",
            _function("craft_init(void)", draws),
        ]
    )


def _calls(recipe: Recipe) -> tuple[list[str], list[str]]:
    """Return buffers, and the calls that shape a row into craft_x."""
    buffers, calls, n, source = [], [], recipe.n_features, "row"
    n_before = None if recipe.linear is None else recipe.linear.n_steps
    for i, step in enumerate(recipe.steps):
        if i == n_before:
            calls.append(_copied("craft_linear_column", source, n))
        if step["kind"] in _RESIZING and source != "row":
            buffers.append(f"static float craft_before{i}[{n}];")
            calls.append(_copied(f"craft_before{i}", source, n))
            source = f"craft_before{i}"
        elif step["kind"] not in _RESIZING and source == "row":
            calls.append(_copied("craft_x", source, n))
        calls.append(_CALLS[step["kind"]](step, i, n, source))
        n = width_after_step(step, n)
        source = "craft_x"
    if len(recipe.steps) == n_before:
        calls.append(_copied("craft_linear_column", source, n))
    if source == "row":
        calls.append(_copied("craft_x", source, n))
    return buffers, calls


def _copied(to: str, source: str, n: int) -> str:
    """Return the call that copies a row."""
    return f"memcpy({to}, {source}, sizeof(float) * {n});"


def _columns(step: dict[str, Any], i: int, n: int, source: str) -> str:
    """Return the call that scales columns."""
    names = [f"craft_{name}{i}" if step[name] is not None else "0" for name in ("subtract", "divide")]
    return f"craft_scale_columns(craft_x, {', '.join(names)}, {n});"


def _table(step: dict[str, Any], i: int, n: int, source: str) -> str:
    """Return the call that looks columns up in tables."""
    return f"craft_look_up(craft_x, craft_sizes{i}, craft_knots{i}, craft_scores{i}, {n});"


def _axes(step: dict[str, Any], i: int, n: int, source: str) -> str:
    """Return the call that rotates a row."""
    return f"craft_rotate(craft_x, {source}, craft_subtract{i}, craft_axes{i}, {n}, {step['axes'].shape[0]});"


def _levels(step: dict[str, Any], i: int, n: int, source: str) -> str:
    """Return the call that puts indicators behind the other columns."""
    numbers, columns, levels = (f"craft_{name}{i}" if len(step[name]) else "0" for name in _LEVEL_ARRAYS)
    counts = f"{len(step['numbers'])}, {len(step['columns'])}"
    return f"craft_levels(craft_x, {source}, {numbers}, {columns}, {levels}, {counts});"


def _unit(step: dict[str, Any], i: int, n: int, source: str) -> str:
    """Return the call that brings a row to unit length."""
    return f"craft_unit(craft_x, {n});"


def _multiply(step: dict[str, Any], i: int, n: int, source: str) -> str:
    """Return the call that scales a row."""
    return f"craft_multiply(craft_x, {single(step['factor'])}, {n});"


_LEVEL_ARRAYS = ("numbers", "columns", "levels")
_CALLS = {
    "columns": _columns,
    "levels": _levels,
    "table": _table,
    "axes": _axes,
    "unit": _unit,
    "multiply": _multiply,
}


def _knot_type(recipe: Recipe) -> str | None:
    """Return what C has the knots of tables as: doubles where floats would move scores; None without a table."""
    precisions = {knot_precision(step) for step in recipe.steps if step["kind"] == "table"}
    return ("double" if "float64" in precisions else "float") if precisions else None


def _room(recipe: Recipe) -> str:
    """Return where the shaped row is: where all groups share their blocks, in the room of the last of them."""
    widths = [recipe.features["width"]]
    widths += [width_after_step(step, 0) for step in recipe.steps if step["kind"] in _RESIZING]
    if not recipe.steps or recipe.steps[0]["kind"] not in _RESIZING:
        widths.append(recipe.n_features)
    features = recipe.features
    is_shared = features["kind"] == "maclaurin" and features["shared"] and any(features["counts"][1:])
    if is_shared and max(widths) <= features["order"]:
        return "#define craft_x (craft_room.block + CRAFT_NUMBERS - CRAFT_ORDER)"
    return f"static float craft_x[{max(widths)}];"


def _function(signature: str, calls: list[str]) -> str:
    """Return a function."""
    return "\n".join([f"static inline void {signature} {{", *(f"  {call}" for call in calls), "}", ""])
