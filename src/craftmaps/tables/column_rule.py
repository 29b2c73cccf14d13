"""The rule by which a table becomes a matrix: fixed once, stored with a model, applied again."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.fields import DamagedError, Fields, is_text
from craftmaps.tables.column import MOST_NAMED, WIDEST, Column, description_errors
from craftmaps.tables.column_names import listed

TARGET_KINDS = ("integer", "number", "boolean", "text")
DECIMAL_MARKS = (".", ",")
# Names of kinds for users, singular and plural.
_WORDS = {
    "number": ("number", "numbers"),
    "boolean": ("boolean", "booleans"),
    "list": ("list", "lists"),
    "date": ("date", "dates"),
    "one-hot": ("category", "categories"),
    "hashed": ("hashed", "hashed"),
}


@dataclass(frozen=True)
class Columns:
    """The rule by which a table becomes a matrix.

    A first look at the data fixes it. Numbers stay as they are. A list becomes one feature per element. Strings with
    at most 64 distinct values become one feature per value, all zero for a value that the first look did not see;
    other strings are hashed to 64 signed features. A missing number becomes the mean of the first look, which is
    stored here; a missing string is a value of its own.

    Attributes
    ----------
    features : tuple of Column
    target : str, int or None
        Column of the labels, by name, or by position if columns have no names.
    target_kind : str or None
        "integer", "number", "boolean" or "text".
    n_cells : int or None
        Number of cells in a row besides the target, if columns have no names.
    first_index : int or None
        Index of the first feature in svmlight files, 0 or 1; None if rows came from another format.
    weight : str or None
        Column of the row weights.
    ids : str or None
        Column that names the rows.
    decimal : str
        Decimal mark of CSV files, "." or ",".

    Examples
    --------
    >>> eyes = Column("eyes", "one-hot", values=("blue", "brown"), width=2)
    >>> rule = Columns((Column("age", "number", fill=40.0), eyes))
    >>> rule.feature_names
    ['age', 'eyes=blue', 'eyes=brown']
    >>> rule.summary()
    [('number', 1, ['age']), ('category', 1, ['eyes'])]
    >>> Columns.from_plain(rule.to_plain()) == rule
    True
    """

    features: tuple[Column, ...]
    target: str | int | None = None
    target_kind: str | None = None
    n_cells: int | None = None
    first_index: int | None = None
    weight: str | None = None
    ids: str | None = None
    decimal: str = "."

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of the matrix."""
        return [name for column in self.features for name in column.feature_names]

    @property
    def n_features(self) -> int:
        """Width of the matrix."""
        return sum(column.width for column in self.features)

    @property
    def names(self) -> list[str]:
        """Names of the columns of the table that become features."""
        return [column.name for column in self.features]

    @property
    def n_named_cells(self) -> int:
        """Number of cells in a row, counting list elements one by one."""
        return sum(column.width if column.kind == "list" else 1 for column in self.features)

    @property
    def cell_names(self) -> list[str]:
        """Names of the cells in a row, with list elements one by one."""
        return [name for c in self.features for name in (c.feature_names if c.kind == "list" else [c.name])]

    def summary(self) -> list[tuple[str, int, list[str]]]:
        """Return (kind, number of columns, their names) for every kind, in words for users.

        A kind is "number", "boolean", "list", "date", "category" or "hashed", in the plural for several columns:
        `", ".join(f"{n} {kind}" for kind, n, names in columns.summary())` is "12 numbers, 3 categories".
        A matrix without names counts as one number per column.
        """
        found = []
        for kind, words in _WORDS.items():
            columns = [column for column in self.features if column.kind == kind]
            n = len(columns)
            if kind == "list" and self.n_cells is not None:
                n, words = sum(column.width for column in columns), _WORDS["number"]
            if n:
                found.append((words[n > 1], n, [column.name for column in columns]))
        return found

    def target_place(self, n_cells: int) -> int | None:
        """Return the position of the target in rows of `n_cells` cells, None if they do not hold it."""
        return self.target if isinstance(self.target, int) and self.n_cells == n_cells - 1 else None

    def fill_values(self) -> NDArray[np.float64]:
        """Return the replacement for a missing number of each feature, NaN if none may be missing."""
        fill = np.zeros(self.n_features)
        start = 0
        for column in self.features:
            if column.is_numeric:
                fill[start : start + column.width] = np.nan if column.fill is None else column.fill
            start += column.width
        return fill

    def with_fill_values(self, fill: NDArray[np.float64]) -> Self:
        """Return the rule with other replacements for missing numbers, one per feature."""
        columns, start = [], 0
        for column in self.features:
            own: Any = tuple(fill[start : start + column.width].tolist())
            start += column.width
            if column.is_numeric and column.fill is not None:
                column = replace(column, fill=own if column.kind in ("list", "date") else own[0])
            columns.append(column)
        return replace(self, features=tuple(columns))

    def to_plain(self) -> dict[str, Any]:
        """Describe the rule in values that JSON can hold."""
        plain = {
            "features": [column.to_plain() for column in self.features],
            "target": self.target,
            "target_kind": self.target_kind,
            "n_cells": self.n_cells,
            "first_index": self.first_index,
        }
        # Left out if unused: the description is compared with that of earlier versions when a run resumes.
        later = {"weight": self.weight, "ids": self.ids, "decimal": None if self.decimal == "." else self.decimal}
        return plain | {name: value for name, value in later.items() if value is not None}

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """Rebuild a rule from an untrusted description; a ValueError names what is wrong in it."""
        with description_errors():
            return cls._from_fields(Fields(plain, "columns"))

    @classmethod
    def _from_fields(cls, fields: Fields) -> Self:
        """Rebuild a rule from checked fields."""
        features = fields.value("features")
        if not (isinstance(features, list) and 0 < len(features) <= MOST_NAMED):
            raise fields.refuse("features", "a list of columns")
        rule = cls(
            tuple(
                Column.from_fields(Fields(column, fields.path(f"features[{i}]"))) for i, column in enumerate(features)
            ),
            _target(fields),
            fields.one_of("target_kind", (*TARGET_KINDS, None)) if "target_kind" in fields else None,
            _whole(fields, "n_cells", 2**63 - 1),
            _whole(fields, "first_index", 1),
            _name(fields, "weight"),
            _name(fields, "ids"),
            fields.one_of("decimal", DECIMAL_MARKS) if "decimal" in fields else ".",
        )
        if len(set(rule.names)) < len(rule.names):
            raise DamagedError("columns.features must have different names, got one twice")
        if rule.n_features > WIDEST:
            raise DamagedError(f"columns.features must have a total width of at most {WIDEST}, got {rule.n_features}")
        return rule


def check_width(width: int, columns: Columns, name: str) -> None:
    """Refuse a matrix without column names that does not match a rule by position."""
    strings = [column.name for column in columns.features if column.kind not in ("number", "boolean", "list")]
    if strings:
        raise ValueError(f"{name} holds only numbers, but the columns {listed(strings)} must be strings or dates.")
    if width != columns.n_features:
        raise ValueError(f"Rows of {name} must have {columns.n_features} features, got {width}.")


def _target(fields: Fields) -> str | int | None:
    """Return the target if it is a name, a position or None."""
    value = fields.value("target") if "target" in fields else None
    if not (value is None or is_text(value) or type(value) is int):
        raise fields.refuse("target", "a name, a position or null")
    return value


def _whole(fields: Fields, name: str, high: int) -> int | None:
    """Return a whole number, None if there is none."""
    return fields.whole(name, 0, high) if name in fields and fields.value(name) is not None else None


def _name(fields: Fields, name: str) -> str | None:
    """Return the name of a column, None if there is none."""
    value = fields.value(name) if name in fields else None
    if not (value is None or is_text(value)):
        raise fields.refuse(name, "a name or null")
    return value
