"""Features of all rows, kept in 16 bits: half of the memory, and quicker to read than to map again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.tiling import frozen
from craftmaps._system.threads import cut, for_each

_MAPPED_ROWS, _ROUNDED_ROWS = 256, 64
_MULTIPLIED_ROWS = 64
_PARTS, _PART_ROWS = 16, 1024  # at most and at least: sums of parts are added in order whatever the number of threads


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """A matrix of features: numbers of 16 bits with a factor for every row, whose largest feature has the largest one.

    What rounding adds to a feature has a standard deviation of 1e-5 of the largest one of its row. That is far below
    what a ridge penalty of any use takes from it.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows, n_features) and type int16
    factors : ndarray of shape (n_rows,) and type float32
    squares : ndarray of shape (n_rows,)
        Squared lengths of the rounded features.
    width : int
        How many features there are: zeros fill up pairs of lines.
    """

    numbers: NDArray[np.int16]
    factors: NDArray[np.float32]
    squares: NDArray[np.float64]
    width: int

    @classmethod
    def of(
        cls,
        features: Callable[[Any], NDArray],
        X: Any,
        width: int,
        on_rows: Callable[[int], None] | None = None,
    ) -> Self:
        """Map rows, and keep their features; `on_rows` hears how many are done."""
        from craftmaps._loops import stored_numbers

        n_rows, pair = X.shape[0], 2 * len(stored_numbers.LINE)
        filled = -(-width // pair) * pair
        stored = cls(np.empty((n_rows, filled), np.int16), np.empty(n_rows, np.float32), np.empty(n_rows), width)
        stored.numbers[:, width:] = 0
        for block in cut(n_rows, _MAPPED_ROWS):
            stored._round(block.start, features(X[block]))
            if on_rows is not None:
                on_rows(block.stop)
        if not (np.isfinite(stored.squares.sum()) and np.isfinite(stored.factors).all()):
            raise ValueError("Features must be finite and have squares that add up to a number: scale the rows.")
        return stored

    def _round(self, first: int, Z: NDArray) -> None:
        """Keep the features of some rows."""
        from craftmaps._loops import stored_numbers

        whole = np.dtype(f"i{Z.dtype.itemsize}").type
        mask, infinite = np.iinfo(whole).max, Z.dtype.type(np.inf).view(whole)
        Z = np.ascontiguousarray(Z)

        def work(part: slice) -> None:
            rows, into, largest = Z[part], slice(first + part.start, first + part.stop), np.empty(1, Z.dtype)
            numbers = self.numbers[into, : self.width]
            of_rows = numbers, self.factors[into], self.squares[into], largest, largest.view(whole)
            stored_numbers.round_rows(frozen(rows), frozen(rows.view(whole)), whole(mask), infinite, *of_rows)

        for_each(work, cut(len(Z), _ROUNDED_ROWS))

    def __getitem__(self, positions: slice | NDArray[np.int64]) -> Self:
        """Return some of the rows."""
        return type(self)(self.numbers[positions], self.factors[positions], self.squares[positions], self.width)

    def __sizeof__(self) -> int:
        """Return the bytes of the arrays, for schedulers that place work by what it weighs."""
        return object.__sizeof__(self) + self.numbers.nbytes + self.factors.nbytes + self.squares.nbytes

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of features."""
        return len(self.numbers), self.width

    @property
    def dtype(self) -> np.dtype:
        """The precision of products."""
        return self.factors.dtype

    def toarray(self) -> NDArray[np.float32]:
        """Return the features."""
        rows = self.numbers[:, : self.width].astype(np.float32)
        rows *= self.factors[:, None]
        return rows

    def __matmul__(self, coef: NDArray) -> NDArray[np.float32]:
        """Return the products with columns of coefficients, of shape (n_rows, n_columns)."""
        from craftmaps._loops import stored_numbers

        columns = _columns_of(coef.shape[1])
        lines = self._lines_of(coef, columns)
        outputs = np.empty((len(self), len(lines) * len(columns)), np.float32)

        def work(rows: slice) -> None:
            partial = _partial_sums(columns)
            of_rows = np.empty((len(lines), rows.stop - rows.start, len(columns)), np.float32)
            numbers = frozen(self.numbers[rows])
            stored_numbers.write_outputs(numbers, lines, of_rows, partial, stored_numbers.LINE, columns)
            outputs[rows] = _ungrouped(of_rows, outputs.shape[1]) * self.factors[rows, None]

        for_each(work, cut(len(self), _MULTIPLIED_ROWS))
        return outputs[:, : coef.shape[1]]

    def sums(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sum over rows of their features times values, of shape (n_features, n_columns)."""
        from craftmaps._loops import stored_numbers

        columns = _columns_of(values.shape[1])

        def add(rows: slice, total: NDArray[np.float32]) -> None:
            of_rows = _grouped(values[rows] * self.factors[rows, None], columns)
            stored_numbers.add_sums(frozen(self.numbers[rows]), of_rows, total, stored_numbers.LINE, columns)

        return self._summed(values.shape[1], add)

    def normal_products(
        self, coef: NDArray[np.float32], shift: NDArray[np.float32], weight: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return the sum over rows of features times their outputs, less a shift, times weights."""
        from craftmaps._loops import stored_numbers

        columns = _columns_of(coef.shape[1])
        lines, weights = self._lines_of(coef, columns), weight * self.factors
        shifts = _grouped(shift[None, :], columns)[:, 0]

        def add(rows: slice, total: NDArray[np.float32]) -> None:
            outputs = np.empty((len(lines), stored_numbers.ROWS, len(columns)), np.float32)
            of_rows = frozen(self.numbers[rows]), frozen(self.factors[rows]), frozen(weights[rows])
            room = outputs, _partial_sums(columns), stored_numbers.LINE, columns
            stored_numbers.add_normal_products(*of_rows, lines, shifts, total, *room)

        return self._summed(coef.shape[1], add)

    def _summed(self, n_columns: int, add: Callable[[slice, NDArray[np.float32]], None]) -> NDArray[np.float32]:
        """Return what `add` adds up for all rows, of which it is given parts."""
        from craftmaps._loops import lanes, stored_numbers

        columns = _columns_of(n_columns)
        parts = cut(len(self), max(-(-len(self) // _PARTS), _PART_ROWS))
        shape = _n_groups(n_columns, columns), self.numbers.shape[1] * len(columns)
        totals = [lanes.aligned_empty(shape[0] * shape[1], np.float32).reshape(shape) for _ in parts]

        def work(i: int) -> None:
            totals[i][:] = 0
            add(parts[i], totals[i])

        for_each(work, range(len(parts)))
        for total in totals[1:]:
            totals[0] += total
        lines = totals[0].reshape(shape[0], -1, len(columns), len(stored_numbers.LINE))
        return _ungrouped(lines.swapaxes(2, 3).reshape(shape[0], -1, len(columns)), n_columns)[: self.width]

    def _lines_of(self, coef: NDArray, columns: tuple[int, ...]) -> NDArray[np.float32]:
        """Return coefficients in groups of columns, and in each for every line of features a line for every column."""
        from craftmaps._loops import lanes, stored_numbers

        n_filled, size = self.numbers.shape[1], len(stored_numbers.LINE)
        n_groups = _n_groups(coef.shape[1], columns)
        lines = lanes.aligned_empty(n_groups * n_filled * len(columns), np.float32).reshape(n_groups, -1)
        whole = np.zeros((n_filled, n_groups * len(columns)), np.float32)
        whole[: len(coef), : coef.shape[1]] = coef
        by_line = whole.reshape(-1, size, n_groups, len(columns)).transpose(2, 0, 3, 1)
        lines.reshape(n_groups, -1, len(columns), size)[:] = by_line
        return lines


Features = NDArray | StoredFeatures


def _columns_of(n_columns: int) -> tuple[int, ...]:
    """Return a tuple as long as a group of columns."""
    from craftmaps._loops import stored_numbers

    n_groups = max(-(-n_columns // stored_numbers.MOST_COLUMNS), 1)
    return (0,) * max(-(-n_columns // n_groups), 1)


def _n_groups(n_columns: int, columns: tuple[int, ...]) -> int:
    """Return how many groups hold so many columns, of which there may be none."""
    return max(-(-n_columns // len(columns)), 1)


def _partial_sums(columns: tuple[int, ...]) -> NDArray[np.float32]:
    """Return room for the partial sums of a block of rows, aligned to lines."""
    from craftmaps._loops import lanes, stored_numbers

    return lanes.aligned_empty((stored_numbers.ROWS + 1) * len(columns) * len(stored_numbers.LINE), np.float32)


def _grouped(values: NDArray, columns: tuple[int, ...]) -> NDArray[np.float32]:
    """Return columns in groups, of shape (n_groups, n_rows, n_columns); zeros fill the last one."""
    n_groups = _n_groups(values.shape[1], columns)
    n_columns = len(columns)
    grouped = np.zeros((n_groups, len(values), n_columns), np.float32)
    for group in range(n_groups):
        part = values[:, group * n_columns : (group + 1) * n_columns]
        grouped[group, :, : part.shape[1]] = part
    return grouped


def _ungrouped(grouped: NDArray[np.float32], n_columns: int) -> NDArray[np.float32]:
    """Return groups of columns side by side."""
    return np.ascontiguousarray(grouped.transpose(1, 0, 2).reshape(grouped.shape[1], -1)[:, :n_columns])
