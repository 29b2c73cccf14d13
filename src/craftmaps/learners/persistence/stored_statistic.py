"""Sums over rows in files: of a Gram matrix one triangle is stored, in float64 or float32.

Files of before have the whole square, and are still read.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.fields import DamagedError, Fields
from craftmaps.least_squares.normal_equations import NormalEquations

_TRIANGLE = "triangle"
_SINGLE = float(np.finfo(np.float32).eps)


def statistic_to_plain(statistic: NormalEquations, dtype: Any = np.float64) -> dict[str, Any]:
    """Describe sums over rows; of a square the columns of the lower triangle, one after another, are stored.

    In float32 every sum of products is rounded once more, which loading takes into account.
    """
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise ValueError(f"dtype must be float64 or float32, got {dtype!r}.")
    plain = statistic.to_plain()
    square = plain["gram"].get("square")
    if square is None:
        return plain
    # Row i of the transposed square is column i of the matrix, and contiguous.
    triangle = np.concatenate([square[i, i:] for i in range(len(square))], dtype=dtype, casting="same_kind")
    if not np.isfinite(triangle[-1]) or not np.isfinite(np.add.reduce(triangle)):
        raise ValueError(f"The sums of squares do not fit {np.dtype(dtype).name}: save them as float64.")
    if triangle.dtype == np.float32:
        plain["rounding"] = max(plain["rounding"], _SINGLE)
    return plain | {"gram": {_TRIANGLE: triangle}}


def statistic_from_plain(fields: Fields, n_targets: int) -> NormalEquations:
    """Return sums over rows for so many targets; nothing of a file is trusted."""
    gram = fields.object("gram")
    if _TRIANGLE in gram:
        gram.only([_TRIANGLE])
        width = fields.array("cross", (None, n_targets), (np.float64,)).shape[0]
        plain = {name: fields.value(name) for name in fields} | {"gram": {"square": _square(gram, width)}}
    else:
        plain = {name: fields.value(name) for name in fields}
    return NormalEquations.from_plain(plain, n_targets)


def _square(gram: Fields, width: int) -> NDArray[np.float64]:
    """Return the square, transposed as in files of before, of which a file has one triangle."""
    triangle = gram.array(_TRIANGLE, (width * (width + 1) // 2,))
    if not width:
        raise DamagedError(f"{gram.path(_TRIANGLE)} must be of at least one feature")
    square, start = np.zeros((width, width)), 0
    for i in range(width):
        square[i, i:] = triangle[start : start + width - i]
        start += width - i
    return square
