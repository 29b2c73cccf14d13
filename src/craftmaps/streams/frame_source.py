"""A data frame as a source of rows, like a file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from craftmaps.tables.arrow import import_arrow
from craftmaps.tables.frame_tables import table_of


class FrameSource:
    """A data frame in memory, perhaps with labels that are not in it.

    Attributes
    ----------
    table : object
        The rows, as tables of files give them.
    label : str or None
        The name of the column that the labels became.
    """

    format = "data frame"
    n_bytes = None

    def __init__(self, frame: Any, y: Any, drop: Sequence[str]):
        self.table, self.label = table_of(frame, drop), None
        self.name = self.table.name
        if y is not None:
            labels = _labels(y)
            if self.table.n_rows is None:
                raise ValueError(f"y must be None for a {self.name}: name the column of labels with target.")
            if len(labels) != self.table.n_rows:
                raise ValueError(f"y must have a label for each of {self.table.n_rows} rows, got {len(labels)}.")
            self.label = _free_name(getattr(y, "name", None), self.table.schema.names)
            self.table = _LabelledTable(self.table, labels, self.label)


class _LabelledTable:
    """A table with a column of labels beside its own."""

    is_typed = True
    has_names = True

    def __init__(self, table: Any, labels: Any, label: str):
        self.name, self.n_rows = table.name, table.n_rows
        self.schema = table.schema.append(import_arrow().field(label, labels.type))
        self._table, self._labels, self._label = table, labels, label

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
        """Yield batches of some columns, each with the number of bytes read so far, which is not known."""
        start = 0
        own = {name: kind for name, kind in kinds.items() if name != self._label}
        for batch, position in self._table.batches(own, batch_rows):
            if self._label in kinds:
                labels = self._labels.slice(start, batch.num_rows)
                start += batch.num_rows
                batch = batch.append_column(self._label, labels)
            yield batch, position


def _labels(y: Any) -> Any:
    """Return labels, an array or a column of a frame, as Arrow has them."""
    arrow = import_arrow()
    y = y.to_arrow() if hasattr(y, "to_arrow") else y  # Polars
    try:
        labels = y if isinstance(y, arrow.Array | arrow.ChunkedArray) else arrow.array(y, from_pandas=True)
    except (arrow.ArrowException, TypeError, OverflowError):
        raise ValueError(
            f"y must be one-dimensional, of numbers, booleans or strings, got {type(y).__name__} of shape "
            f"{np.shape(y)}."
        ) from None
    return labels.combine_chunks() if isinstance(labels, arrow.ChunkedArray) else labels


def _free_name(own: Any, names: Sequence[str]) -> str:
    """Return a name for labels that no column has, their own one if they have it."""
    candidates = ["label", *(f"label_{i}" for i in range(len(names)))]
    if isinstance(own, str) and own:
        candidates.insert(0, own)
    return next(name for name in candidates if name not in names)
