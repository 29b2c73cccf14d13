"""A data frame as a source of rows, like a file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from craftmaps.streams.errors import ArgumentError
from craftmaps.streams.limits import Limits
from craftmaps.tables.frame_tables import table_of
from craftmaps.tables.lazy_arrow import import_arrow


class FrameSource:
    """A data frame in memory, optionally with labels from elsewhere.

    Attributes
    ----------
    table : object
        The rows, with the interface of a table of a file.
    label : str or None
        Name of the column that holds the labels `y`.
    """

    format = "data frame"
    n_bytes = None

    def __init__(self, frame: Any, y: Any, drop: Sequence[str], limits: Limits):
        self.table, self.label, self.limits = table_of(frame, drop), None, limits
        self.name = self.table.name
        if y is not None:
            labels = _arrow_labels(y)
            if self.table.n_rows is None:
                raise ArgumentError(f"y must be None for a {self.name}: name the column of labels with target.", "y")
            if len(labels) != self.table.n_rows:
                raise ArgumentError(
                    f"y must have a label for each of {self.table.n_rows} rows, got {len(labels)}.", "y"
                )
            self.label = _free_name(getattr(y, "name", None), self.table.schema.names)
            self.table = _LabelledTable(self.table, labels, self.label)


class _LabelledTable:
    """A table with an added column of labels."""

    is_typed = True
    has_names = True

    def __init__(self, table: Any, labels: Any, label: str):
        self.name, self.n_rows = table.name, table.n_rows
        self.schema = table.schema.append(import_arrow().field(label, labels.type))
        self._table, self._labels, self._label = table, labels, label

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
        """Yield batches of the columns in `kinds`, each with 0 for the unknown number of bytes read."""
        start = 0
        own = {name: kind for name, kind in kinds.items() if name != self._label}
        for batch, position in self._table.batches(own, batch_rows):
            if self._label in kinds:
                labels = self._labels.slice(start, batch.num_rows)
                start += batch.num_rows
                batch = batch.append_column(self._label, labels)
            yield batch, position


def _arrow_labels(y: Any) -> Any:
    """Return labels, an array or a column of a frame, as an Arrow array."""
    arrow = import_arrow()
    y = y.to_arrow() if hasattr(y, "to_arrow") else y  # Polars
    try:
        labels = y if isinstance(y, arrow.Array | arrow.ChunkedArray) else arrow.array(y, from_pandas=True)
    except (arrow.ArrowException, TypeError, OverflowError):
        got = f"{type(y).__name__} of shape {np.shape(y)}"
        raise ArgumentError(f"y must be one-dimensional, of numbers, booleans or strings, got {got}.", "y") from None
    return labels.combine_chunks() if isinstance(labels, arrow.ChunkedArray) else labels


def _free_name(own: Any, names: Sequence[str]) -> str:
    """Return a name for the labels that no column has: their own, or "label", "label_0" and so on."""
    candidates = ["label", *(f"label_{i}" for i in range(len(names)))]
    if isinstance(own, str) and own:
        candidates.insert(0, own)
    return next(name for name in candidates if name not in names)
