"""How a table becomes a matrix: a rule that is fixed once, stored with a model, and applied again."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.hashing import N_HASHED

KINDS = ("number", "boolean", "list", "one-hot", "hashed")
TARGET_KINDS = ("integer", "number", "boolean", "text")
# A hostile model file must not make a matrix of absurd width.
WIDEST = 2**27
_MOST_NAMED = 2**20


@dataclass(frozen=True)
class Column:
    """One column of a table, and the features that it becomes.

    Attributes
    ----------
    name : str
    kind : str
        "number" and "boolean": one feature. "list": `width` features, one per element. "one-hot": one
        feature per value of `values`. "hashed": 64 features with signs.
    fill : float, tuple of float or None
        What a missing number becomes: the mean of the first look, for lists one per element. None, for
        svmlight, where an absent value is a zero, means that none may be missing.
    missing : int
        How many values were missing in the first look.
    values : tuple of str or None
        The categories of a one-hot column; None among them stands for a missing value.
    width : int
        The number of features.
    """

    name: str
    kind: str
    fill: float | tuple[float, ...] | None = None
    missing: int = 0
    values: tuple[str | None, ...] = ()
    width: int = 1

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, made of the name of the column."""
        if self.kind == "one-hot":
            return [f"{self.name}=" if value is None else f"{self.name}={value}" for value in self.values]
        if self.kind in ("number", "boolean"):
            return [self.name]
        return [f"{self.name}_{i}" for i in range(self.width)]

    @property
    def cell_kind(self) -> str:
        """What the cells hold: "number", "boolean", "list" or "text"."""
        return self.kind if self.is_numeric else "text"

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers, not strings."""
        return self.kind in ("number", "boolean", "list")


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

    Examples
    --------
    >>> eyes = Column("eyes", "one-hot", values=("blue", "brown"), width=2)
    >>> rule = Columns((Column("age", "number", fill=40.0), eyes))
    >>> rule.feature_names
    ['age', 'eyes=blue', 'eyes=brown']
    >>> Columns.from_plain(rule.to_plain()) == rule
    True
    """

    features: tuple[Column, ...]
    target: str | int | None = None
    target_kind: str | None = None
    n_cells: int | None = None
    first_index: int | None = None

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
        return {
            "features": [_column_to_plain(column) for column in self.features],
            "target": self.target,
            "target_kind": self.target_kind,
            "n_cells": self.n_cells,
            "first_index": self.first_index,
        }

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """Make a rule again from its description, which may come from anywhere: a ValueError says what is wrong."""
        _check(isinstance(plain, dict), "a dict", plain)
        features = plain.get("features")
        _check(isinstance(features, list) and 0 < len(features) <= _MOST_NAMED, "features: a list of columns", features)
        rule = cls(
            tuple(_column_from_plain(column) for column in features),
            _target(plain.get("target")),
            plain.get("target_kind"),
            _count(plain.get("n_cells"), "n_cells") if plain.get("n_cells") is not None else None,
            _count(plain.get("first_index"), "first_index") if plain.get("first_index") is not None else None,
        )
        _check(rule.target_kind is None or rule.target_kind in TARGET_KINDS, "a known target_kind", rule.target_kind)
        _check(rule.first_index in (None, 0, 1), "first_index 0, 1 or None", rule.first_index)
        _check(len(set(rule.names)) == len(rule.names), "columns with different names", "some twice")
        _check(rule.n_features <= WIDEST, f"at most {WIDEST} features", rule.n_features)
        return rule


def _column_to_plain(column: Column) -> dict[str, Any]:
    """Describe a column, without what its kind does not use."""
    plain: dict[str, Any] = {"name": column.name, "kind": column.kind}
    if column.is_numeric:
        plain["fill"] = list(column.fill) if isinstance(column.fill, tuple) else column.fill
    if column.missing:
        plain["missing"] = column.missing
    if column.kind == "one-hot":
        plain["values"] = list(column.values)
    if column.kind == "list":
        plain["width"] = column.width
    return plain


def _column_from_plain(plain: Any) -> Column:
    """Make a column from its description."""
    _check(isinstance(plain, dict), "each column as a dict", plain)
    name, kind, fill = plain.get("name"), plain.get("kind"), plain.get("fill")
    _check(isinstance(name, str), "the name of a column as a string", name)
    _check(isinstance(kind, str) and kind in KINDS, f"a kind of column among {', '.join(KINDS)}", kind)
    missing = _count(plain.get("missing", 0), "missing")
    if kind == "one-hot":
        values = plain.get("values")
        _check(
            isinstance(values, list)
            and 0 < len(values) <= _MOST_NAMED
            and all(value is None or isinstance(value, str) for value in values)
            and len(set(values)) == len(values),
            f"different strings as values of column {name!r}",
            values,
        )
        return Column(name, kind, None, missing, tuple(values), len(values))
    if kind == "hashed":
        return Column(name, kind, None, missing, width=N_HASHED)
    if kind == "list":
        width = _count(plain.get("width"), f"the width of column {name!r}")
        _check(0 < width <= WIDEST, f"a positive width of column {name!r}", width)
        _check(
            fill is None or (isinstance(fill, list) and len(fill) == width and all(map(_is_finite, fill))),
            f"{width} numbers to fill column {name!r}",
            fill,
        )
        return Column(name, kind, None if fill is None else tuple(map(float, fill)), missing, width=width)
    _check(_is_finite(fill), f"a number to fill column {name!r}", fill)
    return Column(name, kind, float(fill), missing)


def _is_finite(value: Any) -> bool:
    """Tell whether a value is a finite number that a double can hold."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) <= sys.float_info.max


def _count(value: Any, name: str) -> int:
    """Return a count that is one."""
    _check(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63, f"{name} as a count", value)
    return value


def _target(value: Any) -> str | int | None:
    """Return a target that is a name or a position."""
    plain = value is None or isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
    _check(plain, "target as a name, a position or None", value)
    return value


def _check(is_good: bool, expected: str, got: Any) -> None:
    """Refuse a description that is not what was expected."""
    if not is_good:
        shown = repr(got)[:60] if isinstance(got, (str, float)) else got if got is None else type(got).__name__
        raise ValueError(f"The description of columns must have {expected}, got {shown}.")


def listed(names: Sequence[str], most: int = 5) -> str:
    """Write names for an error message, the first few of many."""
    shown = ", ".join(shortened(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def shortened(name: str) -> str:
    """Quote a name, which may be anything that stands in a file, for an error message."""
    return repr(name if len(name) <= 40 else f"{name[:37]}...")


def check_width(width: int, columns: Columns, name: str) -> None:
    """Refuse rows without names that cannot be matched with a rule by position."""
    strings = [column.name for column in columns.features if not column.is_numeric]
    if strings:
        raise ValueError(f"{name} holds numbers alone, but the columns {listed(strings)} must be strings.")
    if width != columns.n_features:
        raise ValueError(f"Rows of {name} must have {columns.n_features} features, got {width}.")
