"""Rows that come with a page, and rows that are pictures."""

import math
import re
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from craftmaps.export.packing import packed
from craftmaps.export.portable import Recipe

_LEAST_SIDE = 8
_N_EXAMPLES = 12
_MNIST_BOX = 20 / 28
_NUMBERED = re.compile(r"([^\W\d]*)\d+(x\d+)?")


class Picture(TypedDict):
    """A square picture: its side, its shades, and the side of the box that what is drawn fills."""

    side: int
    low: float
    high: float
    box: float


def check_rows(X: Any, n_features: int) -> NDArray[np.float64]:
    """Return test rows as an array; refuse rows of another width."""
    rows = np.asarray(X.todense() if issparse(X) else X)
    if rows.ndim != 2 or rows.shape[1] != n_features or rows.dtype.kind not in "biuf":
        raise ValueError(f"X_test must be rows of {n_features} numbers, got shape {rows.shape} of {rows.dtype}.")
    if not np.isfinite(rows).all():
        raise ValueError("X_test must be finite, got NaN or infinity.")
    return rows.astype(np.float64)


def examples_of(X: NDArray[np.float64], y: Any) -> dict[str, Any]:
    """Return a dozen of the rows, evenly spread, and their labels."""
    if y is not None and len(y) != len(X):
        raise ValueError(f"y_test must have a label for each of the {len(X)} rows of X_test, got {len(y)}.")
    places = np.unique(np.linspace(0, len(X) - 1, _N_EXAMPLES).astype(int)) if len(X) else np.zeros(0, int)
    rows = X[places]
    are_bytes = rows.size and (rows == np.clip(np.round(rows), 0, 255)).all()
    labels = None if y is None else [str(label) for label in np.asarray(y)[places].tolist()]
    return {"rows": packed(rows, "uint8" if are_bytes else "float32"), "labels": labels}


def picture_of(recipe: Recipe, X: NDArray[np.float64] | None, picture: bool | str) -> Picture | None:
    """Return how rows are drawn, if they are pictures."""
    if picture not in ("auto", True, False):
        raise ValueError(f"picture must be True, False or 'auto', got {picture!r}.")
    side = math.isqrt(recipe.n_features)
    if picture is True and side**2 != recipe.n_features:
        raise ValueError(
            f"picture must be False for rows of {recipe.n_features} numbers, which are no square, got True."
        )
    is_picture = side >= _LEAST_SIDE and side**2 == recipe.n_features and _are_alike(recipe.columns)
    if not (is_picture if picture == "auto" else picture):
        return None
    if X is None or not len(X) or X.min() == X.max():
        return {"side": side, "low": 0.0, "high": 255.0, "box": side * _MNIST_BOX}
    low, high = float(X.min()), float(X.max())
    squares = X.reshape(-1, side, side)
    edge = np.concatenate([squares[:, 0], squares[:, -1], squares[:, :, 0], squares[:, :, -1]], axis=1)
    if np.median(edge) > (low + high) / 2:  # dark on light
        low, high = high, low
    is_ink = np.abs(squares - low) > abs(high - low) / 4
    boxes = [_extent(ink) for ink in is_ink if ink.any()]
    return {"side": side, "low": low, "high": high, "box": float(np.mean(boxes)) if boxes else side * _MNIST_BOX}


def _extent(ink: NDArray[np.bool_]) -> int:
    """Return the longer side of the box around what is drawn."""
    return max(int(np.ptp(np.flatnonzero(ink.any(axis=axis)))) + 1 for axis in (0, 1))


def _are_alike(columns: dict[str, Any] | None) -> bool:
    """Tell whether columns are numbers without names of their own: none at all, or all of them numbered."""
    if columns is None or columns.get("n_cells") is not None:
        return True
    features = columns["features"]
    if not all(column["kind"] in ("number", "list") for column in features):
        return False
    matches = [_NUMBERED.fullmatch(column["name"]) for column in features if column["kind"] == "number"]
    return all(match is not None for match in matches) and len({match[1] for match in matches if match}) <= 1
