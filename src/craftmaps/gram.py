"""Gram matrices that add up: a float64 square, or where that does not fit one triangle in float32."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, get_blas_funcs, get_lapack_funcs

from craftmaps.parallel import cut, for_each

_PANEL = 1024
_CHUNK = 128
_TILE = 512

Solver = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class SquareGram:
    """A float64 square of which the lower triangle is kept up to date.

    Products of float32 features are formed in float32, a block of rows at a time, and added
    up in float64.
    """

    def __init__(self, width: int):
        self.width = width
        self.array = np.zeros((width, width), order="F")
        self._room: dict[Any, NDArray] = {}

    @classmethod
    def of(cls, array: NDArray[np.float64]) -> Self:
        """Return the Gram matrix that an array holds, and will go on to hold."""
        gram = cls.__new__(cls)
        gram.width, gram.array, gram._room = array.shape[0], np.asfortranarray(array), {}
        return gram

    def add(self, Z: NDArray, sign: float = 1.0) -> None:
        """Add the products of the features of some rows."""
        Z = np.ascontiguousarray(Z)
        transposed = self.array.T  # in C order, as products come
        # Tiles follow from the width alone, so that the sums do not depend on the number of threads.
        panels = cut(self.width, _TILE)

        def tile(corner: tuple[slice, slice]) -> None:
            columns, rows = corner
            total, products = transposed[columns, rows], Z[:, columns].T @ Z[:, rows]
            if sign > 0:
                np.add(total, products, out=total)
            else:
                np.subtract(total, products, out=total)

        for_each(tile, [(panels[j], rows) for i, rows in enumerate(panels) for j in range(i + 1)])

    def add_outer(self, factor: float, vector: NDArray[np.float64]) -> None:
        """Add factor * vector vector'."""
        self.array = blas.dsyr(factor, vector, lower=1, a=self.array, overwrite_a=1)

    def add_matrix(self, factor: float, matrix: NDArray[np.float64]) -> None:
        """Add factor * matrix."""
        self.array += factor * matrix

    def diagonal(self) -> NDArray[np.float64]:
        """Return a copy of the diagonal."""
        return self.array.diagonal().copy()

    def copy(self, into: "SquareGram | None" = None) -> "SquareGram":
        """Return a copy, perhaps in the memory of another matrix of the same width: fresh memory is slow."""
        into = SquareGram.of(np.empty_like(self.array, order="F")) if into is None else into
        np.copyto(into.array, self.array)
        return into

    def __iadd__(self, other: "SquareGram") -> Self:
        self.array += other.array
        return self

    def square(self) -> NDArray[np.float64]:
        """Return the matrix, whose upper triangle has no meaning."""
        return self.array

    def factored(self, diagonal: float, dtype: Any = np.float64) -> Solver | None:
        """Return a solver for the matrix with something added to its diagonal, or None if that is not positive.

        A solver is good until the next one is asked for: they use the same memory, as fresh one is slow.
        """
        if dtype not in self._room:
            self._room[dtype] = np.empty(self.array.shape, dtype, order="F")
        matrix = self._room[dtype]

        def take(columns: slice) -> None:
            matrix.T[columns, columns.start :] = self.array.T[columns, columns.start :]

        for_each(take, cut(self.width, _TILE))
        matrix[np.diag_indices(self.width)] += matrix.dtype.type(diagonal)
        potrf, potrs = get_lapack_funcs(("potrf", "potrs"), (matrix,))
        factor, info = potrf(matrix, lower=1, overwrite_a=1, clean=0)
        return None if info else lambda right: potrs(factor, right.astype(dtype), lower=1)[0].astype(np.float64)

    def times(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product with some columns."""
        return blas.dsymm(1.0, self.array, X, lower=1)

    def to_plain(self) -> dict[str, NDArray]:
        """Return the matrix as arrays."""
        return {"square": self.array}


class PackedGram:
    """The lower triangle in float32, as panels of columns: a quarter of the memory of a float64 square.

    Panels and not LAPACK's packed form, because that one counts its entries in 32 bits and
    there are 2^31 of them at a width of 2^16.
    """

    def __init__(self, width: int):
        self.width = width
        self.panels = [np.zeros((width - first, last - first), np.float32) for first, last in self._bounds]

    @property
    def _bounds(self) -> list[tuple[int, int]]:
        """First and last column of every panel; a panel begins in the row of its first column."""
        return list(pairwise([*range(0, self.width, _PANEL), self.width]))

    def add(self, Z: NDArray, sign: float = 1.0) -> None:
        """Add the products of the features of some rows."""
        Z = np.asarray(Z, dtype=np.float32)

        def tile(corner: tuple[int, slice]) -> None:
            i, rows = corner
            first, last = self._bounds[i]
            products = Z[:, first:][:, rows].T @ Z[:, first:last]
            if sign > 0:
                self.panels[i][rows] += products
            else:
                self.panels[i][rows] -= products

        for_each(tile, [(i, rows) for i, panel in enumerate(self.panels) for rows in cut(len(panel), _PANEL)])

    def add_outer(self, factor: float, vector: NDArray[np.float64]) -> None:
        """Add factor * vector vector'."""
        for panel, (first, last) in zip(self.panels, self._bounds, strict=True):
            for start in range(0, last - first, _CHUNK):
                part = slice(start, min(start + _CHUNK, last - first))
                columns = vector[first:last][part]
                panel[:, part] += (factor * np.outer(vector[first:], columns)).astype(np.float32)

    def add_matrix(self, factor: float, matrix: NDArray[np.float64]) -> None:
        """Add factor * matrix."""
        for panel, (first, last) in zip(self.panels, self._bounds, strict=True):
            panel += (factor * matrix[first:, first:last]).astype(np.float32)

    def diagonal(self) -> NDArray[np.float64]:
        """Return a copy of the diagonal."""
        return np.concatenate([panel.diagonal() for panel in self.panels]).astype(np.float64)

    def copy(self, into: "PackedGram | None" = None) -> "PackedGram":
        """Return a copy, perhaps in the memory of another matrix of the same width."""
        if into is None:
            into = PackedGram.__new__(PackedGram)
            into.width, into.panels = self.width, [np.empty_like(panel) for panel in self.panels]
        for mine, theirs in zip(self.panels, into.panels, strict=True):
            np.copyto(theirs, mine)
        return into

    def __iadd__(self, other: "PackedGram") -> Self:
        for mine, theirs in zip(self.panels, other.panels, strict=True):
            mine += theirs
        return self

    def square(self) -> NDArray[np.float64]:
        """Return the matrix, whose upper triangle has no meaning."""
        full = np.zeros((self.width, self.width), order="F")
        for panel, (first, last) in zip(self.panels, self._bounds, strict=True):
            full[first:, first:last] = panel
        return full

    def factored(self, diagonal: float, dtype: Any = np.float32) -> Solver | None:
        """Return a solver for the matrix with something added to its diagonal, or None if that is not positive."""
        potrf = get_lapack_funcs("potrf", dtype=np.float32)
        trsm = get_blas_funcs("trsm", dtype=np.float32)
        bounds, factor = self._bounds, self.copy().panels
        for j, (first, last) in enumerate(bounds):
            panel, width = factor[j], last - first
            panel[np.diag_indices(width)] += np.float32(diagonal)
            for i in range(j):  # left-looking: what earlier panels leave of this one
                earlier = factor[i][first - bounds[i][0] :]
                panel -= earlier @ earlier[:width].T
            corner, info = potrf(panel[:width], lower=1, clean=1)
            if info:
                return None
            panel[:width] = corner
            panel[width:] = trsm(1.0, corner, panel[width:].T, lower=1).T
        return lambda right: _substitute(factor, bounds, right)

    def times(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product with some columns, in float64."""
        out = np.zeros_like(X)
        for panel, (first, last) in zip(self.panels, self._bounds, strict=True):
            for start in range(0, last - first, _CHUNK):
                top, stop = first + start, min(first + start + _CHUNK, last)
                columns = panel[start:, start : start + _CHUNK].astype(np.float64)
                columns[: stop - top] = np.tril(columns[: stop - top])
                out[top:] += columns @ X[top:stop]
                columns[np.diag_indices(stop - top)] = 0  # the diagonal counts once
                out[top:stop] += columns.T @ X[top:]
        return out

    def to_plain(self) -> dict[str, NDArray]:
        """Return the matrix as arrays."""
        return {str(i): panel for i, panel in enumerate(self.panels)}


def gram_from_plain(plain: dict[str, NDArray], width: int) -> SquareGram | PackedGram:
    """Make a Gram matrix again from its arrays."""
    if "square" in plain:
        return SquareGram.of(plain["square"])
    packed = PackedGram.__new__(PackedGram)
    packed.width, packed.panels = width, [plain[str(i)] for i in range(len(plain))]
    return packed


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
