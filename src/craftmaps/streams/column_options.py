"""Arguments of `open` and `of` about the columns of a table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Self

from craftmaps.streams.errors import ArgumentError
from craftmaps.tables.column_names import listed
from craftmaps.tables.column_rule import DECIMAL_MARKS


@dataclass(frozen=True)
class ColumnOptions:
    """Columns to leave out or carry along, and how to read columns; see `open`."""

    drop: Sequence[str] = ()
    categories: Sequence[str] = ()
    weight: str | None = None
    ids: str | None = None
    decimal: str | None = None
    dates: str | None = None

    def __post_init__(self):
        for argument in ("drop", "categories"):
            names: Any = getattr(self, argument)
            if isinstance(names, str) or not all(isinstance(name, str) for name in names):
                raise TypeError(f"{argument} must be a sequence of names, got {names!r}.")
        for argument in ("weight", "ids"):
            name = getattr(self, argument)
            if not (name is None or isinstance(name, str)):
                raise TypeError(f"{argument} must be the name of a column or None, got {name!r}.")
        if self.decimal is not None and self.decimal not in DECIMAL_MARKS:
            raise ArgumentError(f"decimal must be '.' or ',', got {self.decimal!r}.", "decimal")
        if self.dates not in (None, "parts"):
            raise ArgumentError(f"dates must be 'parts' or None, got {self.dates!r}.", "dates")

    @property
    def not_features(self) -> list[str]:
        """Names of the columns that are not features: dropped columns, weights and ids."""
        return [*self.drop, *(name for name in (self.weight, self.ids) if name is not None)]

    def refuse_any(self, name: str) -> None:
        """Refuse options for a file whose columns have no names."""
        for argument in self.__dataclass_fields__:
            value = getattr(self, argument)
            if value:
                is_sequence = argument in ("drop", "categories")
                expected, got = ("empty", list(value)) if is_sequence else ("None", value)
                raise ArgumentError(
                    f"{argument} must be {expected} for {name}, whose columns have no names, got {got!r}.", argument
                )

    def resolved(self, names: Sequence[str], file: str, target: str | None) -> Self:
        """Check that the columns exist, and that none is the target or has two roles."""
        for argument in ("drop", "categories", "weight", "ids"):
            value = getattr(self, argument)
            for name in [value] if isinstance(value, str) else value or ():
                resolve_column(name, names, argument, file)
                if name == target:
                    raise ArgumentError(f"{argument} must not name the target, got {target!r}.", argument)
        if self.weight is not None and self.weight == self.ids:
            raise ArgumentError(f"ids must not name the column of weights, got {self.ids!r}.", "ids")
        return replace(self, drop=tuple(self.drop), categories=tuple(self.categories))


NO_OPTIONS = ColumnOptions()


def resolve_column(name: str | int, names: Sequence[str], argument: str, file: str) -> str:
    """Return the name of a column that an argument gives by name or by position."""
    if isinstance(name, str):
        if name in names:
            return name
        in_lower = {known.lower(): known for known in names}
        near = get_close_matches(name.lower(), in_lower, 1)
        hint = f"did you mean {in_lower[near[0]]!r}?" if near else f"it has {listed(names)}."
        raise ArgumentError(f"{argument} must be a column of {file}, got {name!r}: {hint}", argument)
    if not -len(names) <= name < len(names):
        raise ArgumentError(
            f"{argument} must be a position among {len(names)} columns of {file}, got {name}.", argument
        )
    return names[name]
