"""Changes of a Gram matrix that are kept beside it: rows, an outer product, another matrix."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.threads import cut, for_each, multiply
from craftmaps.least_squares.gram import TILE


class AddedRows(NamedTuple):
    """Rows to be added or, with sign=-1, taken away."""

    Z: NDArray
    sign: float

    def make(self, gram: Any) -> None:
        """Make the change in a matrix."""
        gram.add(self.Z, self.sign)

    def diagonal(self) -> NDArray[np.float64]:
        """Return what it adds to the diagonal."""
        return self.sign * np.einsum("ij,ij->j", self.Z, self.Z, dtype=np.float64)

    def times(self, X: NDArray) -> NDArray:
        """Return what it adds to the product with some columns."""
        products, total = self.sign * multiply(self.Z, X), np.empty_like(X)

        def part(columns: slice) -> None:
            total[columns] = self.Z[:, columns].T @ products

        for_each(part, cut(len(X), 2 * TILE))
        return total


class AddedOuter(NamedTuple):
    """A multiple of vector vector'."""

    factor: float
    vector: NDArray[np.float64]

    def make(self, gram: Any) -> None:
        """Make the change in a matrix."""
        gram.add_outer(*self)

    def diagonal(self) -> NDArray[np.float64]:
        """Return what it adds to the diagonal."""
        return self.factor * self.vector**2

    def times(self, X: NDArray) -> NDArray:
        """Return what it adds to the product with some columns."""
        return (self.factor * np.outer(self.vector, self.vector @ X)).astype(X.dtype)


class AddedMatrix(NamedTuple):
    """A multiple of a matrix."""

    factor: float
    matrix: NDArray[np.float64]

    def make(self, gram: Any) -> None:
        """Make the change in a matrix."""
        gram.add_matrix(*self)

    def diagonal(self) -> NDArray[np.float64]:
        """Return what it adds to the diagonal."""
        return self.factor * self.matrix.diagonal()

    def times(self, X: NDArray) -> NDArray:
        """Return what it adds to the product with some columns."""
        return (self.factor * (self.matrix @ X)).astype(X.dtype)


Change = AddedRows | AddedOuter | AddedMatrix


class Changeable(Protocol):
    """A Gram matrix that can be copied, multiplied and changed."""

    def copy(self) -> Any:
        """Return a copy."""
        ...

    def diagonal(self) -> NDArray[np.float64]:
        """Return a copy of the diagonal."""
        ...

    def times(self, X: NDArray) -> NDArray:
        """Return the product with some columns."""
        ...


class Changes:
    """A Gram matrix with changes kept beside it, which are made only in the copies that are decomposed.

    So a statistic without some of its rows takes no matrix of its own.
    """

    def __init__(self, whole: Changeable, changes: list[Change]):
        self._whole, self._changes = whole, changes

    def add(self, Z: NDArray, sign: float = 1.0) -> None:
        """Add the products of the features of some rows."""
        self._changes.append(AddedRows(Z, sign))

    def add_outer(self, factor: float, vector: NDArray[np.float64]) -> None:
        """Add factor * vector vector'."""
        self._changes.append(AddedOuter(factor, vector))

    def add_matrix(self, factor: float, matrix: NDArray[np.float64]) -> None:
        """Add factor * matrix."""
        self._changes.append(AddedMatrix(factor, matrix))

    def diagonal(self) -> NDArray[np.float64]:
        """Return a copy of the diagonal."""
        return sum((change.diagonal() for change in self._changes), self._whole.diagonal())

    def copy(self) -> Any:
        """Return the matrix with its changes made."""
        matrix = self._whole.copy()
        for change in self._changes:
            change.make(matrix)
        return matrix

    def square(self) -> NDArray[np.float64]:
        """Return the matrix, whose upper triangle has no meaning."""
        return self.copy().square()

    def to_plain(self) -> dict[str, NDArray]:
        """Return the matrix as arrays."""
        return self.copy().to_plain()

    def times(self, X: NDArray) -> NDArray:
        """Return the product with some columns, in their precision."""
        return sum((change.times(X) for change in self._changes), self._whole.times(X))
