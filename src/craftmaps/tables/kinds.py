"""Kinds of Arrow columns of all types: numbers, booleans, text, lists, dates."""

from collections.abc import Mapping
from typing import Any

from craftmaps.tables.lazy_arrow import import_arrow

_WORDS = {
    "number": "numbers",
    "integer": "numbers",
    "boolean": "booleans",
    "text": "strings",
    "list": "lists of numbers",
    "date": "dates",
}


def kind_of(arrow_type: Any) -> str:
    """Return "number", "boolean", "text", "list" or "date", or else the name of the type."""
    types = import_arrow().types
    arrow_type = _storage_type(arrow_type)
    if types.is_dictionary(arrow_type):
        kind = kind_of(arrow_type.value_type)
        # Few long lists in a dictionary would become a matrix of any size.
        return str(arrow_type) if kind == "list" else kind
    if types.is_boolean(arrow_type):
        return "boolean"
    if any(test(arrow_type) for test in (types.is_integer, types.is_floating, types.is_decimal, types.is_null)):
        return "number"
    if any(test(arrow_type) for test in (types.is_string, types.is_large_string, types.is_string_view)):
        return "text"
    if types.is_date(arrow_type) or types.is_timestamp(arrow_type):
        return "date"
    if _is_list(arrow_type) and kind_of(arrow_type.value_type) in ("number", "boolean"):
        return "list"
    return str(arrow_type)


def kind_in_words(kind: str) -> str:
    """Return the plural of a kind for messages."""
    return _WORDS.get(kind, kind)


def is_null(arrow_type: Any) -> bool:
    """Tell whether a column has no values at all and can pass for any kind."""
    return import_arrow().types.is_null(arrow_type)


def check_kinds(kinds: Mapping[str, str], schema: Any, file: str) -> None:
    """Refuse a table with a column of another kind than expected."""
    for name, expected in kinds.items():
        arrow_type = schema.field(name).type
        found = kind_of(arrow_type)
        is_dated_text = (expected, found) == ("date", "text")  # checked cell by cell
        is_alike = found == expected or {found, expected} == {"number", "boolean"} or is_dated_text
        if not (is_alike or is_null(arrow_type)):
            got = str(arrow_type) if found == "date" else kind_in_words(found)
            raise ValueError(f"Column {name!r} of {file} must hold {kind_in_words(expected)}, got {got}.")


def plain_array(array: Any) -> Any:
    """Return a column without its extension type and its dictionary. For text, `coded_text` keeps memory bounded."""
    array = stored_array(array)
    return array.dictionary_decode() if import_arrow().types.is_dictionary(array.type) else array


def stored_array(array: Any) -> Any:
    """Return a column without its extension type."""
    return array.storage if isinstance(array.type, import_arrow().BaseExtensionType) else array


def trimmed(cells: Any) -> Any:
    """Strip blanks and tabs from text cells, as Arrow does when it parses numbers."""
    return import_arrow("pyarrow.compute").utf8_trim(cells, " \t")


def _storage_type(arrow_type: Any) -> Any:
    """Return the type that stores an extension type."""
    return arrow_type.storage_type if isinstance(arrow_type, import_arrow().BaseExtensionType) else arrow_type


def _is_list(arrow_type: Any) -> bool:
    """Tell whether values of a type are lists."""
    types = import_arrow().types
    tests = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view)
    return any(test(arrow_type) for test in tests)
