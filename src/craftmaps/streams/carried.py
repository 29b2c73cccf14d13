"""Columns of a table that are no features: the weights of the rows, and their names."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.column_options import ColumnOptions
from craftmaps.tables.arrow import import_arrow
from craftmaps.tables.encoding import as_text, decoded, described, is_null, kind_of, numbers


class CarriedColumns:
    """Weights and names of rows, read from the batches of one table."""

    def __init__(self, table: Any, options: ColumnOptions, target: str | None):
        self.weight, self.ids, self._file, self._is_typed = options.weight, options.ids, table.name, table.is_typed
        ColumnOptions(weight=self.weight, ids=self.ids).resolved(table.schema.names, table.name, target)
        if self.weight is not None and table.is_typed:
            arrow_type = table.schema.field(self.weight).type
            kind = kind_of(arrow_type)
            if kind not in ("number", "boolean") and not is_null(arrow_type):
                raise ValueError(
                    f"weight must be a column of numbers, got {self.weight!r} of {table.name}, which holds "
                    f"{described(kind)}."
                )

    def refuse_features(self, names: list[str]) -> None:
        """Refuse weights that are among the features of a rule."""
        if self.weight in names:
            raise ValueError(f"weight must not be one of the features of columns, got {self.weight!r}.")

    def kinds(self, features: Mapping[str, str]) -> dict[str, str]:
        """Return what to read the columns as; a feature that names rows is read as it is for the matrix."""
        weight = {} if self.weight is None else {self.weight: "number"}
        return weight | ({} if self.ids is None or self.ids in features else {self.ids: "id"})

    def weights(self, batch: Any, first_row: int) -> NDArray[np.float64] | None:
        """Return the weights of rows."""
        if self.weight is None:
            return None
        weights = numbers(batch.column(self.weight)).astype(np.float64)
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if bad.size:
            got = "none" if np.isnan(weights[bad[0]]) else f"{weights[bad[0]]:g}"
            raise ValueError(
                f"Column {self.weight!r} of {self._file} must hold finite weights, none negative, got {got} in row "
                f"{first_row + bad[0] + 1}."
            )
        return weights

    def names(self, batch: Any, first_row: int) -> NDArray | None:
        """Return the names of rows, numbers or strings; a missing string is empty."""
        if self.ids is None:
            return None
        array, types = decoded(batch.column(self.ids)), import_arrow().types
        if types.is_integer(array.type) or types.is_floating(array.type):
            if array.null_count:
                row = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
                raise ValueError(f"Column {self.ids!r} of {self._file} has no id in row {first_row + row + 1}.")
            values = array.to_numpy(zero_copy_only=False)
            # Text files are read as floats.
            is_whole = not self._is_typed and (np.trunc(values) == values).all()
            return values.astype(np.int64) if is_whole else values
        return np.array(as_text(array).fill_null("").to_pylist(), dtype=np.str_)
