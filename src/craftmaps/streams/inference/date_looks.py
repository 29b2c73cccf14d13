"""First looks at columns of dates, which become one feature per part."""

from typing import Any

import numpy as np

from craftmaps.streams.inference.means import Means
from craftmaps.streams.inference.stray_cells import StrayCells
from craftmaps.streams.pieces import Piece
from craftmaps.tables.coded_text import coded_text
from craftmaps.tables.column import DATE_PARTS, Column
from craftmaps.tables.dates import N_DAY_PARTS, date_parts, first_undated
from craftmaps.tables.kinds import stored_array
from craftmaps.tables.lazy_arrow import import_arrow

_DATE = r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}(:[0-9]{2}){0,2}([.][0-9]+)?( ?Z|[-+][0-9]{2}:?[0-9]{2})?)?\s*$"
# Characters of a cell that are matched: no date is longer, and cells may be of any length.
_LONGEST_DATE = 64


class DateLook:
    """A first look at a column of dates."""

    cell_kind = "date"
    width = len(DATE_PARTS)

    def __init__(self, field: Any, file: str):
        self._name = field.name
        self._means = Means(len(DATE_PARTS))
        self._is_used = np.zeros(len(DATE_PARTS), bool)

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows."""
        parts = np.concatenate([date_parts(stored_array(piece.rows.column(self._name))) for piece in pieces])
        self._is_used |= (parts > 0).any(axis=0)
        self._means.add(parts)

    @property
    def n_seen(self) -> int:
        """Number of dates that are not missing."""
        return self._means.n_seen // len(DATE_PARTS)

    def column(self) -> Column:
        """Return the rule: the parts of the day, and the parts of the time of day that are not always zero."""
        kept = [i for i in range(len(DATE_PARTS)) if i < N_DAY_PARTS or self._is_used[i]]
        fill, missing = self._means.fill, self._means.n_missing // len(DATE_PARTS)
        parts = tuple(DATE_PARTS[i] for i in kept)
        return Column(self._name, "date", tuple(fill[i] for i in kept), missing, parts, len(parts))


class DatedCells:
    """Text cells that may be dates: all of them, few, or nearly all, which is taken for an error."""

    def __init__(self, field: Any, file: str):
        self._name, self._look = field.name, DateLook(field, file)
        self._stray = StrayCells(field.name, _DATE, "dates")
        self._is_dated = True

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows."""
        if self._is_dated:
            try:
                self._look.add(pieces)
                return
            except import_arrow().ArrowInvalid:
                self._is_dated = False
                self._stray.add_numbers(self._look.n_seen)
        cells = self._cells(pieces)
        is_first = not self._stray.n_others
        self._stray.add(cells, pieces)
        if is_first and not self._stray.n_others:  # 2020-02-30 has the form of a date
            self._stray.add_other(first_undated(cells)[0], pieces)

    def _cells(self, pieces: list[Piece]) -> Any:
        """Return the beginnings of the cells of pieces."""
        arrow, compute = import_arrow(), import_arrow("pyarrow.compute")
        beginnings = []
        for piece in pieces:
            text = coded_text(piece.rows.column(self._name))
            values = compute.utf8_slice_codeunits(text.values, 0, _LONGEST_DATE)
            beginnings.append(values.take(arrow.array(text.codes, mask=text.codes < 0)))
        return arrow.concat_arrays(beginnings)

    def column(self) -> Column | None:
        """Return the rule if all cells are dates; refuse a column in which nearly all are."""
        if self._is_dated:
            return self._look.column() if self._look.n_seen else None
        self._stray.refuse(
            "Column", f"correct it, leave it empty if it is missing, or leave the column out with drop=[{self._name!r}]"
        )
        return None


class DatedText:
    """A first look at a string column of a typed table that may hold dates."""

    cell_kind = "text"
    width = 1

    def __init__(self, text: Any, field: Any, file: str):
        self._text, self._dates, self._is_dated = text, DatedCells(field, file), False

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows."""
        self._text.add(pieces)
        self._dates.add(pieces)

    def column(self) -> Column:
        """Return the rule for dates, or else for strings."""
        dated = self._dates.column()
        self._is_dated = dated is not None
        return dated or self._text.column()

    def warning(self, is_target: bool) -> str | None:
        """Return a sentence if the column is perhaps misread as text."""
        return None if self._is_dated else self._text.warning(is_target)
