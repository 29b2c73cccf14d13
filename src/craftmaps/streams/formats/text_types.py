"""Arrow types for the cells of text formats."""

from typing import Any

from craftmaps.tables.lazy_arrow import import_arrow


def arrow_type(kind: str) -> Any:
    """Return the type that cells of a kind are parsed as."""
    arrow = import_arrow()
    types = {"boolean": arrow.bool_(), "list": arrow.list_(arrow.float64())}
    types |= dict.fromkeys(("text", "date", "id"), arrow.string())
    return types.get(kind, arrow.float64())
