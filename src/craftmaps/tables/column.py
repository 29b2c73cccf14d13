"""One column of a table, and its description in plain values."""

import sys
from dataclasses import dataclass
from typing import Any

from craftmaps.tables.hashing import N_HASHED

KINDS = ("number", "boolean", "list", "date", "one-hot", "hashed")
DATE_PARTS = ("year", "month", "day", "weekday", "hour", "minute", "second")
# A hostile model file must not make a matrix of absurd width.
WIDEST = 2**27
MOST_NAMED = 2**20


@dataclass(frozen=True)
class Column:
    """One column of a table, and the features that it becomes.

    Attributes
    ----------
    name : str
    kind : str
        "number" and "boolean": one feature. "list": `width` features, one per element. "date": one feature per
        part in `values`. "one-hot": one feature per value of `values`. "hashed": 64 features with signs.
    fill : float, tuple of float or None
        What a missing number becomes: the mean of the first look, for lists and dates one per feature. None, for
        svmlight, where an absent value is a zero, means that none may be missing.
    missing : int
        How many values were missing in the first look.
    values : tuple of str or None
        The categories of a one-hot column; None among them stands for a missing value. The parts of a date.
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
        if self.kind == "date":
            return [f"{self.name}_{part}" for part in self.values]
        if self.kind in ("number", "boolean"):
            return [self.name]
        return [f"{self.name}_{i}" for i in range(self.width)]

    @property
    def cell_kind(self) -> str:
        """What the cells hold: "number", "boolean", "list", "date" or "text"."""
        return self.kind if self.is_numeric else "text"

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers or dates, not strings."""
        return self.kind in ("number", "boolean", "list", "date")

    def to_plain(self) -> dict[str, Any]:
        """Describe the column, without what its kind does not use."""
        plain: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.is_numeric:
            plain["fill"] = list(self.fill) if isinstance(self.fill, tuple) else self.fill
        if self.missing:
            plain["missing"] = self.missing
        if self.kind in ("one-hot", "date"):
            plain["values"] = list(self.values)
        if self.kind == "list":
            plain["width"] = self.width
        return plain

    @classmethod
    def from_plain(cls, plain: Any) -> "Column":
        """Make a column again from its description, which may come from anywhere."""
        check(isinstance(plain, dict), "each column as a dict", plain)
        name, kind, fill = plain.get("name"), plain.get("kind"), plain.get("fill")
        check(isinstance(name, str), "the name of a column as a string", name)
        check(isinstance(kind, str) and kind in KINDS, f"a kind of column among {', '.join(KINDS)}", kind)
        missing = count(plain.get("missing", 0), "missing")
        if kind == "hashed":
            return cls(name, kind, None, missing, width=N_HASHED)
        if kind == "one-hot":
            values = _different_strings(plain.get("values"), name)
            return cls(name, kind, None, missing, values, len(values))
        if kind == "date":
            parts = _different_strings(plain.get("values"), name)
            check(set(parts) <= set(DATE_PARTS), f"parts of dates as values of column {name!r}", list(parts))
            return cls(name, kind, _fills(fill, len(parts), name), missing, parts, len(parts))
        if kind == "list":
            width = count(plain.get("width"), f"the width of column {name!r}")
            check(0 < width <= WIDEST, f"a positive width of column {name!r}", width)
            return cls(name, kind, None if fill is None else _fills(fill, width, name), missing, width=width)
        check(_is_finite(fill), f"a number to fill column {name!r}", fill)
        return cls(name, kind, float(fill), missing)


def _different_strings(values: Any, name: str) -> tuple[str | None, ...]:
    """Return the values of a column, strings of which none comes twice; None is a missing one."""
    check(
        isinstance(values, list)
        and 0 < len(values) <= MOST_NAMED
        and all(value is None or isinstance(value, str) for value in values)
        and len(set(values)) == len(values),
        f"different strings as values of column {name!r}",
        values,
    )
    return tuple(values)


def _fills(fill: Any, width: int, name: str) -> tuple[float, ...]:
    """Return what missing numbers become, one for each feature."""
    check(
        isinstance(fill, list) and len(fill) == width and all(map(_is_finite, fill)),
        f"{width} numbers to fill column {name!r}",
        fill,
    )
    return tuple(map(float, fill))


def _is_finite(value: Any) -> bool:
    """Tell whether a value is a finite number that a double can hold."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) <= sys.float_info.max


def count(value: Any, name: str) -> int:
    """Return a count that is one."""
    check(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63, f"{name} as a count", value)
    return value


def check(is_good: bool, expected: str, got: Any) -> None:
    """Refuse a description that is not what was expected."""
    if not is_good:
        shown = repr(got)[:60] if isinstance(got, (str, float)) else got if got is None else type(got).__name__
        raise ValueError(f"The description of columns must have {expected}, got {shown}.")
