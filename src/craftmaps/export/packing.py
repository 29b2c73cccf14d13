"""Recipes as JSON: numbers as they are, arrays as text in base 64."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.export.portable import Head, Recipe

FORMAT = "craftmaps portable 1"
PRECISIONS = ("int16", "float32", "float64")
_LARGEST_INT16 = 2**15 - 1
# How far rounded knots may move scores, which have variance 1; weights of two bytes round more.
_MOVED, _MOVED_INT16 = 1e-6, 1e-4
_LABEL_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}


def to_plain(recipe: Recipe, precision: str = "float32") -> dict[str, Any]:
    """Return a recipe as JSON takes it, its matrices in a precision."""
    head, classes = recipe.head, recipe.classes
    exact = "float64" if precision == "float64" else "float32"
    # Weights of kernel values are large and of both signs: two bytes of each would leave nothing of their sum.
    matrices = exact if recipe.features["kind"] == "landmarks" else precision
    return {
        "format": FORMAT,
        "n_features": recipe.n_features,
        "steps": [_step(step, precision, exact) for step in recipe.steps],
        "features": _plain(recipe.features, exact),
        "down": _plain(recipe.down, exact),
        "head": None if head is None else _head(head, matrices),
        "linear": None if recipe.linear is None else _plain(recipe.linear._asdict(), exact),
        "classes": None if classes is None else _classes(classes, exact),
        "columns": recipe.columns,
    }


def _head(head: Head, precision: str) -> dict[str, Any]:
    """Return weights, and a bias of no more digits than matter beside them."""
    n_digits = 17 if precision == "float64" else 10
    bias = [float(f"{number:.{n_digits}g}") for number in head.bias]
    return {"weights": packed(head.weights, precision), "bias": bias}


def label_kind(labels: NDArray) -> str:
    """Name the type of labels: "boolean", "integer", "number" or "text"."""
    return _LABEL_KINDS.get(labels.dtype.kind, "text")


def _step(step: dict[str, Any], precision: str, exact: str) -> dict[str, Any]:
    """Return a step, axes with columns of like size, so that columns of unlike units are rounded alike.

    Axes @ (x - mean) is written as axes @ x - offset, which is shorter and good in double precision.
    """
    if step["kind"] == "table":
        needed = knot_precision(step, _MOVED_INT16 if precision == "int16" else _MOVED)
        return _plain(step, exact) | {"knots": packed(step["knots"], "float64" if exact == "float64" else needed)}
    if step["kind"] != "axes":
        return _plain(step, exact)
    largest = np.abs(step["axes"]).max(axis=0)
    exponents = np.clip(np.floor(np.log2(np.where(largest > 0, largest, 1.0))), -128, 127)
    axes = packed(step["axes"] / np.exp2(exponents), precision)
    offset = unpacked(axes) @ (step["subtract"] * np.exp2(exponents))
    return {"kind": "axes", "exponents": packed(exponents, "int8"), "axes": axes, "offset": offset.tolist()}


def knot_precision(step: dict[str, Any], tolerance: float = _MOVED) -> str:
    """Name the precision that the knots of a table need: "float64" where rounding them to float32 moves scores."""
    with np.errstate(over="ignore"):
        rounded = step["knots"].astype(np.float32).astype(np.float64)
    ends = np.cumsum(step["sizes"])[:-1]
    columns = zip(*(np.split(values, ends) for values in (rounded, step["knots"], step["scores"])), strict=True)
    moved = [np.abs(np.interp(at, knots, scores) - scores).max() for at, knots, scores in columns]
    return "float32" if np.isfinite(rounded).all() and max(moved) <= tolerance else "float64"


def _classes(classes: Any, exact: str) -> dict[str, Any]:
    """Return labels and how outputs become scores."""
    labels = {"kind": label_kind(classes.labels), "labels": classes.labels.tolist()}
    if classes.decoding is None:
        return {**labels, "factor": classes.factor, "decoding": None}
    words = packed(classes.decoding["words"], "int8")
    return {**labels, "factor": classes.factor, "decoding": _plain(classes.decoding, exact) | {"words": words}}


def _plain(value: Any, precision: str) -> Any:
    """Return a value with its arrays as text."""
    if isinstance(value, np.ndarray):
        return packed(value, precision)
    if isinstance(value, dict):
        return {name: _plain(item, precision) for name, item in value.items()}
    return value


def packed(array: NDArray, precision: str) -> dict[str, Any]:
    """Return an array as text; whole numbers of two bytes have a factor for each row."""
    plain: dict[str, Any] = {"type": precision, "shape": list(array.shape)}
    if precision == "int16":
        scale = row_scales(array)
        array, plain["scale"] = np.round(array / scale[:, None]), [float(f"{number:.10g}") for number in scale]
    little_endian = np.dtype(precision).newbyteorder("<")
    content = np.ascontiguousarray(array).astype(little_endian).tobytes()
    return {**plain, "data": base64.b64encode(content).decode()}


def unpacked(plain: dict[str, Any]) -> NDArray[np.float64]:
    """Return the array that text stands for."""
    stored = np.frombuffer(base64.b64decode(plain["data"]), np.dtype(plain["type"]).newbyteorder("<"))
    array = stored.astype(np.float64).reshape(plain["shape"])
    return array * np.array(plain["scale"])[:, None] if "scale" in plain else array


def row_scales(matrix: NDArray) -> NDArray[np.float64]:
    """Return what one stands for in each row of a matrix that is stored in whole numbers of two bytes."""
    largest = np.abs(matrix).max(axis=1)
    return np.where(largest > 0, largest, 1.0) / _LARGEST_INT16
