"""Steps of rows as C."""

from typing import Any

import numpy as np

from craftmaps.export.c_text import array, single
from craftmaps.export.portable import Recipe


def shaping_text(recipe: Recipe) -> str:
    """Return arrays of the steps, a function that shapes a row into craft_x, and craft_init."""
    arrays, calls, n = [], [], recipe.n_features
    source = "row"
    for i, step in enumerate(recipe.steps):
        arrays += [
            array(f"{name}{i}", np.ravel(step[name]))
            for name in ("subtract", "divide", "axes")
            if step.get(name) is not None
        ]
        if step["kind"] == "axes" and source != "row":  # a product cannot be made in place
            arrays.append(f"static float craft_before{i}[{n}];")
            calls.append(f"memcpy(craft_before{i}, craft_x, sizeof craft_before{i});")
            source = f"craft_before{i}"
        elif step["kind"] != "axes" and source == "row":
            calls.append(f"memcpy(craft_x, row, sizeof(float) * {n});")
        calls.append(_CALLS[step["kind"]](step, i, n, source))
        n = step["axes"].shape[0] if step["kind"] == "axes" else n
        source = "craft_x"
    if source == "row":
        calls.append(f"memcpy(craft_x, row, sizeof(float) * {n});")
    draws = ["craft_draw();"] if "seed" in recipe.features else []
    draws += ["craft_draw_down();"] if recipe.down is not None else []
    return "\n".join(
        [
            *arrays,
            _room(recipe),
            _function("craft_shape(const float *row)", calls),
            "/* To be called once, before the first prediction. */",
            _function("craft_init(void)", draws),
        ]
    )


def _columns(step: dict[str, Any], i: int, n: int, source: str) -> str:
    """Return the call that scales columns."""
    names = [f"craft_{name}{i}" if step[name] is not None else "0" for name in ("subtract", "divide")]
    return f"craft_scale_columns(craft_x, {', '.join(names)}, {n});"


def _axes(step: dict[str, Any], i: int, n: int, source: str) -> str:
    """Return the call that rotates a row."""
    return f"craft_rotate(craft_x, {source}, craft_subtract{i}, craft_axes{i}, {n}, {step['axes'].shape[0]});"


def _unit(step: dict[str, Any], i: int, n: int, source: str) -> str:
    """Return the call that brings a row to unit length."""
    return f"craft_unit(craft_x, {n});"


def _multiply(step: dict[str, Any], i: int, n: int, source: str) -> str:
    """Return the call that scales a row."""
    return f"craft_multiply(craft_x, {single(step['factor'])}, {n});"


_CALLS = {"columns": _columns, "axes": _axes, "unit": _unit, "multiply": _multiply}


def _room(recipe: Recipe) -> str:
    """Return where the shaped row is: where all groups share their blocks, in the room of the last of them."""
    widths = [recipe.features["width"], *(step["axes"].shape[0] for step in recipe.steps if step["kind"] == "axes")]
    if not recipe.steps or recipe.steps[0]["kind"] != "axes":
        widths.append(recipe.n_features)
    features = recipe.features
    is_shared = features["kind"] == "maclaurin" and features["shared"] and any(features["counts"][1:])
    if is_shared and max(widths) <= features["order"]:
        return "#define craft_x (craft_room.block + CRAFT_NUMBERS - CRAFT_ORDER)"
    return f"static float craft_x[{max(widths)}];"


def _function(signature: str, calls: list[str]) -> str:
    """Return a function."""
    return "\n".join([f"static inline void {signature} {{", *(f"  {call}" for call in calls), "}", ""])
