"""Words among the numbers of a text file: a few are taken for errors, many for a column of text."""

import re
from typing import Any

from craftmaps.streams.pieces import Piece
from craftmaps.tables.column_names import shortened
from craftmaps.tables.lazy_arrow import import_arrow

_NUMBER = r"^[-+]?([0-9]+\.?[0-9]*([eE][-+]?[0-9]+)?|\.[0-9]+([eE][-+]?[0-9]+)?|(?i:inf|infinity|nan))$"
# Codes are written with leading zeros, numbers are not.
_CODE = r"^0[0-9]+$"
_FEWEST_NUMBERS = 20
_LEAST_SHARE = 0.9
# A tenth of the rows of the first look: a column with more words is text, and they need not be counted.
_MOST_OTHERS = 10_000


class StrayCells:
    """Counts the numbers in a text column, or cells of another pattern, and keeps the first other cell.

    One wrong cell would turn a column of numbers into text, and make the model much worse without a warning. A column
    of nearly all numbers is refused instead, unless some have leading zeros as codes do, such as 007 beside 007A.
    """

    def __init__(self, name: str, pattern: str = _NUMBER, what: str = "numbers"):
        self._name, self._pattern, self._what = name, pattern, what
        self._n_numbers = self.n_others = 0
        self._has_codes = False
        self._file = self._first = ""

    def add_numbers(self, n_numbers: int) -> None:
        """Count cells that were parsed as numbers."""
        self._n_numbers += n_numbers

    def add(self, cells: Any, pieces: list[Piece]) -> None:
        """Count the trimmed cells of the rows of pieces."""
        if self.n_others > _MOST_OTHERS:
            return
        compute = import_arrow("pyarrow.compute")
        is_number = compute.match_substring_regex(cells, self._pattern)
        n_numbers = compute.sum(is_number).as_py() or 0
        n_others = len(cells) - cells.null_count - n_numbers
        if n_others and not self.n_others:
            self._keep(compute.index(is_number, False).as_py(), pieces)
        self._n_numbers += n_numbers
        self.n_others += n_others
        if n_numbers and not self._has_codes:
            self._has_codes = compute.any(compute.match_substring_regex(cells, _CODE)).as_py()

    def add_other(self, i: int, pieces: list[Piece]) -> None:
        """Count a cell that matches the pattern, but is wrong."""
        self._n_numbers -= 1
        self.n_others += 1
        if self.n_others == 1:
            self._keep(i, pieces)

    def refuse(self, what: str, remedy: str) -> None:
        """Refuse the column if nearly all cells are numbers, and name the first other cell."""
        n_cells = self._n_numbers + self.n_others
        is_numeric = self._n_numbers >= max(_FEWEST_NUMBERS, _LEAST_SHARE * n_cells)
        if 0 < self.n_others <= _MOST_OTHERS and is_numeric and not self._has_codes:
            raise ValueError(
                f"{what} {self._name!r} of {self._file} holds {self._what} in {self._n_numbers:,} of {n_cells:,} "
                f"cells, but {self._first}: {remedy}."
            )

    @property
    def has_comma(self) -> bool:
        """Whether the first cell that is no number has a decimal comma."""
        return re.match(r"'\s*[-+]?\d*,\d+\s*' in row", self._first) is not None

    def _keep(self, i: int, pieces: list[Piece]) -> None:
        """Keep the content and the place of a cell for the message."""
        at = 0
        while i >= len(pieces[at]):
            i -= len(pieces[at])
            at += 1
        piece = pieces[at]
        cell = shortened(piece.rows.column(self._name)[i].as_py())
        self._file, self._first = piece.reader.name, f"{cell} in row {piece.first_row + i + 1}"
