"""First looks at single columns of typed tables, each of which becomes a `Column` of the rule."""

import re
from typing import Any

import numpy as np

from craftmaps.streams.inference.means import Means
from craftmaps.streams.inference.text_findings import TextFindings
from craftmaps.streams.pieces import Piece
from craftmaps.tables.coded_text import CodedText, coded_text
from craftmaps.tables.column import Column
from craftmaps.tables.encoding import elements, numbers
from craftmaps.tables.hashing import N_HASHED
from craftmaps.tables.kinds import kind_of, stored_array
from craftmaps.tables.lazy_arrow import import_arrow

# Distinct strings of a one-hot column; a column with more is hashed.
MOST_VALUES = 64
_FRACTION = re.compile(r"\s*[-+]?\d*\.\d+\s*")


class NumberLook:
    """A first look at a column of numbers or booleans."""

    width = 1

    def __init__(self, field: Any, file: str):
        self._name = field.name
        self.cell_kind = self._kind = kind_of(field.type)
        is_integer = import_arrow().types.is_integer(field.type)
        self.label_kind = "integer" if is_integer else self._kind
        self._means = Means(1)

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows."""
        # Joined as NumPy arrays: files can store one kind of value as different types.
        values = [numbers(piece.rows.column(self._name)) for piece in pieces]
        self._means.add(np.concatenate(values)[:, None])

    def column(self) -> Column:
        """Return the rule for the column."""
        return Column(self._name, self._kind, self._means.fill[0], self._means.n_missing)


class ListLook:
    """A first look at a column of lists of numbers."""

    cell_kind = "list"

    def __init__(self, field: Any, file: str):
        self._name, self._file = field.name, file
        self._means: Means | None = None
        self._n_missing = 0
        self.width = 1

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows."""
        compute = import_arrow("pyarrow.compute")
        matrices = []
        for piece in pieces:
            given = stored_array(piece.rows.column(self._name)).drop_null()
            self._n_missing += len(piece) - len(given)
            if not len(given):
                continue
            if self._means is None:
                self.width = len(given[0])
                self._means = Means(self.width)
            # Lists of another length are refused when they are encoded, by row.
            fits = compute.equal(compute.list_value_length(given), self.width)
            matrices.append(elements(given.filter(fits), self.width, self._name, self._file, 0))
        if self._means is not None and matrices:
            self._means.add(np.concatenate(matrices))

    def column(self) -> Column:
        """Return the rule for the column."""
        if self._means is None or not self.width:
            raise ValueError(
                f"Column {self._name!r} of {self._file} must hold lists of numbers, got empty ones: "
                f"leave it out with drop=[{self._name!r}]."
            )
        missing = self._means.n_missing + self._n_missing * self.width
        return Column(self._name, "list", self._means.fill, missing, width=self.width)


class TextLook:
    """A first look at a column of strings; with `warns`, it reports strings that look like numbers or names of rows."""

    label_kind = cell_kind = "text"
    width = 1

    def __init__(self, field: Any, file: str, warns: bool = False):
        self._name = field.name
        self._values: set[str] = set()
        self._findings = TextFindings(field.name, file, is_typed=True) if warns else None
        self.n_missing = 0

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows."""
        for piece in pieces:
            self._add(coded_text(piece.rows.column(self._name)))

    def add_cells(self, cells: Any) -> None:
        """Look at some cells of a text file."""
        if self.is_hashed:
            self.n_missing += cells.null_count
        else:
            self._add(coded_text(cells))

    def _add(self, text: CodedText) -> None:
        """Look at some cells."""
        self.n_missing += text.n_missing
        if not self.is_hashed:
            self._values.update(text.values[: 2 * MOST_VALUES].to_pylist())
        if self._findings is not None:
            self._findings.add(text)

    @property
    def is_hashed(self) -> bool:
        """Whether there are too many values for one feature each."""
        return len(self._values) > MOST_VALUES

    def warning(self, is_target: bool) -> str | None:
        """Return a sentence if the column is perhaps misread as text."""
        return None if self._findings is None else self._findings.warning(self.is_hashed, is_target)

    def column(self) -> Column:
        """Return the rule for the column."""
        if self.is_hashed:
            return Column(self._name, "hashed", missing=self.n_missing, width=N_HASHED)
        values = (*sorted(self._values), *((None,) if self.n_missing else ()))
        return Column(self._name, "one-hot", missing=self.n_missing, values=values, width=len(values))

    def holds_classes(self) -> bool:
        """Tell whether the strings look like names of classes: few, and without fractions."""
        return not self.is_hashed and not any(map(_FRACTION.fullmatch, self._values))

    def holds_dates(self) -> bool:
        """Tell whether all strings are dates or times."""
        arrow = import_arrow()
        try:
            arrow.array(sorted(self._values), arrow.string()).cast(arrow.timestamp("us"))
        except arrow.ArrowInvalid:
            return False
        return bool(self._values)


LOOKS = {"number": NumberLook, "boolean": NumberLook, "list": ListLook, "text": TextLook}


def unusable_column(name: str, file: str, kind: str, is_date: bool) -> ValueError:
    """Return the error for a column of a type that cannot become features."""
    parts = "encode its year, month, day and so on with dates='parts', " if is_date else ""
    return ValueError(
        f"Column {name!r} of {file} is of type {kind}, not of numbers, strings or lists of numbers: "
        f"{parts}cast it, or leave it out with drop=[{name!r}]."
    )
