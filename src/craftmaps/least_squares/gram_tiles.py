"""Gram matrices in tiles of the lower triangle, so that one can travel and be added up in small pieces."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.threads import cut
from craftmaps.least_squares.gram import TILE
from craftmaps.least_squares.gram_forms import empty_gram
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.least_squares.packed_gram import PackedGram
from craftmaps.least_squares.panel_gram import PanelGram
from craftmaps.least_squares.square_gram import SquareGram


class AbsentGram:
    """Stands in a statistic for a Gram matrix whose tiles travel on their own. It adds up to nothing."""

    def __init__(self, width: int, packed: bool):
        self.width, self.packed = width, packed

    def combine(self, other: "AbsentGram", sign: float) -> None:
        """Add another absent matrix."""

    def copy(self) -> "AbsentGram":
        """Return a copy."""
        return self

    def diagonal(self) -> NDArray[np.float64]:
        """Return zeros."""
        return np.zeros(self.width)


class GramOfTiles:
    """A Gram matrix that is put together from the tiles of its lower triangle, in any order."""

    def __init__(self, statistic: NormalEquations):
        width = statistic.cross.shape[0]
        self._gram = empty_gram(width, statistic.packed)
        self._corners = _corners(width)
        self._missing = set(range(len(self._corners)))

    def put(self, number: int, values: NDArray) -> None:
        """Put a tile, perhaps a flat one, into its place."""
        tile = _tile(self._gram, *self._corners[number])
        tile[...] = values.reshape(tile.shape)
        self._missing.remove(number)

    def joined_to(self, rest: NormalEquations) -> NormalEquations:
        """Return a statistic, which lacks a Gram matrix, with this one."""
        if self._missing:
            raise ValueError(f"All {len(self._corners)} tiles must be there, but {len(self._missing)} are missing.")
        return rest._with_gram(self._gram)


def tile_type(statistic: NormalEquations) -> Any:
    """Return the type of the numbers in tiles."""
    return np.float32 if statistic.packed else np.float64


def n_tiles(width: int) -> int:
    """Return the number of tiles of the lower triangle."""
    return len(_corners(width))


def without_gram(statistic: NormalEquations) -> NormalEquations:
    """Return a copy of everything beside the Gram matrix. It adds up with others."""
    return statistic._with_gram(AbsentGram(statistic.cross.shape[0], statistic.packed))  # type: ignore[arg-type]


def tiles(statistic: NormalEquations) -> Iterator[tuple[int, NDArray]]:
    """Yield the numbers and copies of the tiles of the lower triangle, or of the columns of it that are there."""
    gram: Any = statistic._gram
    if isinstance(gram, PanelGram):
        yield from _tiles_of_panels(gram)
        return
    for number, corner in enumerate(_corners(gram.width)):
        yield number, np.array(_tile(gram, *corner), order="C")


def _tiles_of_panels(gram: PanelGram) -> Iterator[tuple[int, NDArray]]:
    """Yield the tiles of panels, which are one tile wide and begin in the row of their first column."""
    for first, panel in gram.panels.items():
        j = first // TILE
        for rows in cut(len(panel), TILE):
            i = (first + rows.start) // TILE
            yield i * (i + 1) // 2 + j, np.ascontiguousarray(panel[rows])


def _corners(width: int) -> list[tuple[slice, slice]]:
    """Return rows and columns of every tile."""
    panels = cut(width, TILE)
    return [(rows, columns) for i, rows in enumerate(panels) for columns in panels[: i + 1]]


def _tile(gram: SquareGram | PackedGram, rows: slice, columns: slice) -> NDArray:
    """Return a tile as a view of the matrix."""
    if isinstance(gram, SquareGram):
        return gram.array[rows, columns]
    # A panel of columns begins in the row of its first column.
    starts = [gram.width - len(panel) for panel in gram.panels]
    i = int(np.searchsorted(starts, columns.start, side="right")) - 1
    first = starts[i]
    return gram.panels[i][rows.start - first : rows.stop - first, columns.start - first : columns.stop - first]
