"""Features of all rows, kept in 16 bits: half of the memory, and quicker to read than to map again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.tiling import frozen
from craftmaps._system.threads import cut, for_each

_LARGEST = float(np.iinfo(np.int16).max)
_SMALLEST = 1e-33  # what divides the largest number within float32
_MAPPED_ROWS, _ROUNDED_ROWS = 1024, 64
_CONVERTED, _FEWEST_ROWS = 2**20, 64  # numbers that become float32 at a time, and rows
_LINE = (0,) * 16  # columns that are multiplied together
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
            largest = np.maximum(rows.max(axis=1), -rows.min(axis=1)).astype(np.float64)
            is_finite = np.isfinite(largest)
            rows[~is_finite] = 0
            scales = np.where(is_finite & (largest > _SMALLEST), largest, 1.0) / _LARGEST
            rows *= (1 / scales)[:, None].astype(rows.dtype)
            with np.errstate(over="ignore"):
                self.squares[into] = np.where(is_finite, np.einsum("ij,ij->i", rows, rows) * scales**2, np.inf)
                self.factors[into] = scales
            np.rint(rows, out=rows)
            self.numbers[into] = rows

        for_each(work, cut(len(Z), _ROUNDED_ROWS))

    def __getitem__(self, positions: slice | NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the features of some rows."""
        rows = self.numbers[positions].astype(np.float32)
        rows *= self.factors[positions, None]
        return rows

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of features."""
        return self.numbers.shape[0], self.numbers.shape[1]

    def outputs(self, coef: NDArray, positions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the products of some rows with columns of coefficients, of shape (n_positions, n_columns)."""
        coef, outputs = coef.astype(np.float32), np.empty((len(positions), coef.shape[1]), np.float32)

        def work(part: slice) -> None:
            outputs[part] = self[positions[part]] @ coef

        for_each(work, cut(len(positions), max(_CONVERTED // self.shape[1], _FEWEST_ROWS)))
        return outputs

    def sums(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sum over rows of their features times values, of shape (n_features, n_columns)."""
        from craftmaps._loops import stored_numbers

        scaled = values * self.factors[:, None]

        def add(rows: slice, total: NDArray[np.float32], room: NDArray[np.float32]) -> None:
            stored_numbers.add_sums(frozen(self.numbers[rows]), _lines_of(scaled[rows]), total, room, _LINE)

        return self._summed(values.shape[1], add)

    def normal_products(
        self, coef: NDArray[np.float32], shift: NDArray[np.float32], weight: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return the sum over rows of features times their outputs, less a shift, times weights."""
        from craftmaps._loops import lanes, stored_numbers

        lines, shifts, weights = _lines_of(coef), _lines_of(shift[None, :]), weight * self.factors

        def add(rows: slice, total: NDArray[np.float32], room: NDArray[np.float32]) -> None:
            outputs = lanes.aligned_empty(shifts.size * stored_numbers.ROWS, np.float32)
            of_rows = frozen(self.numbers[rows]), frozen(self.factors[rows]), frozen(weights[rows])
            stored_numbers.add_normal_products(*of_rows, lines, shifts, total, outputs, room, _LINE)

        return self._summed(coef.shape[1], add)

    def _summed(
        self, n_columns: int, add: Callable[[slice, NDArray[np.float32], NDArray[np.float32]], None]
    ) -> NDArray[np.float32]:
        """Return what `add` adds up for all rows, of which it is given parts, with room to work in."""
        from craftmaps._loops import lanes, stored_numbers

        n_rows, width = self.shape
        parts = cut(n_rows, max(-(-n_rows // _PARTS), _FEWEST_ROWS))
        totals = [lanes.aligned_empty(width * padded(n_columns), np.float32) for _ in parts]

        def work(i: int) -> None:
            totals[i][:] = 0
            add(parts[i], totals[i], lanes.aligned_empty(stored_numbers.ROWS * stored_numbers.COLUMNS, np.float32))

        for_each(work, range(len(parts)))
        for total in totals[1:]:
            totals[0] += total
        groups = totals[0].reshape(-1, width, len(_LINE)).transpose(1, 0, 2)
        return np.ascontiguousarray(groups.reshape(width, -1)[:, :n_columns])


def padded(n_columns: int) -> int:
    """Return how many columns are multiplied where so many are asked for."""
    return -(-n_columns // len(_LINE)) * len(_LINE)


def _lines_of(columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return columns in groups that fill a line, the rows of a group one after the other; zeros fill the last one."""
    from craftmaps._loops import lanes

    n_rows, n_columns = columns.shape
    n_groups = padded(n_columns) // len(_LINE)
    lines = lanes.aligned_empty(n_groups * n_rows * len(_LINE), np.float32)
    filled = lines.reshape(n_groups, n_rows, len(_LINE))
    for group in range(n_groups):
        part = columns[:, group * len(_LINE) : (group + 1) * len(_LINE)]
        filled[group, :, : part.shape[1]] = part
        filled[group, :, part.shape[1] :] = 0
    return lines
