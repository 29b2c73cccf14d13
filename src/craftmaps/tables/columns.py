"""How a table becomes a matrix: a rule that is fixed once, stored with a model, and applied again."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from craftmaps.tables.column import MOST_NAMED, WIDEST, Column, check, count

TARGET_KINDS = ("integer", "number", "boolean", "text")
DECIMAL_MARKS = (".", ",")
# What kinds of columns are called, one and several of them.
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

    It is fixed from a first look at the data: numbers stay as they are, a list becomes one feature per
    element, strings of at most 64 values become one feature per value (all zero for a value that
    turns up later), other strings are hashed to 64 signed features. A missing number becomes the mean of the
    first look, which is stored here; a missing string counts as a value.

    Attributes
    ----------
    features : tuple of Column
    target : str, int or None
        The column of the labels, by name or, where columns have no names, by position.
    target_kind : str or None
        "integer", "number", "boolean" or "text".
    n_cells : int or None
        The number of cells of a row beside the target, where columns have no names.
    first_index : int or None
        The index of the first feature in svmlight files, 0 or 1; None if rows came from elsewhere.
    weight : str or None
        The column of the weights of the rows.
    ids : str or None
        The column that names the rows.
    decimal : str
        The decimal mark of CSV files, "." or ",".

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
        """The width of the matrix."""
        return sum(column.width for column in self.features)

    @property
    def names(self) -> list[str]:
        """Names of the columns of the table that become features."""
        return [column.name for column in self.features]

    @property
    def n_named_cells(self) -> int:
        """The number of cells of a row, those of lists counted."""
        return sum(column.width if column.kind == "list" else 1 for column in self.features)

    @property
    def cell_names(self) -> list[str]:
        """Names of the cells of a row, those of lists one by one."""
        return [name for c in self.features for name in (c.feature_names if c.kind == "list" else [c.name])]

    def summary(self) -> list[tuple[str, int, list[str]]]:
        """Return the kinds of columns, each with the number and the names of its columns, to be read by people.

        A kind is one of "number", "boolean", "list", "date", "category" and "hashed", in the plural where there are
        several: `", ".join(f"{n} {kind}" for kind, n, names in columns.summary())` is "12 numbers, 3 categories".
        A matrix without names counts as that many numbers.
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
        """Return the position of the target in rows of so many cells, if it is known by position and among them."""
        return self.target if isinstance(self.target, int) and self.n_cells == n_cells - 1 else None

    def fill_values(self) -> NDArray[np.float64]:
        """Return what a missing number becomes, for each feature; NaN where none may be missing."""
        fill = np.zeros(self.n_features)
        start = 0
        for column in self.features:
            if column.is_numeric:
                fill[start : start + column.width] = np.nan if column.fill is None else column.fill
            start += column.width
        return fill

    def to_plain(self) -> dict[str, Any]:
        """Describe the rule in values that JSON takes."""
        plain = {
            "features": [column.to_plain() for column in self.features],
            "target": self.target,
            "target_kind": self.target_kind,
            "n_cells": self.n_cells,
            "first_index": self.first_index,
        }
        # Left out where they are not used, so that the description of such a rule is that of earlier versions.
        later = {"weight": self.weight, "ids": self.ids, "decimal": None if self.decimal == "." else self.decimal}
        return plain | {name: value for name, value in later.items() if value is not None}

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """Make a rule again from its description, which may come from anywhere: a ValueError says what is wrong."""
        check(isinstance(plain, dict), "a dict", plain)
        features = plain.get("features")
        check(isinstance(features, list) and 0 < len(features) <= MOST_NAMED, "features: a list of columns", features)
        rule = cls(
            tuple(Column.from_plain(column) for column in features),
            _target(plain.get("target")),
            plain.get("target_kind"),
            count(plain.get("n_cells"), "n_cells") if plain.get("n_cells") is not None else None,
            count(plain.get("first_index"), "first_index") if plain.get("first_index") is not None else None,
            _name(plain, "weight"),
            _name(plain, "ids"),
            plain.get("decimal", "."),
        )
        check(rule.target_kind is None or rule.target_kind in TARGET_KINDS, "a known target_kind", rule.target_kind)
        check(rule.first_index in (None, 0, 1), "first_index 0, 1 or None", rule.first_index)
        check(rule.decimal in DECIMAL_MARKS, "a point or a comma as decimal", rule.decimal)
        check(len(set(rule.names)) == len(rule.names), "columns with different names", "some twice")
        check(rule.n_features <= WIDEST, f"at most {WIDEST} features", rule.n_features)
        return rule


def _target(value: Any) -> str | int | None:
    """Return a target that is a name or a position."""
    plain = value is None or isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
    check(plain, "target as a name, a position or None", value)
    return value


def _name(plain: dict[str, Any], argument: str) -> str | None:
    """Return the name of a column, if there is one."""
    value = plain.get(argument)
    check(value is None or isinstance(value, str), f"{argument} as a name or None", value)
    return value


def listed(names: Sequence[str], most: int = 5) -> str:
    """Write names for an error message, the first few of many."""
    shown = ", ".join(shortened(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def shortened(name: str) -> str:
    """Quote a name, which may be anything that stands in a file, for an error message."""
    return repr(name if len(name) <= 40 else f"{name[:37]}...")


def check_different(names: Sequence[str], file: str) -> None:
    """Refuse a table in which a name comes twice."""
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(f"The columns of {file} must have different names, got {listed(twice)} more than once.")


def check_width(width: int, columns: Columns, name: str) -> None:
    """Refuse rows without names that cannot be matched with a rule by position."""
    strings = [column.name for column in columns.features if column.kind not in ("number", "boolean", "list")]
    if strings:
        raise ValueError(f"{name} holds numbers alone, but the columns {listed(strings)} must be strings or dates.")
    if width != columns.n_features:
        raise ValueError(f"Rows of {name} must have {columns.n_features} features, got {width}.")
