"""What a caller says about the columns of a table: which to leave out, to carry along, and how to read them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from craftmaps.streams.names import resolve
from craftmaps.tables.columns import DECIMAL_MARKS


@dataclass(frozen=True)
class ColumnOptions:
    """Arguments of `open` and `of` that are about the columns of a table; see there."""

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
            raise ValueError(f"decimal must be '.' or ',', got {self.decimal!r}.")
        if self.dates not in (None, "parts"):
            raise ValueError(f"dates must be 'parts' or None, got {self.dates!r}.")

    @property
    def given(self) -> dict[str, Any]:
        """The options that are not left at their default."""
        options = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: list(value) if name in ("drop", "categories") else value for name, value in options.items() if value
        }

    @property
    def apart(self) -> list[str]:
        """Names of the columns that are no features: left out, weights, names of rows."""
        return [*self.drop, *(name for name in (self.weight, self.ids) if name is not None)]

    def refusal(self, name: str) -> str:
        """Say that a file whose columns have no names takes no such options."""
        argument, value = next(iter(self.given.items()))
        expected = "empty" if argument in ("drop", "categories") else "None"
        return f"{argument} must be {expected} for {name}, whose columns have no names, got {value!r}."

    def resolved(self, names: Sequence[str], file: str, target: str | None) -> Self:
        """Check that the columns are there, and that none of them is the target or has two roles."""
        for argument in ("drop", "categories", "weight", "ids"):
            value = getattr(self, argument)
            for name in [value] if isinstance(value, str) else value or ():
                resolve(name, names, argument, file)
                if name == target:
                    raise ValueError(f"{argument} must not name the target, got {target!r}.")
        if self.weight is not None and self.weight == self.ids:
            raise ValueError(f"ids must not name the column of weights, got {self.ids!r}.")
        return replace(self, drop=tuple(self.drop), categories=tuple(self.categories))
