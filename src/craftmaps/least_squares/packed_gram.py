"""The lower triangle of a Gram matrix in float32, where a float64 square does not fit."""

from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from craftmaps._system.fields import Fields
from craftmaps._system.threads import cut, for_each
from craftmaps.least_squares.conjugate_gradients import QuickSolver, SolverLimits
from craftmaps.least_squares.gram import TILE, Solver, diagonal_tiles
from craftmaps.least_squares.gram_changes import Change, Changes


@dataclass(frozen=True)
class PackedLimits:
    """How a packed triangle is cut up, and when it is solved without a decomposition.

    Parameters
    ----------
    panel : int
        Columns of a panel: whole tiles where tiles travel. The arrays of a file are panels of the default.
    chunk : int
        Columns of a panel that an outer product is added to at a time.
    solver : SolverLimits
    """

    panel: int = 2 * TILE
    chunk: int = 128
    solver: SolverLimits = field(default_factory=SolverLimits)


class PackedGram:
    """The lower triangle in float32, as panels of columns: a quarter of the memory of a float64 square.

    Panels and not LAPACK's packed form, because that one counts its entries in 32 bits and
    there are 2^31 of them at a width of 2^16.

    Parameters
    ----------
    width : int
    limits : PackedLimits, optional
    panels : list of ndarrays, optional
        By default zeros.
    """

    packed = True

    def __init__(
        self, width: int, limits: PackedLimits = PackedLimits(), panels: list[NDArray[np.float32]] | None = None
    ):
        self.width, self.limits = width, limits
        if panels is None:
            panels = [np.zeros((width - first, last - first), np.float32) for first, last in self._bounds]
        self.panels = panels

    @property
    def _bounds(self) -> list[tuple[int, int]]:
        """First and last column of every panel; a panel begins in the row of its first column."""
        return list(pairwise([*range(0, self.width, self.limits.panel), self.width]))

    def add(self, Z: NDArray, sign: float = 1.0) -> None:
        """Add the products of the features of some rows; if they overflow, that is an error and nothing is added."""
        Z = np.asarray(Z, dtype=np.float32)
        squares = diagonal_tiles(Z, [slice(*bounds) for bounds in self._bounds])

        def tile(corner: tuple[int, slice]) -> None:
            i, rows = corner
            first, last = self._bounds[i]
            products = Z[:, first:][:, rows].T @ Z[:, first:last] if rows.start else squares[i]
            if sign > 0:
                self.panels[i][rows] += products
            else:
                self.panels[i][rows] -= products

        size = self.limits.panel
        for_each(tile, [(i, rows) for i, panel in enumerate(self.panels) for rows in cut(len(panel), size)])

    def add_outer(self, factor: float, vector: NDArray[np.float64]) -> None:
        """Add factor * vector vector'."""
        for panel, (first, last) in zip(self.panels, self._bounds, strict=True):
            for part in cut(last - first, self.limits.chunk):
                columns = vector[first:last][part]
                panel[:, part] += (factor * np.outer(vector[first:], columns)).astype(np.float32)

    def add_matrix(self, factor: float, matrix: NDArray[np.float64]) -> None:
        """Add factor * matrix."""
        for panel, (first, last) in zip(self.panels, self._bounds, strict=True):
            panel += (factor * matrix[first:, first:last]).astype(np.float32)

    def diagonal(self) -> NDArray[np.float64]:
        """Return a copy of the diagonal."""
        return np.concatenate([panel.diagonal() for panel in self.panels]).astype(np.float64)

    def copy(self) -> "PackedGram":
        """Return a copy."""
        return PackedGram(self.width, self.limits, [panel.copy() for panel in self.panels])

    def branch(self, room: Any = None) -> "ChangedGram":
        """Return a matrix that can be changed on its own, as long as this one stays as it is.

        It shares the quick solver, and so the deflation, of an earlier branch.
        """
        return ChangedGram(self, [], QuickSolver(self.limits.solver) if room is None else room.quick)

    def combine(self, other: "PackedGram", sign: float) -> None:
        """Add another matrix in place, or with a negative sign take it away."""
        for mine, theirs in zip(self.panels, other.panels, strict=True):
            if sign > 0:
                mine += theirs
            else:
                mine -= theirs

    def __imul__(self, factor: float) -> Self:
        for panel in self.panels:
            panel *= np.float32(factor)
        return self

    def square(self) -> NDArray[np.float64]:
        """Return the matrix, whose upper triangle has no meaning."""
        full = np.zeros((self.width, self.width), order="F")
        for panel, (first, last) in zip(self.panels, self._bounds, strict=True):
            full[first:, first:last] = panel
        return full

    def factored(self, diagonal: float, dtype: Any = np.float32) -> Solver | None:
        """Return a solver for the matrix with something added to its diagonal, or None if that is not positive."""
        return self.copy().factored_in_place(diagonal)

    def factored_in_place(self, diagonal: float) -> Solver | None:
        """Factor the matrix in place, which destroys it; see `factored`."""
        potrf = get_lapack_funcs("potrf", dtype=np.float32)
        trsm = get_blas_funcs("trsm", dtype=np.float32)
        bounds, factor = self._bounds, self.panels

        def subtract(j: int, rows: slice) -> None:  # left-looking: what earlier panels leave of this one
            first, last = bounds[j]
            for i in range(j):
                earlier = factor[i][first - bounds[i][0] :]
                factor[j][rows] -= earlier[rows] @ earlier[: last - first].T

        for j, (first, last) in enumerate(bounds):
            panel, width = factor[j], last - first
            panel[np.diag_indices(width)] += np.float32(diagonal)
            for_each(partial(subtract, j), cut(len(panel), self.limits.panel))
            corner, info = potrf(panel[:width], lower=1, clean=1)
            if info:
                return None
            panel[:width] = corner

            def divide(rows: slice, panel=panel, corner=corner) -> None:
                panel[rows] = trsm(1.0, corner, panel[rows].T, lower=1).T

            for_each(divide, cut(len(panel), self.limits.panel)[1:])
        return lambda right: _substitute(factor, bounds, right)

    def times(self, X: NDArray) -> NDArray:
        """Return the product with some columns, in their precision; the same on any number of threads."""
        out, parts = np.zeros_like(X), [slice(*bounds) for bounds in self._bounds]

        def part(i: int) -> None:
            for j, columns in enumerate(parts[:i]):
                rows = slice(parts[i].start - columns.start, parts[i].stop - columns.start)
                out[parts[i]] += self.panels[j][rows].astype(X.dtype, copy=False) @ X[columns]
            panel, width = self.panels[i], parts[i].stop - parts[i].start
            corner = np.tril(panel[:width]).astype(X.dtype, copy=False)
            out[parts[i]] += corner @ X[parts[i]] + np.tril(corner, -1).T @ X[parts[i]]
            for rows in cut(len(panel), self.limits.panel)[1:]:
                below = slice(parts[i].start + rows.start, parts[i].start + rows.stop)
                out[parts[i]] += panel[rows].astype(X.dtype, copy=False).T @ X[below]

        for_each(part, range(len(parts)))
        return out

    def to_plain(self) -> dict[str, NDArray]:
        """Return the matrix as arrays."""
        return {str(i): panel for i, panel in enumerate(self.panels)}

    @classmethod
    def from_plain(cls, fields: Fields, width: int, limits: PackedLimits = PackedLimits()) -> Self:
        """Rebuild a matrix of a width from its arrays."""
        gram = cls(width, limits, [])
        shapes = [(width - first, last - first) for first, last in gram._bounds]
        fields.only(map(str, range(len(shapes))))
        gram.panels = [fields.array(str(i), shape, (np.float32,)) for i, shape in enumerate(shapes)]
        return gram


