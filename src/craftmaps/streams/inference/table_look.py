"""What a first look finds out about the columns of a table."""

import re
from collections.abc import Collection
from typing import Any

from craftmaps.streams.column_options import ColumnOptions
from craftmaps.streams.errors import ArgumentError
from craftmaps.streams.inference.cell_looks import CellLook, NamelessLook
from craftmaps.streams.inference.column_looks import LOOKS, TextLook, unusable_column
from craftmaps.streams.inference.date_looks import DatedText, DateLook
from craftmaps.streams.pieces import Piece
from craftmaps.tables.column_names import listed, shortened
from craftmaps.tables.column_rule import Columns
from craftmaps.tables.kinds import kind_in_words, kind_of

# pandas writes row numbers as a column, which would tell a learner the order of the file. In a text file the column has
# no name, or "Unnamed: 0" if the file was read and written again.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_NAMELESS = ("", "Unnamed: 0")
_MOST_WARNINGS = 5


class TableLook:
    """A first look at a table, which gives the rule for its columns.

    Rows must come in batches of a fixed size: then the bits of the means do not depend on the file.
    """

    def __init__(self, schema: Any, target: str | None, file: str, is_typed: bool, options: ColumnOptions):
        self._target, self._file, self._is_typed, self._options = target, file, is_typed, options
        not_features = set(options.not_features)
        self._looks = {
            field.name: self._look(field, is_first=i == 0)
            for i, field in enumerate(schema)
            if not (field.name in not_features or _PANDAS_INDEX.fullmatch(field.name))
        }
        self._check_features(self._looks.keys() - {target})

    def _look(self, field: Any, is_first: bool) -> Any:
        """Return the look at one column."""
        kind, is_target, options = kind_of(field.type), field.name == self._target, self._options
        if is_target and kind not in ("number", "boolean", "text"):
            raise ValueError(
                f"The target {self._target!r} of {self._file} must hold numbers, booleans or strings, got {field.type}."
            )
        if field.name in options.categories:
            if kind != "text":
                raise ArgumentError(
                    f"categories must be columns of text, got {field.name!r} of {self._file}, which holds "
                    f"{kind_in_words(kind)}: cast it to strings.",
                    "categories",
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
            raise unusable_column(field.name, self._file, str(field.type), is_date=kind == "date")
        return TextLook(field, self._file, warns=True) if kind == "text" else LOOKS[kind](field, self._file)

    @property
    def kinds(self) -> dict[str, str]:
        """Kinds of the columns, as far as their types tell."""
        return {name: look.cell_kind for name, look in self._looks.items()}

    @property
    def width(self) -> int:
        """Number of cells in a row, counting list elements one by one."""
        return sum(look.width for look in self._looks.values())

    def add(self, pieces: list[Piece]) -> None:
        """Look at a batch of rows, which may come from several files."""
        for look in self._looks.values():
            look.add(pieces)

    def columns(self, target: str | int | None, n_cells: int | None) -> Columns:
        """Return the rule for the columns."""
        looks = [look for name, look in self._looks.items() if name != self._target]
        features = tuple(
            look.column() for look in looks if not (isinstance(look, NamelessLook) and look.numbers_rows())
        )
        self._check_features(features)
        kind = None if self._target is None else self._looks[self._target].label_kind
        options = self._options
        return Columns(features, target, kind, n_cells, None, options.weight, options.ids, options.decimal or ".")

    def warnings(self) -> list[str]:
        """Return one sentence for each of the first columns that are perhaps misread, and one for the rest."""
        looks = ((name, look) for name, look in self._looks.items() if hasattr(look, "warning"))
        found = ((name, look.warning(name == self._target)) for name, look in looks)
        misread = [(name, sentence) for name, sentence in found if sentence is not None]
        sentences = [sentence for _, sentence in misread[:_MOST_WARNINGS]]
        if len(misread) > _MOST_WARNINGS:
            others = listed([name for name, _ in misread[_MOST_WARNINGS:]])
            sentences.append(f"The columns {others} of {self._file} are perhaps misread as text, too.")
        return sentences

    def _check_features(self, features: Collection[Any]) -> None:
        """Refuse a table without features."""
        if not features:
            hint = "" if self._is_typed else "; cells are separated by commas, semicolons, tabs or bars"
            target = shortened(str(self._target))
            raise ValueError(f"{self._file} must have columns beside the target {target}, got none{hint}.")
