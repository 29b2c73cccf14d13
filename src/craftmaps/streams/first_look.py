"""Fix the rule by which a table becomes a matrix, from a first look at its rows."""

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Any

from craftmaps.streams.column_looks import LOOKS, CellLook, NamelessLook, refusal
from craftmaps.streams.columns import Columns, listed, shortened
from craftmaps.streams.cutting import Piece
from craftmaps.streams.encoding import described, kind_of

# Sums are made over batches of this many rows, whatever the file, so that means do not depend on it.
LOOK_BATCH = 1024
LOOK_ROWS = 100_000
LOOK_CELLS = 2**22
# pandas writes the numbers of rows as a column, which would tell a learner the order of the file. In a text file it
# has no name, or this one if the file was read and written again.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_NAMELESS = ("", "Unnamed: 0")


def look_rows(width: int) -> int:
    """Return how many rows of a width are looked at: bounded in rows and in cells."""
    return max(1, min(LOOK_ROWS, LOOK_CELLS // max(width, 1)))


def resolve(name: str | int, names: Sequence[str], argument: str, file: str) -> str:
    """Return the name of a column that is given by name or by position."""
    if isinstance(name, str):
        if name in names:
            return name
        in_lower = {known.lower(): known for known in names}
        near = get_close_matches(name.lower(), in_lower, 1)
        hint = f"did you mean {in_lower[near[0]]!r}?" if near else f"it has {listed(names)}."
        raise ValueError(f"{argument} must be a column of {file}, got {name!r}: {hint}")
    if not -len(names) <= name < len(names):
        raise ValueError(f"{argument} must be a position among {len(names)} columns of {file}, got {name}.")
    return names[name]


class TableLook:
    """What a first look finds out about the columns of a table.

    Rows must come in batches whose size does not depend on the file, then the means do not either.
    """

    def __init__(
        self,
        schema: Any,
        target: str | None,
        file: str,
        is_typed: bool,
        drop: Sequence[str] = (),
        categories: Sequence[str] = (),
    ):
        self._target, self._file, self._is_typed = target, file, is_typed
        self._looks: dict[str, Any] = {}
        for i, field in enumerate(schema):
            if field.name in drop or _PANDAS_INDEX.fullmatch(field.name):
                continue
            kind = kind_of(field.type)
            if field.name == target and kind not in ("number", "boolean", "text"):
                raise ValueError(f"The target {target!r} of {file} must hold numbers, booleans or strings, got {kind}.")
            if kind not in LOOKS:
                raise ValueError(refusal(field.name, file, kind))
            if field.name in categories:
                if kind != "text":
                    raise ValueError(
                        f"categories must be columns of text, got {field.name!r} of {file}, which holds "
                        f"{described(kind)}: cast it to strings."
                    )
                self._looks[field.name] = LOOKS["text"](field, file)
            elif is_typed:
                self._looks[field.name] = LOOKS[kind](field, file)
            elif i == 0 and field.name in _NAMELESS and field.name != target:
                self._looks[field.name] = NamelessLook(field, file)
            else:
                self._looks[field.name] = CellLook(field, file, field.name == target)
        self._check_features(self._looks.keys() - {target})

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
        return Columns(features, target, kind, n_cells)

    def _check_features(self, features: Collection[Any]) -> None:
        """Refuse a table of labels alone."""
        if not features:
            hint = "" if self._is_typed else "; cells are separated by commas, semicolons, tabs or bars"
            target = shortened(str(self._target))
            raise ValueError(f"{self._file} must have columns beside the target {target}, got none{hint}.")
