"""Fix the rule by which a table becomes a matrix, from a first look at its rows."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.columns import Column, Columns, listed, shortened
from craftmaps.streams.content import import_arrow
from craftmaps.streams.encoding import as_text, decoded, elements, kind_of, numbers
from craftmaps.streams.hashing import N_HASHED

# Sums are made over batches of this many rows, whatever the file, so that means do not depend on it.
LOOK_BATCH = 1024
LOOK_ROWS = 100_000
LOOK_CELLS = 2**22
MOST_VALUES = 64
# pandas writes the numbers of rows as a column, which would tell a learner the order of the file.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


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

    def __init__(self, schema: Any, target: str | None, drop: Sequence[str], file: str, is_typed: bool):
        self._target = target
        self._looks: dict[str, Any] = {}
        for field in schema:
            if field.name in drop or _PANDAS_INDEX.fullmatch(field.name):
                continue
            kind = kind_of(field.type)
            if field.name == target and kind not in ("number", "boolean", "text"):
                raise ValueError(f"The target {target!r} of {file} must hold numbers, booleans or strings, got {kind}.")
            if kind not in _LOOKS:
                raise ValueError(_refusal(field.name, file, kind))
            if is_typed:
                self._looks[field.name] = _LOOKS[kind](field, file)
            else:
                self._looks[field.name] = _CellLook(field, file, field.name == target)
        if not self._looks.keys() - {target}:
            hint = "" if is_typed else "; cells are separated by commas, semicolons, tabs or bars"
            raise ValueError(f"{file} must have columns beside the target {shortened(str(target))}, got none{hint}.")

    @property
    def kinds(self) -> dict[str, str]:
        """What the columns hold, as far as their types tell."""
        return {name: look.cell_kind for name, look in self._looks.items()}

    @property
    def width(self) -> int:
        """The number of cells of a row, those of lists counted."""
        return sum(look.width for look in self._looks.values())

    def add(self, batch: Any) -> None:
        """Look at a batch of rows."""
        for name, look in self._looks.items():
            look.add(batch.column(name))

    def columns(self, target: str | int | None, n_cells: int | None) -> Columns:
        """Return the rule for the columns that were seen."""
        features = tuple(look.column() for name, look in self._looks.items() if name != self._target)
        kind = None if self._target is None else self._looks[self._target].label_kind
        return Columns(features, target, kind, n_cells)


class Means:
    """Means of the columns of a matrix that comes in batches, without what is missing or infinite."""

    def __init__(self, width: int):
        self._sums = np.zeros(width)
        self._counts = np.zeros(width, np.int64)
        self.n_missing = 0

    def add(self, rows: NDArray) -> None:
        """Count rows."""
        # One column after the other, so that a sum has the same bits whether its column came alone or in a matrix.
        values = np.array(rows.T, dtype=np.float64, order="C")
        if not np.isfinite(values).all():
            self.n_missing += int(np.isnan(values).sum())
            self._counts -= (~np.isfinite(values)).sum(axis=1)
            values[~np.isfinite(values)] = 0
        self._counts += values.shape[1]
        with np.errstate(over="ignore"):
            self._sums += values.sum(axis=1)

    @property
    def n_seen(self) -> int:
        """The number of values that are in the means."""
        return int(self._counts.sum())

    @property
    def fill(self) -> tuple[float, ...]:
        """The means; 0 where nothing was seen."""
        return tuple(np.nan_to_num(self._sums / np.maximum(self._counts, 1)).tolist())


class _NumberLook:
    """A first look at a column of numbers or booleans."""

    width = 1

    def __init__(self, field: Any, file: str):
        self._name = field.name
        self.cell_kind = self._kind = kind_of(field.type)
        is_integer = import_arrow().types.is_integer(field.type)
        self.label_kind = "integer" if is_integer else self._kind
        self._means = Means(1)

    def add(self, array: Any) -> None:
        self._means.add(numbers(array)[:, None])

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

    def add(self, array: Any) -> None:
        compute = import_arrow("pyarrow.compute")
        given = decoded(array).drop_null()
        self._n_missing += len(array) - len(given)
        if self._means is None and len(given):
            self.width = len(given[0])
            self._means = Means(self.width)
        if self._means is not None:
            # Lists of another length are refused when they are encoded, which names the row.
            fits = compute.equal(compute.list_value_length(given), self.width)
            self._means.add(elements(given.filter(fits), self.width, self._name, self._file, 0))

    def column(self) -> Column:
        if self._means is None or not self.width:
            raise ValueError(
                f"Column {self._name!r} of {self._file} must hold lists of numbers, got empty ones: "
                f"leave it out with drop=[{self._name!r}]."
            )
        missing = self._means.n_missing + self._n_missing * self.width
        return Column(self._name, "list", self._means.fill, missing, width=self.width)


class _TextLook:
    """A first look at a column of strings."""

    label_kind = cell_kind = "text"
    width = 1

    def __init__(self, field: Any, file: str):
        self._name = field.name
        self._values: set[str] = set()
        self.n_missing = 0

    def add(self, array: Any) -> None:
        self.n_missing += array.null_count
        if len(self._values) <= MOST_VALUES:
            values = as_text(array).unique().drop_null()[: 2 * MOST_VALUES]
            self._values.update(values.to_pylist())

    def column(self) -> Column:
        if len(self._values) > MOST_VALUES:
            return Column(self._name, "hashed", missing=self.n_missing, width=N_HASHED)
        values = (*sorted(self._values), *((None,) if self.n_missing else ()))
        return Column(self._name, "one-hot", missing=self.n_missing, values=values, width=len(values))

    def holds_dates(self) -> bool:
        """Tell whether all strings are dates or times."""
        arrow = import_arrow()
        try:
            arrow.array(sorted(self._values), arrow.string()).cast(arrow.timestamp("us"))
        except arrow.ArrowInvalid:
            return False
        return bool(self._values)


class _CellLook:
    """A first look at a column of a text file: what it holds shows when all was seen."""

    cell_kind = "text"
    width = 1

    def __init__(self, field: Any, file: str, is_target: bool):
        arrow = import_arrow()
        self._name, self._file = field.name, file
        self._text = _TextLook(field, file)
        self._means = Means(1)
        # From the narrowest on; that numbers are whole matters in labels alone.
        self._readings = [("number", arrow.float64()), ("boolean", arrow.bool_())]
        if is_target:
            self._readings.insert(0, ("integer", arrow.int64()))

    def add(self, array: Any) -> None:
        self._text.add(array)
        cells = import_arrow("pyarrow.compute").utf8_trim_whitespace(array)
        while self._readings:
            try:
                return self._means.add(numbers(cells.cast(self._readings[0][1]))[:, None])
            except import_arrow().ArrowInvalid:
                del self._readings[0]
                if self.label_kind == "boolean" and self._means.n_seen:
                    self._readings = []  # numbers first and then words

    @property
    def label_kind(self) -> str:
        """What all cells can be read as."""
        return self._readings[0][0] if self._readings else "text"

    def column(self) -> Column:
        if self._readings:
            return Column(self._name, self.label_kind, self._means.fill[0], self._means.n_missing)
        if self._text.holds_dates():
            raise ValueError(_refusal(self._name, self._file, "date or time"))
        return self._text.column()


_LOOKS = {"number": _NumberLook, "boolean": _NumberLook, "list": _ListLook, "text": _TextLook}


def _refusal(name: str, file: str, kind: str) -> str:
    """Say why a column cannot be used, and what to do."""
    return (
        f"Column {name!r} of {file} is of type {kind}, not of numbers, strings or lists of numbers: "
        f"cast it, or leave it out with drop=[{name!r}]."
    )
