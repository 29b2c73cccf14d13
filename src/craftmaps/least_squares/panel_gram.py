"""Some columns of a Gram matrix, for workers that cannot hold all of them."""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.threads import cut, for_each
from craftmaps.least_squares.gram import diagonal_tiles
from craftmaps.least_squares.packed_gram import PackedGram
from craftmaps.least_squares.square_gram import SquareGram

PANEL = 512  # columns of a panel


class PanelGram:
    """The columns of the lower triangle that one of several owners keeps, in panels.

    The features of rows are computed again for every owner: E log E operations a row beside the E^2 / 2 that all owners
    together need for the products.

    Parameters
    ----------
    width : int
    owner, n_owners : int
        Panels get shorter to the right, so they are dealt out to the owners to and fro.
    packed : bool
        Whether sums are kept in float32.
    """

    def __init__(self, width: int, owner: int, n_owners: int, packed: bool):
        self.width, self.packed = width, packed
        turns = [*range(n_owners), *reversed(range(n_owners))]
        mine = [columns for i, columns in enumerate(cut(width, PANEL)) if turns[i % len(turns)] == owner]
        dtype = np.float32 if packed else np.float64
        # By the first column, which is the first row too.
        self.panels = {part.start: np.zeros((width - part.start, part.stop - part.start), dtype) for part in mine}

    def add(self, Z: NDArray, sign: float = 1.0) -> None:
        """Add the products of the features of some rows; if they overflow, that is an error and nothing is added."""
        Z = np.asarray(Z, np.float32) if self.packed else Z
        columns = {first: slice(first, first + panel.shape[1]) for first, panel in self.panels.items()}
        squares = dict(zip(columns, diagonal_tiles(Z, list(columns.values())), strict=True))

        def tile(corner: tuple[int, slice]) -> None:
            first, rows = corner
            products = Z[:, first:][:, rows].T @ Z[:, columns[first]] if rows.start else squares[first]
            self.panels[first][rows] += sign * products

        for_each(tile, [(first, rows) for first, panel in self.panels.items() for rows in cut(len(panel), PANEL)])

    def combine(self, other: "PanelGram", sign: float) -> None:
        """Add the same columns of another matrix in place, or with a negative sign take them away."""
        for first, panel in other.panels.items():
            self.panels[first] += sign * panel

    def copy(self) -> "PanelGram":
        """Return a copy."""
        return copy.deepcopy(self)

    def write_into(self, gram: SquareGram | PackedGram) -> None:
        """Write the columns into a whole matrix."""
        for first, panel in self.panels.items():
            if isinstance(gram, SquareGram):
                gram.array[first:, first : first + panel.shape[1]] = panel
                continue
            for whole, (start, stop) in zip(gram.panels, gram._bounds, strict=True):
                if start <= first < stop:  # panels there are twice as wide
                    whole[first - start :, first - start : first - start + panel.shape[1]] = panel

    def to_plain(self) -> dict[str, Any]:
        """Return the panels by their first columns."""
        return {str(first): panel for first, panel in self.panels.items()}


def most_owners(width: int) -> int:
    """Return how many owners the columns of a matrix can be dealt out to."""
    return len(cut(width, PANEL))
