"""One column of a table: its kind, its features, and its description in plain values."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from craftmaps._system.fields import DamagedError, Fields, is_text
from craftmaps.tables.hashing import N_HASHED

KINDS = ("number", "boolean", "list", "date", "one-hot", "hashed")
DATE_PARTS = ("year", "month", "day", "weekday", "hour", "minute", "second")
# Bounds on untrusted descriptions: features of a rule, and named columns or values.
WIDEST = 2**27
MOST_NAMED = 2**20


@dataclass(frozen=True)
class Column:
    """One column of a table, and the features it becomes.

    Attributes
    ----------
    name : str
    kind : str
        "number" and "boolean": one feature. "list": `width` features, one per element. "date": one feature per
        part in `values`. "one-hot": one feature per value in `values`. "hashed": 64 signed features.
    fill : float, tuple of float or None
        Replacement for a missing number: the mean of the first look; for lists and dates, one mean per feature.
        None (svmlight, where an absent value is zero): no number may be missing.
    missing : int
        Number of missing values in the first look.
    values : tuple of str or None
        Categories of a one-hot column, where None stands for a missing value; parts of a date.
    width : int
        Number of features.
    """

    name: str
    kind: str
    fill: float | tuple[float, ...] | None = None
    missing: int = 0
    values: tuple[str | None, ...] = ()
    width: int = 1

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, derived from the name of the column."""
        if self.kind == "one-hot":
            return [f"{self.name}=" if value is None else f"{self.name}={value}" for value in self.values]
        if self.kind == "date":
            return [f"{self.name}_{part}" for part in self.values]
        if self.kind in ("number", "boolean"):
            return [self.name]
        return [f"{self.name}_{i}" for i in range(self.width)]

    @property
    def cell_kind(self) -> str:
        """Kind of the cells: "number", "boolean", "list", "date" or "text"."""
        return self.kind if self.is_numeric else "text"

    @property
    def is_numeric(self) -> bool:
        """Whether the cells are numbers or dates, not strings."""
        return self.kind in ("number", "boolean", "list", "date")

    def to_plain(self) -> dict[str, Any]:
        """Describe the column in plain values, without the attributes its kind does not use."""
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
    def from_plain(cls, plain: Any) -> Self:
        """Rebuild a column from an untrusted description; a ValueError names what is wrong in it."""
        with description_errors():
            return cls.from_fields(Fields(plain, "column"))

    @classmethod
    def from_fields(cls, fields: Fields) -> Self:
        """Rebuild a column from an untrusted description."""
        name, kind = _text(fields, "name"), fields.one_of("kind", KINDS)
        missing = fields.whole("missing", 0, 2**63 - 1) if "missing" in fields else 0
        if kind == "hashed":
            return cls(name, kind, None, missing, width=N_HASHED)
        if kind in ("one-hot", "date"):
            values = _different_strings(fields, kind)
            fill = _fills(fields, len(values)) if kind == "date" else None
            return cls(name, kind, fill, missing, values, len(values))
        if kind == "list":
            width = fields.whole("width", 1, WIDEST)
            is_filled = "fill" in fields and fields.value("fill") is not None
            return cls(name, kind, _fills(fields, width) if is_filled else None, missing, width=width)
        return cls(name, kind, fields.number("fill"), missing)


@contextmanager
def description_errors() -> Iterator[None]:
    """Re-raise errors about fields as errors about a description of columns."""
    try:
        yield
    except DamagedError as error:
        raise ValueError(f"The description of columns is damaged: {error}.") from None


def _text(fields: Fields, name: str) -> str:
    """Return a value if it is a string."""
    value = fields.value(name)
    if not is_text(value):
        raise fields.refuse(name, "a string")
    return value


def _different_strings(fields: Fields, kind: str) -> tuple[str | None, ...]:
    """Return the values of a column if they are different strings; None stands for a missing one."""
    values = fields.value("values")
    if not (
        isinstance(values, list)
        and 0 < len(values) <= MOST_NAMED
        and all(value is None or is_text(value) for value in values)
        and len(set(values)) == len(values)
    ):
        raise fields.refuse("values", "a list of different strings")
    if kind == "date" and not set(values) <= set(DATE_PARTS):
        raise fields.refuse("values", "a list of parts of dates")
    return tuple(values)


def _fills(fields: Fields, width: int) -> tuple[float, ...]:
    """Return one replacement for missing numbers per feature."""
    fill = fields.numbers("fill", WIDEST)
    if fill.size != width:
        raise fields.refuse("fill", f"a list of {width} numbers")
    return tuple(fill.tolist())
