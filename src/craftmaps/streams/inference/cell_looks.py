"""First looks at columns of text files, whose type shows only when all cells of the look are seen."""

from typing import Any

import numpy as np

from craftmaps.streams.column_options import ColumnOptions
from craftmaps.streams.inference.column_looks import TextLook, unusable_column
from craftmaps.streams.inference.date_looks import DatedCells
from craftmaps.streams.inference.means import Means
from craftmaps.streams.inference.stray_cells import StrayCells
from craftmaps.streams.inference.text_findings import TextFindings
from craftmaps.streams.pieces import Piece
from craftmaps.tables.coded_text import coded_text
from craftmaps.tables.column import Column
from craftmaps.tables.encoding import numbers
from craftmaps.tables.kinds import trimmed
from craftmaps.tables.lazy_arrow import import_arrow


class CellLook:
    """A first look at a column of a text file."""

    cell_kind = "text"
    width = 1

    def __init__(self, field: Any, file: str, options: ColumnOptions, is_target: bool):
        arrow = import_arrow()
        self._name, self._file, self._decimal = field.name, file, options.decimal
        self._dates = DatedCells(field, file) if options.dates and not is_target else None
        self._is_dated = False
        self._text, self._stray = TextLook(field, file), StrayCells(field.name)
        self._means, self._findings = Means(1), TextFindings(field.name, file, is_typed=False)
        # Narrowest first. Whether numbers are whole matters only for labels.
        self._readings = [("number", arrow.float64()), ("boolean", arrow.bool_())]
        if is_target:
            self._readings.insert(0, ("integer", arrow.int64()))

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows."""
        cells = import_arrow().concat_arrays([piece.rows.column(self._name) for piece in pieces])
        self._text.add_cells(cells)
        if self._dates is not None:
            self._dates.add(pieces)
        pointed = self._with_points(cells)
        self._narrow_down(pointed)
        if self._kind in ("integer", "number"):
            self._stray.add_numbers(len(cells) - cells.null_count)
        else:
            self._stray.add(pointed, pieces)
            self._findings.add(coded_text(cells))

    def _narrow_down(self, cells: Any) -> None:
        """Drop the readings that some cell does not allow."""
        while self._readings:
            try:
                self._means.add(numbers(cells.cast(self._readings[0][1]))[:, None])
                return
            except import_arrow().ArrowInvalid:
                del self._readings[0]
                if self._kind == "boolean" and self._means.n_seen:
                    self._readings = []  # numbers, and then words

    def warning(self, is_target: bool) -> str | None:
        """Return a sentence if the column is perhaps misread as text."""
        is_text = not self._readings and (is_target or not self._is_dated)
        return self._findings.warning(self._text.is_hashed, is_target) if is_text else None

    def _with_points(self, cells: Any) -> Any:
        """Return trimmed cells, with the decimal point that Arrow parses."""
        cells = trimmed(cells)
        return swapped_marks(cells) if self._decimal == "," else cells

    @property
    def _kind(self) -> str:
        """The narrowest kind that all cells allow."""
        return self._readings[0][0] if self._readings else "text"

    @property
    def label_kind(self) -> str:
        """The narrowest kind that all cells allow; a few words among numbers are refused."""
        if not (self._readings or self._text.holds_classes()):
            self._stray.refuse("The target", f"{self._comma_remedy}correct it, or leave its row out")
        return self._kind

    def column(self) -> Column:
        """Return the rule for the column."""
        if self._readings:
            return Column(self._name, self._kind, self._means.fill[0], self._means.n_missing)
        dated = None if self._dates is None else self._dates.column()
        if dated is not None:
            self._is_dated = True
            return dated
        if self._text.holds_dates():
            raise unusable_column(self._name, self._file, "date or time", is_date=True)
        self._stray.refuse(
            "Column",
            f"{self._comma_remedy}correct it, leave it empty if the value is missing, read all cells as categories "
            f"with categories=[{self._name!r}], or leave the column out with drop=[{self._name!r}]",
        )
        return self._text.column()

    @property
    def _comma_remedy(self) -> str:
        """What to do if the stray cell has a decimal comma."""
        return "read it with decimal=',', " if self._stray.has_comma else ""


class NamelessLook(CellLook):
    """A first look at a first column without a name, where pandas and R write row numbers."""

    def __init__(self, field: Any, file: str, options: ColumnOptions):
        super().__init__(field, file, options, is_target=False)
        self._cells: dict[str, list[Any]] = {}

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows."""
        super().add(pieces)
        for piece in pieces:
            self._cells.setdefault(piece.reader.name, []).append(self._with_points(piece.rows.column(self._name)))

    def numbers_rows(self) -> bool:
        """Tell whether the cells of each file are different whole numbers, in any order."""
        if self._kind != "number":
            return False
        for arrays in self._cells.values():
            values = np.concatenate([numbers(cells.cast(import_arrow().float64())) for cells in arrays])
            is_whole = np.isfinite(values).all() and (values == np.trunc(values)).all()
            if not is_whole or np.unique(values).size < values.size:
                return False
        return True


def swapped_marks(cells: Any) -> Any:
    """Swap points and commas: a number with a point is not one where the comma is the decimal mark."""
    compute = import_arrow("pyarrow.compute")
    for old, new in ((",", "\0"), (".", ","), ("\0", ".")):
        cells = compute.replace_substring(cells, old, new)
    return cells
