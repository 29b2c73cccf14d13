"""Rows of files in the form that a model takes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scipy.sparse import issparse

from craftmaps import load_model, streams
from craftmaps.streams import Block, Column, Columns

WIDEST_DENSE = 2048
_LABEL_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}


def blocks_of(stream: streams.Stream) -> Iterator[Block]:
    """Yield the blocks of a stream, narrow sparse rows as dense rows.

    A model must not depend on the format of a file, but automatic choices compare more metrics for dense rows, and unit
    lengths of sparse rows round differently.
    """
    for block in stream.blocks():
        is_narrow = issparse(block.X) and block.X.shape[1] <= WIDEST_DENSE
        yield block._replace(X=block.X.toarray()) if is_narrow else block


def read_model(path: Path) -> Any:
    """Load a model file; refuse a folder."""
    if path.is_dir():
        raise IsADirectoryError(f"MODEL must be a file, got the folder {str(path)!r}.")
    return load_model(path)


def columns_of(model: Any) -> Columns:
    """Return the rule that turns tables into rows of a model; a model without one takes rows by position."""
    notes = model.notes_
    if isinstance(notes, dict) and notes.get("columns") is not None:
        columns = Columns.from_plain(notes["columns"])
        if columns.n_features != model.n_features_in_:
            raise ValueError(
                f"The model takes rows of {model.n_features_in_} columns, but its notes describe {columns.n_features}."
            )
        return columns
    width = model.n_features_in_
    classes = getattr(model, "classes_", None)
    kind = "number" if classes is None else _LABEL_KINDS.get(classes.dtype.kind, "text")
    return Columns((Column("x", "list", width=width),), None, kind, n_cells=width)


def open_rows(model: Any, source: Any, batch_rows: int, ids: str | None = None) -> streams.Stream:
    """Open rows to predict. Labels are not read, as they may be missing."""
    return streams.open(source, None, batch_rows, columns_of(model), ids=ids)


def open_labelled_rows(
    columns: Columns, source: Any, target: str | int, batch_rows: int, weight: str | None
) -> streams.Stream:
    """Open rows with labels to compare predictions with."""
    if target == "auto" and columns.n_cells is None and columns.target is not None:
        target = columns.target  # so that a table without it is refused
    return streams.open(source, target, batch_rows, columns, weight=weight)
