"""Features of all rows, kept in 16 bits: half of the memory, and quicker to read than to map again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.threads import cut, for_each

_LARGEST = float(np.iinfo(np.int16).max)
_MAPPED_ROWS, _ROUNDED_ROWS = 1024, 64
# Numbers that become float32 at a time: they stay in the cache for both products.
_CONVERTED, _FEWEST_ROWS = 2**20, 64
_PARTS = 16  # of the rows, whose sums are added in order whatever the number of threads


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """Whole numbers of 16 bits with a factor for every row, so that its largest feature has the largest number.

    What rounding adds to a feature has a standard deviation of 1e-5 of the largest one of its row. That is far below
    what a ridge penalty of any use takes from it.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows, n_features) and type int16
    factors : ndarray of shape (n_rows,) and type float32
    squares : ndarray of shape (n_rows,)
        Squared lengths of the features as they were.
    """

    numbers: NDArray[np.int16]
    factors: NDArray[np.float32]
    squares: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        features: Callable[[Any], NDArray],
        X: Any,
        width: int,
        on_rows: Callable[[int], None] | None = None,
    ) -> "StoredFeatures":
        """Map rows, and keep their features; `on_rows` hears how many are done."""
        n_rows = X.shape[0]
        stored = cls(np.empty((n_rows, width), np.int16), np.empty(n_rows, np.float32), np.empty(n_rows))
        for block in cut(n_rows, _MAPPED_ROWS):
            stored._round(block.start, features(X[block]))
            if on_rows is not None:
                on_rows(block.stop)
        if not (np.isfinite(stored.squares.sum()) and np.isfinite(stored.factors).all()):
            raise ValueError("Features must be finite and have squares that add up to a number: scale the rows.")
        return stored

    def _round(self, first: int, Z: NDArray) -> None:
        """Keep the features of some rows, which are overwritten."""

        def work(part: slice) -> None:
            rows, into = Z[part], slice(first + part.start, first + part.stop)
            with np.errstate(over="ignore", invalid="ignore"):
                self.squares[into] = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
                largest = np.maximum(rows.max(axis=1), -rows.min(axis=1)).astype(np.float64)
                largest[~(largest > 0) | ~np.isfinite(largest)] = 1.0
                rows *= (_LARGEST / largest)[:, None].astype(rows.dtype)
                np.rint(rows, out=rows)
                self.numbers[into] = np.nan_to_num(rows, copy=False, posinf=0.0, neginf=0.0)
                self.factors[into] = largest / _LARGEST

        for_each(work, cut(len(Z), _ROUNDED_ROWS))

    def __getitem__(self, positions: slice | NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the features of some rows."""
        return np.multiply(self.numbers[positions], self.factors[positions, None], dtype=np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of features."""
        return self.numbers.shape[0], self.numbers.shape[1]

    def outputs(self, coef: NDArray, positions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the products of some rows with columns of coefficients, of shape (n_positions, n_columns)."""
        coef, outputs = coef.astype(np.float32), np.empty((len(positions), coef.shape[1]), np.float32)

        def work(part: slice) -> None:
            outputs[part] = self[positions[part]] @ coef

        for_each(work, cut(len(positions), self._block_rows))
        return outputs

    def sums(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sum over rows of their features times values, of shape (n_features, n_columns)."""
        return self._summed(values.shape[1], lambda numbers, rows: values[rows])

    def normal_products(
        self, coef: NDArray[np.float32], shift: NDArray[np.float32], weight: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return the sum over rows of features times their outputs, less a shift, times weights."""

        def values(numbers: NDArray[np.float32], rows: slice) -> NDArray[np.float32]:
            return ((numbers @ coef) * self.factors[rows, None] - shift) * weight[rows, None]

        return self._summed(coef.shape[1], values)

    @property
    def _block_rows(self) -> int:
        """How many rows become float32 at a time."""
        return max(_CONVERTED // self.shape[1], _FEWEST_ROWS)

    def _summed(
        self, n_columns: int, values: Callable[[NDArray[np.float32], slice], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        """Return the sum over rows of their features times values, which may look at the numbers of these rows."""
        n_rows, width = self.shape
        size = self._block_rows
        parts = cut(n_rows, -(-n_rows // (_PARTS * size)) * size)
        totals: list[NDArray[np.float32]] = [np.zeros((width, n_columns), np.float32) for _ in parts]

        def work(i: int) -> None:
            room = np.empty((size, width), np.float32)
            for start in range(parts[i].start, parts[i].stop, size):
                rows = slice(start, min(start + size, parts[i].stop))
                numbers = room[: rows.stop - rows.start]
                np.copyto(numbers, self.numbers[rows])
                totals[i] += numbers.T @ (values(numbers, rows) * self.factors[rows, None])

        for_each(work, range(len(parts)))
        for total in totals[1:]:
            totals[0] += total
        return totals[0]
