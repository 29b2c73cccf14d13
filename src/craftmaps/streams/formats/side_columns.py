"""Columns of a table beside features and labels: the weights and the ids of the rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.column_options import ColumnOptions
from craftmaps.streams.errors import ArgumentError
from craftmaps.streams.limits import Limits
from craftmaps.tables.coded_text import coded_text
from craftmaps.tables.encoding import numbers
from craftmaps.tables.kinds import is_null, kind_in_words, kind_of, plain_array, stored_array
from craftmaps.tables.lazy_arrow import import_arrow


class SideColumns:
    """Weights and ids of rows, read from the batches of one table."""

    def __init__(self, table: Any, options: ColumnOptions, target: str | None, limits: Limits):
        self.weight, self.ids, self._file, self._is_typed = options.weight, options.ids, table.name, table.is_typed
        self._longest = limits.longest_label
        ColumnOptions(weight=self.weight, ids=self.ids).resolved(table.schema.names, table.name, target)
        if self.weight is not None and table.is_typed:
            arrow_type = table.schema.field(self.weight).type
            kind = kind_of(arrow_type)
            if kind not in ("number", "boolean") and not is_null(arrow_type):
                raise ArgumentError(
                    f"weight must be a column of numbers, got {self.weight!r} of {table.name}, which holds "
                    f"{kind_in_words(kind)}.",
                    "weight",
                )

    def refuse_features(self, names: list[str]) -> None:
        """Refuse weights that are among the features of a rule."""
        if self.weight in names:
            raise ArgumentError(f"weight must not be one of the features of columns, got {self.weight!r}.", "weight")

    def kinds(self, features: Mapping[str, str]) -> dict[str, str]:
        """Return the kinds to read the columns as; ids that are also a feature are read as that feature."""
        weight = {} if self.weight is None else {self.weight: "number"}
        return weight | ({} if self.ids is None or self.ids in features else {self.ids: "id"})

    def weights_of(self, batch: Any, first_row: int) -> NDArray[np.float64] | None:
        """Return the weights of rows."""
        if self.weight is None:
            return None
        weights = numbers(batch.column(self.weight)).astype(np.float64)
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if bad.size:
            got = "none" if np.isnan(weights[bad[0]]) else f"{weights[bad[0]]:g}"
            raise ValueError(
                f"Column {self.weight!r} of {self._file} must hold finite weights of at least 0, got {got} in row "
                f"{first_row + bad[0] + 1}."
            )
        return weights

    def ids_of(self, batch: Any, first_row: int) -> NDArray | None:
        """Return the ids of rows, numbers or strings; a missing string is empty, a missing number is refused."""
        if self.ids is None:
            return None
        array, types = stored_array(batch.column(self.ids)), import_arrow().types
        value_type = array.type.value_type if types.is_dictionary(array.type) else array.type
        if not (types.is_integer(value_type) or types.is_floating(value_type)):
            text = coded_text(array)
            text.check_length(f"Column {self.ids!r} of {self._file} must hold ids", self._longest, first_row)
            return text.strings()
        array = plain_array(array)
        if array.null_count:
            row = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
            raise ValueError(f"Column {self.ids!r} of {self._file} has no id in row {first_row + row + 1}.")
        values = array.to_numpy(zero_copy_only=False)
        # Text files are parsed as floats.
        is_whole = not self._is_typed and (np.trunc(values) == values).all()
        return values.astype(np.int64) if is_whole else values
