"""Changes of a Gram matrix that are kept beside it: rows, an outer product, another matrix."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.threads import cut, for_each, multiply
from craftmaps.least_squares.gram import TILE


class AddedRows(NamedTuple):
    """Rows to be added or, with sign=-1, taken away."""

    Z: NDArray[np.float32]
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
