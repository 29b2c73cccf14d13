"""Words among the numbers of a text file: a few are taken for errors, and not for a column of text."""

import re
from typing import Any

from craftmaps.streams.cutting import Piece
from craftmaps.tables.arrow import import_arrow
from craftmaps.tables.columns import shortened

_NUMBER = r"^[-+]?([0-9]+\.?[0-9]*([eE][-+]?[0-9]+)?|\.[0-9]+([eE][-+]?[0-9]+)?|(?i:inf|infinity|nan))$"
# Numbers are not written so, but codes are.
_CODE = r"^0[0-9]+$"
_FEWEST_NUMBERS = 20
_LEAST_SHARE = 0.9
# A tenth of all rows of a first look: with more words a column is text, and they need not be counted.
_MOST_OTHERS = 10_000


class StrayCells:
    """The count of numbers, or of cells of another pattern, in a column of text, and the first cell that is none.

    One wrong cell would make text of a column of numbers, and so a much worse model without a word. Where nearly all
    cells are numbers it is refused instead, unless some begin with a zero as codes do, such as 007 beside 007A.
    """

    def __init__(self, name: str, pattern: str = _NUMBER, what: str = "numbers"):
        self._name, self._pattern, self._what = name, pattern, what
        self._n_numbers = self.n_others = 0
        self._has_codes = False
        self._file = self._first = ""

    def add_numbers(self, n_numbers: int) -> None:
        """Count cells that were read as numbers."""
        self._n_numbers += n_numbers

    def add(self, cells: Any, pieces: list[Piece]) -> None:
        """Count cells, without blanks around them, of the rows of pieces."""
        if self.n_others > _MOST_OTHERS:
            return
        compute = import_arrow("pyarrow.compute")
        is_number = compute.match_substring_regex(cells, self._pattern)
        n_numbers = compute.sum(is_number).as_py() or 0
        n_others = len(cells) - cells.null_count - n_numbers
        if n_others and not self.n_others:
            self._find(compute.index(is_number, False).as_py(), pieces)
        self._n_numbers += n_numbers
        self.n_others += n_others
        if n_numbers and not self._has_codes:
            self._has_codes = compute.any(compute.match_substring_regex(cells, _CODE)).as_py()

    def refuse(self, what: str, remedy: str) -> None:
        """Refuse the column if nearly all of its cells are numbers, and say where the first other one is."""
        n_cells = self._n_numbers + self.n_others
        is_numeric = self._n_numbers >= max(_FEWEST_NUMBERS, _LEAST_SHARE * n_cells)
        if 0 < self.n_others <= _MOST_OTHERS and is_numeric and not self._has_codes:
            raise ValueError(
                f"{what} {self._name!r} of {self._file} holds {self._what} in {self._n_numbers:,} of {n_cells:,} "
                f"cells, but {self._first}: {remedy}."
            )

    def add_other(self, i: int, pieces: list[Piece]) -> None:
        """Count a cell that has the pattern, but is wrong all the same."""
        self._n_numbers -= 1
        self.n_others += 1
        if self.n_others == 1:
            self._find(i, pieces)

    @property
    def has_comma(self) -> bool:
        """Whether the first cell that is no number is one with a decimal comma."""
        return re.match(r"'\s*[-+]?\d*,\d+\s*' in row", self._first) is not None

    def _find(self, i: int, pieces: list[Piece]) -> None:
        """Keep in words where a cell is and what it holds."""
        at = 0
        while i >= len(pieces[at]):
            i -= len(pieces[at])
            at += 1
        piece = pieces[at]
        cell = shortened(piece.rows.column(self._name)[i].as_py())
        self._file, self._first = piece.reader.name, f"{cell} in row {piece.first_row + i + 1}"
