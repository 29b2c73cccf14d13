"""A Gram matrix as a float64 square."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, get_lapack_funcs

from craftmaps._system.fields import Fields
from craftmaps._system.threads import cut, for_each
from craftmaps.least_squares.cholesky import factor_in_place
from craftmaps.least_squares.gram import TILE, Solver, diagonal_tiles, refuse_overflow
from craftmaps.least_squares.gram_changes import Change, Changes

# Fewer rows than this, and than features, are solved in the space of rows: most of them never need the square.
FEW_ROWS = 2048


class _Rows(NamedTuple):
    """Features of some rows, and whether their products are added or taken away."""

    Z: NDArray
    sign: float


class SquareGram:
    """A float64 square of which the lower triangle is kept up to date.

    Products of float32 features are formed in float32, a block of rows at a time, and added
    up in float64. A few rows wait until the square is asked for.
    """

    packed = False

    def __init__(self, width: int):
        self.width = width
        self._array: NDArray[np.float64] | None = None
        self._waiting: list[_Rows] = []
        self._room: dict[Any, NDArray] = {}

    @property
    def array(self) -> NDArray[np.float64]:
        """The square, whose upper triangle has no meaning."""
        if self._array is None:
            self._array = np.zeros((self.width, self.width), order="F")
            for rows in self._waiting:  # in the order they came in, so that sums do not depend on when it is asked for
                self._add(*rows)
            self._waiting = []
        return self._array

    @array.setter
    def array(self, array: NDArray[np.float64]) -> None:
        self._array, self._waiting = array, []

    @classmethod
    def of(cls, array: NDArray[np.float64]) -> Self:
        """Return the Gram matrix that an array holds, and will go on to hold."""
        gram = cls.__new__(cls)
        gram.width, gram.array, gram._room = array.shape[0], np.asfortranarray(array), {}
        return gram

    def add(self, Z: NDArray, sign: float = 1.0) -> None:
        """Add the products of the features of some rows; if they overflow, that is an error and nothing is added."""
        if self._can_wait(Z.shape[0]):
            refuse_overflow(_squares(Z), Z.dtype)
            self._waiting.append(_Rows(Z.copy(), sign))
        else:
            self._add(Z, sign)

    def _can_wait(self, n_rows: int) -> bool:
        """Tell whether so many more rows are still few."""
        n_waiting = sum(rows.Z.shape[0] for rows in self._waiting)
        return self._array is None and n_waiting + n_rows <= min(self.width, FEW_ROWS)

    def _add(self, Z: NDArray, sign: float) -> None:
        """Add products to the square."""
        Z = np.ascontiguousarray(Z)
        transposed = self.array.T  # in C order, as products come
        # Tiles follow from the width alone, so that the sums do not depend on the number of threads.
        panels = cut(self.width, TILE)
        squares = diagonal_tiles(Z, panels)

        def tile(corner: tuple[int, int]) -> None:
            i, j = corner
            columns, rows = panels[j], panels[i]
            total, products = transposed[columns, rows], squares[i] if i == j else Z[:, columns].T @ Z[:, rows]
            if sign > 0:
                np.add(total, products, out=total)
            else:
                np.subtract(total, products, out=total)

        for_each(tile, [(i, j) for i in range(len(panels)) for j in range(i + 1)])

    def add_outer(self, factor: float, vector: NDArray[np.float64]) -> None:
        """Add factor * vector vector'."""
        self.array = blas.dsyr(factor, vector, lower=1, a=self.array, overwrite_a=1)

    def add_matrix(self, factor: float, matrix: NDArray[np.float64]) -> None:
        """Add factor * matrix."""
        self.array += factor * matrix

    def diagonal(self) -> NDArray[np.float64]:
        """Return a copy of the diagonal."""
        if self._array is None:
            return sum((rows.sign * _squares(rows.Z) for rows in self._waiting), np.zeros(self.width))
        return self._array.diagonal().copy()

    def copy(self, into: "SquareGram | None" = None) -> "SquareGram":
        """Return a copy, perhaps in the memory of another matrix of the same width: fresh memory is slow."""
        if self._array is None and into is None:
            copy = SquareGram(self.width)
            copy._waiting = list(self._waiting)
            return copy
        into = SquareGram.of(np.empty_like(self.array, order="F")) if into is None else into
        np.copyto(into.array, self.array)
        return into

    def lent(self) -> "ChangedSquare":
        """Return a matrix whose changes are kept beside this one, which must stay as it is."""
        return ChangedSquare(self, [])

    def branch(self, room: "SquareGram | None" = None) -> "SquareGram":
        """Return a matrix that can be changed on its own, perhaps in the memory of another one."""
        return self.copy(room)

    def combine(self, other: "SquareGram", sign: float) -> None:
        """Add another matrix in place, or with a negative sign take it away."""
        if other._array is None and self._can_wait(sum(rows.Z.shape[0] for rows in other._waiting)):
            self._waiting += [_Rows(rows.Z, sign * rows.sign) for rows in other._waiting]
        elif sign > 0:
            self.array += other.array
        else:
            self.array -= other.array

    def __imul__(self, factor: float) -> Self:
        self.array *= factor
        return self

    def square(self) -> NDArray[np.float64]:
        """Return the matrix, whose upper triangle has no meaning."""
        return self.array

    def factored(self, diagonal: float, dtype: Any = np.float64) -> Solver | None:
        """Return a solver for the matrix with something added to its diagonal, or None if that is not positive.

        The scratch buffer is reused by the next call, which invalidates the solver.
        """
        if dtype not in self._room:
            self._room[dtype] = np.empty(self.array.shape, dtype, order="F")
        matrix = self._room[dtype]

        def take(columns: slice) -> None:
            matrix.T[columns, columns.start :] = self.array.T[columns, columns.start :]

        for_each(take, cut(self.width, TILE))
        matrix[np.diag_indices(self.width)] += matrix.dtype.type(diagonal)
        potrs = get_lapack_funcs("potrs", (matrix,))
        if not factor_in_place(matrix):
            return None
        return lambda right: potrs(matrix, right.astype(dtype), lower=1)[0].astype(np.float64)

    def times(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product with some columns."""
        return blas.dsymm(1.0, self.array, X, lower=1)

    def to_plain(self) -> dict[str, NDArray]:
        """Return the matrix as arrays, in the order of its memory, so that it need not be copied."""
        return {"square": self.array.T}

    def __getstate__(self) -> dict[str, Any]:
        # Half of the square has no meaning, and the scratch buffers are as large as it is.
        return {"width": self.width, "columns": np.concatenate([self.array[i:, i] for i in range(self.width)])}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["width"])
        start = 0
        for i in range(self.width):
            stop = start + self.width - i
            self.array[i:, i] = state["columns"][start:stop]
            start = stop

    @classmethod
    def from_plain(cls, fields: Fields, width: int) -> Self:
        """Rebuild a matrix of a width from its array."""
        fields.only(["square"])
        return cls.of(fields.array("square", (width, width), (np.float64,)).T)


class ChangedSquare(Changes):
    """A square with changes kept beside it, as long as the square stays as it is."""

    packed = False

    def __init__(self, whole: SquareGram, changes: list[Change]):
        super().__init__(whole, changes)
        self.width = whole.width

    def branch(self, room: Any = None) -> "ChangedSquare":
        """Return a matrix that can be changed on its own."""
        return ChangedSquare(self._whole, [*self._changes])  # type: ignore[arg-type]

    def factored(self, diagonal: float, dtype: Any = np.float64) -> Solver | None:
        """Return a solver for the matrix with something added to its diagonal, or None if that is not positive."""
        return self.copy().factored(diagonal, dtype)


def _squares(Z: NDArray) -> NDArray[np.float64]:
    """Return the sums of the squares of columns; infinite where they overflow in the precision of Z."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.einsum("ij,ij->j", Z, Z).astype(np.float64)
