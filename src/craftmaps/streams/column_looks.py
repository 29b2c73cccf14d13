"""First looks at single columns, each of which becomes a `Column` of the rule."""

import re
from typing import Any

import numpy as np

from craftmaps.streams.column_options import ColumnOptions
from craftmaps.streams.cutting import Piece
from craftmaps.streams.date_looks import DatedCells
from craftmaps.streams.means import Means
from craftmaps.streams.stray_cells import StrayCells
from craftmaps.streams.text_findings import TextFindings
from craftmaps.tables.arrow import import_arrow
from craftmaps.tables.column import Column
from craftmaps.tables.encoding import as_text, decoded, elements, kind_of, numbers, trimmed
from craftmaps.tables.hashing import N_HASHED

MOST_VALUES = 64
_FRACTION = re.compile(r"\s*[-+]?\d*\.\d+\s*")


class _NumberLook:
    """A first look at a column of numbers or booleans."""

    width = 1

    def __init__(self, field: Any, file: str):
        self._name = field.name
        self.cell_kind = self._kind = kind_of(field.type)
        is_integer = import_arrow().types.is_integer(field.type)
        self.label_kind = "integer" if is_integer else self._kind
        self._means = Means(1)

    def add(self, pieces: list[Piece]) -> None:
        # Joined as NumPy has them: files may store one kind of value as different types.
        values = [numbers(piece.rows.column(self._name)) for piece in pieces]
        self._means.add(np.concatenate(values)[:, None])

    def column(self) -> Column:
        return Column(self._name, self._kind, self._means.fill[0], self._means.n_missing)


class _ListLook:
    """A first look at a column of lists of numbers."""

    cell_kind = "list"

    def __init__(self, field: Any, file: str):
        self._name, self._file = field.name, file
        self._means: Means | None = None
        self._n_missing = 0
        self.width = 1

    def add(self, pieces: list[Piece]) -> None:
        compute = import_arrow("pyarrow.compute")
        matrices = []
        for piece in pieces:
            given = decoded(piece.rows.column(self._name)).drop_null()
            self._n_missing += len(piece) - len(given)
            if not len(given):
                continue
            if self._means is None:
                self.width = len(given[0])
                self._means = Means(self.width)
            # Lists of another length are refused when they are encoded, which names the row.
            fits = compute.equal(compute.list_value_length(given), self.width)
            matrices.append(elements(given.filter(fits), self.width, self._name, self._file, 0))
        if self._means is not None and matrices:
            self._means.add(np.concatenate(matrices))

    def column(self) -> Column:
        if self._means is None or not self.width:
            raise ValueError(
                f"Column {self._name!r} of {self._file} must hold lists of numbers, got empty ones: "
                f"leave it out with drop=[{self._name!r}]."
            )
        missing = self._means.n_missing + self._n_missing * self.width
        return Column(self._name, "list", self._means.fill, missing, width=self.width)


class TextLook:
    """A first look at a column of strings; with `warns` it is told if they should perhaps be something else."""

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
            array = as_text(piece.rows.column(self._name))
            self.n_missing += array.null_count
            if len(self._values) <= MOST_VALUES:
                self._values.update(array.unique().drop_null()[: 2 * MOST_VALUES].to_pylist())
            if self._findings is not None:
                self._findings.add(array)

    @property
    def is_hashed(self) -> bool:
        """Whether there are too many values for a feature each."""
        return len(self._values) > MOST_VALUES

    def warning(self, is_target: bool) -> str | None:
        """Return a sentence if the column should perhaps be read otherwise."""
        return None if self._findings is None else self._findings.warning(self.is_hashed, is_target)

    def column(self) -> Column:
        """Return the rule for the column."""
        if self.is_hashed:
            return Column(self._name, "hashed", missing=self.n_missing, width=N_HASHED)
        values = (*sorted(self._values), *((None,) if self.n_missing else ()))
        return Column(self._name, "one-hot", missing=self.n_missing, values=values, width=len(values))

    def holds_classes(self) -> bool:
        """Tell whether strings are few and the numbers among them whole, as names of classes are."""
        return not self.is_hashed and not any(map(_FRACTION.fullmatch, self._values))

    def holds_dates(self) -> bool:
        """Tell whether all strings are dates or times."""
        arrow = import_arrow()
        try:
            arrow.array(sorted(self._values), arrow.string()).cast(arrow.timestamp("us"))
        except arrow.ArrowInvalid:
            return False
        return bool(self._values)


