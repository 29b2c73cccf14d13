"""Rows of files in the form that a model takes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from craftmaps import load_model, streams
from craftmaps.learners.persistence import container
from craftmaps.streams import Block, Column, Columns
from craftmaps.streams.narrow_rows import dense_where_narrow

_LABEL_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}


def blocks_of(stream: streams.Stream) -> Iterator[Block]:
    """Yield the blocks of a stream, narrow sparse rows as dense rows."""
    return dense_where_narrow(stream.blocks())


def read_model(path: Path, name: str = "MODEL") -> Any:
    """Load a model or a tally; refuse a folder."""
    if path.is_dir():
        raise IsADirectoryError(f"{name} must be a file, got the folder {str(path)!r}.")
    return load_model(path)


def read_settled(path: Path, name: str) -> Any:
    """Load a learner that is settled: of a recipe, of a tally, or of a model that was saved with its tally."""
    settled = read_model(path, name)
    if not has_tally(settled):
        raise ValueError(f"{name} must be a tally or a recipe, got {str(path)!r}, a model without its tally.")
    with naming(f"{path} cannot be used"):
        column_rule(settled)
    return settled


@contextmanager
def naming(words: str) -> Iterator[None]:
    """Begin an error with the names of the files that it is about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{words}: {error}") from None


def has_tally(model: Any) -> bool:
    """Tell whether a model that was loaded goes on learning."""
    try:
        return model.tally_ is not None
    except ValueError:
        return False


def has_solution(path: Path) -> bool:
    """Tell whether a file that can be read has a model, and not a tally alone."""
    return "weights" in container.read(path)


def columns_of(model: Any) -> Columns:
    """Return the rule that turns tables into rows of a model; a model without one takes rows by position."""
    columns = column_rule(model)
    if columns is not None:
        return columns
    width = model.n_features_in_
    classes = getattr(model, "classes_", None)
    kind = "number" if classes is None else _LABEL_KINDS.get(classes.dtype.kind, "text")
    return Columns((Column("x", "list", width=width),), None, kind, n_cells=width)


def column_rule(model: Any) -> Columns | None:
    """Return the rule for columns in the notes of a model, if there is one."""
    plain = model.notes_.get("columns") if isinstance(model.notes_, dict) else None
    if plain is None:
        return None
    columns = Columns.from_plain(plain)
    if columns.n_features != model.n_features_in_:
        raise ValueError(
            f"The model takes rows of {model.n_features_in_} columns, but its notes describe {columns.n_features}."
        )
    return columns


def labelled_columns_of(model: Any) -> Columns:
    """Return the rule for rows with labels; those of a model that was saved from Python are called label."""
    columns = columns_of(model)
    return replace(columns, target="label") if columns.target is None else columns


def open_rows(model: Any, source: Any, batch_rows: int, ids: str | None = None) -> streams.Stream:
    """Open rows to predict. Labels are not read, as they may be missing."""
    return streams.open(source, None, batch_rows, columns_of(model), ids=ids)


def open_labelled_rows(
    columns: Columns, source: Any, target: str | int, batch_rows: int, weight: str | None
) -> streams.Stream:
    """Open rows with labels to compare predictions with."""
    return streams.open(source, known_target(columns, target), batch_rows, columns, weight=weight)


def known_target(columns: Columns, target: str | int) -> str | int:
    """Return the target of a rule for "auto", so that a table without it is refused."""
    is_named = target == "auto" and columns.n_cells is None and columns.target is not None
    return columns.target if is_named else target  # type: ignore[return-value]
