"""What all forms of a Gram matrix share."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.threads import for_each

# Rows and columns of the tiles in which products are formed and matrices travel: 2 MB in float64.
TILE = 512
# Solves a linear system of a factored matrix for some right-hand sides.
Solver = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def diagonal_tiles(Z: NDArray, panels: list[slice]) -> list[NDArray]:
    """Return the products of the columns of each panel with each other; refuse products that overflow.

    The diagonal bounds all other products, so these need not be checked.
    """
    tiles: list[NDArray] = [Z[:0]] * len(panels)

    def form(i: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            tiles[i] = Z[:, panels[i]].T @ Z[:, panels[i]]

    for_each(form, range(len(panels)))
    for tile in tiles:
        refuse_overflow(tile.diagonal(), Z.dtype)
    return tiles


def refuse_overflow(squares: NDArray, dtype: Any) -> None:
    """Refuse sums of squares that are not finite in the precision of the features."""
    if not np.isfinite(squares).all():
        raise ValueError(
            f"Features must be finite and have squares that add up to a number in {dtype}: "
            "scale the rows, or bring them to unit length."
        )