class CellLook:
    """A first look at a column of a text file: what it holds shows when all was seen."""

    cell_kind = "text"
    width = 1

    def __init__(self, field: Any, file: str, options: ColumnOptions, is_target: bool):
        arrow = import_arrow()
        self._name, self._file, self._decimal = field.name, file, options.decimal
        self._dates = DatedCells(field, file) if options.dates and not is_target else None
        self._is_dated = False
        self._text, self._stray = TextLook(field, file), StrayCells(field.name)
        self._means, self._findings = Means(1), TextFindings(field.name, file, is_typed=False)
        # From the narrowest on; that numbers are whole matters in labels alone.
        self._readings = [("number", arrow.float64()), ("boolean", arrow.bool_())]
        if is_target:
            self._readings.insert(0, ("integer", arrow.int64()))

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows."""
        self._text.add(pieces)
        if self._dates is not None:
            self._dates.add(pieces)
        cells = self._with_points(import_arrow().concat_arrays([piece.rows.column(self._name) for piece in pieces]))
        while self._readings:
            try:
                self._means.add(numbers(cells.cast(self._readings[0][1]))[:, None])
                break
            except import_arrow().ArrowInvalid:
                del self._readings[0]
                if self._kind == "boolean" and self._means.n_seen:
                    self._readings = []  # numbers first and then words
        if self._kind in ("integer", "number"):
            self._stray.add_numbers(len(cells) - cells.null_count)
        else:
            self._stray.add(cells, pieces)
            for piece in pieces:
                self._findings.add(piece.rows.column(self._name))

    def warning(self, is_target: bool) -> str | None:
        """Return a sentence if the column is text, but should perhaps be read otherwise."""
        is_text = not self._readings and (is_target or not self._is_dated)
        return self._findings.warning(self._text.is_hashed, is_target) if is_text else None

    def _with_points(self, cells: Any) -> Any:
        """Return cells without the blanks around them, and with the decimal mark that casts of Arrow take."""
        cells = trimmed(cells)
        return swapped_marks(cells) if self._decimal == "," else cells

    @property
    def _kind(self) -> str:
        """What all cells can be read as."""
        return self._readings[0][0] if self._readings else "text"

    @property
    def label_kind(self) -> str:
        """What all cells can be read as, if it is no error that they cannot be read as numbers."""
        if not (self._readings or self._text.holds_classes()):
            comma = "read it with decimal=',', " if self._stray.has_comma else ""
            self._stray.refuse("The target", f"{comma}correct it, or leave its row out")
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
            raise ValueError(refusal(self._name, self._file, "date or time", is_date=True))
        comma = "read it with decimal=',', " if self._stray.has_comma else ""
        self._stray.refuse(
            "Column",
            f"{comma}correct it, leave it empty if the value is missing, take all of them for names with "
            f"categories=[{self._name!r}], or leave the column out with drop=[{self._name!r}]",
        )
        return self._text.column()


class NamelessLook(CellLook):
    """A first look at a first column without a name, in which pandas and R write the numbers of rows."""

    def __init__(self, field: Any, file: str, options: ColumnOptions):
        super().__init__(field, file, options, is_target=False)
        self._cells: dict[str, list[Any]] = {}

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows."""
        super().add(pieces)
        for piece in pieces:
            self._cells.setdefault(piece.reader.name, []).append(self._with_points(piece.rows.column(self._name)))

    def numbers_rows(self) -> bool:
        """Tell whether the cells of each file are whole numbers, none of them twice; rows may have been shuffled."""
        if self._kind != "number":
            return False
        for arrays in self._cells.values():
            values = np.concatenate([numbers(cells.cast(import_arrow().float64())) for cells in arrays])
            is_whole = np.isfinite(values).all() and (values == np.trunc(values)).all()
            if not is_whole or np.unique(values).size < values.size:
                return False
        return True


LOOKS = {"number": _NumberLook, "boolean": _NumberLook, "list": _ListLook, "text": TextLook}


def refusal(name: str, file: str, kind: str, is_date: bool) -> str:
    """Say why a column cannot be used, and what to do."""
    parts = "take its year, month, day and so on with dates='parts', " if is_date else ""
    return (
        f"Column {name!r} of {file} is of type {kind}, not of numbers, strings or lists of numbers: "
        f"{parts}cast it, or leave it out with drop=[{name!r}]."
    )


def swapped_marks(cells: Any) -> Any:
    """Return cells with a point for each comma and the reverse, as a number with a point is none where commas are."""
    compute = import_arrow("pyarrow.compute")
    for old, new in ((",", "\0"), (".", ","), ("\0", ".")):
        cells = compute.replace_substring(cells, old, new)
    return cells
