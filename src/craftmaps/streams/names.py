"""Columns that a caller names."""

from collections.abc import Sequence
from difflib import get_close_matches

from craftmaps.tables.columns import listed


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