class ChangedGram(Changes):
    """A triangle with changes kept beside it: solving a centred statistic takes two triangles and not three.

    Making the changes again costs little beside a decomposition. `quick` solves without one; branches of one triangle
    share it.
    """

    packed = True

    def __init__(self, whole: PackedGram, changes: list[Change], quick: QuickSolver):
        super().__init__(whole, changes)
        self.width, self.limits, self.quick = whole.width, whole.limits, quick

    @property
    def panels(self) -> list[NDArray[np.float32]]:
        """The panels with the changes made."""
        return self.copy().panels

    def add(self, Z: NDArray, sign: float = 1.0) -> None:
        """Add the products of the features of some rows."""
        super().add(np.asarray(Z, dtype=np.float32), sign)

    def branch(self, room: Any = None) -> "ChangedGram":
        """Return a matrix that can be changed on its own, as long as the triangle stays as it is."""
        return ChangedGram(self._whole, [*self._changes], self.quick)  # type: ignore[arg-type]

    def factored(self, diagonal: float, dtype: Any = np.float32) -> Solver | None:
        """Return a solver for the matrix with something added to its diagonal, or None if that is not positive."""
        return self.copy().factored_in_place(diagonal)


def _substitute(
    factor: list[NDArray[np.float32]], bounds: list[tuple[int, int]], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Solve with a Cholesky factor in panels, forwards and backwards."""
    trsm = get_blas_funcs("trsm", dtype=np.float32)
    X = right.astype(np.float32)
    for panel, (first, last) in zip(factor, bounds, strict=True):
        X[first:last] = trsm(1.0, panel[: last - first], X[first:last], lower=1)
        X[last:] -= panel[last - first :] @ X[first:last]
    for panel, (first, last) in zip(factor[::-1], bounds[::-1], strict=True):
        X[first:last] -= panel[last - first :].T @ X[last:]
        X[first:last] = trsm(1.0, panel[: last - first], X[first:last], lower=1, trans_a=1)
    return X.astype(np.float64)
