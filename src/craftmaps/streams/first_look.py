"""Fix the rule by which a table becomes a matrix, from a first look at its rows."""

import re
from collections.abc import Collection
from typing import Any

from craftmaps.streams.column_looks import LOOKS, CellLook, NamelessLook, TextLook, refusal
from craftmaps.streams.column_options import ColumnOptions
from craftmaps.streams.cutting import Piece
from craftmaps.streams.date_looks import DatedText, DateLook
from craftmaps.tables.columns import Columns, listed, shortened
from craftmaps.tables.encoding import described, kind_of

# Sums are made over batches of this many rows, whatever the file, so that means do not depend on it.
LOOK_BATCH = 1024
LOOK_ROWS = 100_000
LOOK_CELLS = 2**22
# pandas writes the numbers of rows as a column, which would tell a learner the order of the file. In a text file it
# has no name, or this one if the file was read and written again.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_NAMELESS = ("", "Unnamed: 0")
_MOST_WARNINGS = 5


def look_rows(width: int) -> int:
    """Return how many rows of a width are looked at: bounded in rows and in cells."""
    return max(1, min(LOOK_ROWS, LOOK_CELLS // max(width, 1)))


class TableLook:
    """What a first look finds out about the columns of a table.

    Rows must come in batches whose size does not depend on the file, then the means do not either.
    """

    def __init__(self, schema: Any, target: str | None, file: str, is_typed: bool, options: ColumnOptions):
        self._target, self._file, self._is_typed, self._options = target, file, is_typed, options
        apart = set(options.apart)
        self._looks = {
            field.name: self._look(field, is_first=i == 0)
            for i, field in enumerate(schema)
            if not (field.name in apart or _PANDAS_INDEX.fullmatch(field.name))
        }
        self._check_features(self._looks.keys() - {target})

    def _look(self, field: Any, is_first: bool) -> Any:
        """Return the look for one column."""
        kind, is_target, options = kind_of(field.type), field.name == self._target, self._options
        if is_target and kind not in ("number", "boolean", "text"):
            raise ValueError(
                f"The target {self._target!r} of {self._file} must hold numbers, booleans or strings, got {field.type}."
            )
        if field.name in options.categories:
            if kind != "text":
                raise ValueError(
                    f"categories must be columns of text, got {field.name!r} of {self._file}, which holds "
                    f"{described(kind)}: cast it to strings."
                )
            return TextLook(field, self._file)
        if not self._is_typed:
            if is_first and field.name in _NAMELESS and not is_target:
                return NamelessLook(field, self._file, options)
            return CellLook(field, self._file, options, is_target)
        if kind == "text" and options.dates and not is_target:
            return DatedText(TextLook(field, self._file, warns=True), field, self._file)
        if kind == "date" and options.dates:
            return DateLook(field, self._file)
        if kind not in LOOKS:
            raise ValueError(refusal(field.name, self._file, str(field.type), is_date=kind == "date"))
        return TextLook(field, self._file, warns=True) if kind == "text" else LOOKS[kind](field, self._file)

    @property
    def kinds(self) -> dict[str, str]:
        """What the columns hold, as far as their types tell."""
        return {name: look.cell_kind for name, look in self._looks.items()}

    @property
    def width(self) -> int:
        """The number of cells of a row, those of lists counted."""
        return sum(look.width for look in self._looks.values())

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows, which may come from several files."""
        for look in self._looks.values():
            look.add(pieces)

    def columns(self, target: str | int | None, n_cells: int | None) -> Columns:
        """Return the rule for the columns that were seen."""
        looks = [look for name, look in self._looks.items() if name != self._target]
        features = tuple(
            look.column() for look in looks if not (isinstance(look, NamelessLook) and look.numbers_rows())
        )
        self._check_features(features)
        kind = None if self._target is None else self._looks[self._target].label_kind
        options = self._options
        return Columns(features, target, kind, n_cells, None, options.weight, options.ids, options.decimal or ".")

    def warnings(self) -> list[str]:
        """Return a sentence for each of the first columns of text that should perhaps be read otherwise."""
        looks = ((name, look) for name, look in self._looks.items() if hasattr(look, "warning"))
        found = ((name, look.warning(name == self._target)) for name, look in looks)
        told = [(name, sentence) for name, sentence in found if sentence is not None]
        sentences = [sentence for _, sentence in told[:_MOST_WARNINGS]]
        if len(told) > _MOST_WARNINGS:
            others = listed([name for name, _ in told[_MOST_WARNINGS:]])
            sentences.append(f"The columns {others} of {self._file} are text that should perhaps be something else.")
        return sentences

    def _check_features(self, features: Collection[Any]) -> None:
        """Refuse a table of labels alone."""
        if not features:
            hint = "" if self._is_typed else "; cells are separated by commas, semicolons, tabs or bars"
            target = shortened(str(self._target))
            raise ValueError(f"{self._file} must have columns beside the target {target}, got none{hint}.")
