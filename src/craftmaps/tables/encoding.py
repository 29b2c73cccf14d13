"""Rows of a table into rows of a matrix and labels, by the rule of a `Columns`."""

from collections.abc import Mapping
from difflib import get_close_matches
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.tables.arrow import import_arrow
from craftmaps.tables.column import Column
from craftmaps.tables.columns import Columns, listed, shortened
from craftmaps.tables.dates import date_parts, first_undated, is_date, part_places
from craftmaps.tables.hashing import MISSING, fnv1a, signed_columns

# Integers up to here are exact in double precision.
_LARGEST_LABEL = 2**53
_COLUMNS_AT_ONCE = 8


def kind_of(arrow_type: Any) -> str:
    """Return what a column is: "number", "boolean", "text", "list", "date" or, if it is none of them, its type."""
    types = import_arrow().types
    arrow_type = _storage(arrow_type)
    if types.is_dictionary(arrow_type):
        return kind_of(arrow_type.value_type)
    if types.is_boolean(arrow_type):
        return "boolean"
    if any(test(arrow_type) for test in (types.is_integer, types.is_floating, types.is_decimal, types.is_null)):
        return "number"
    if any(test(arrow_type) for test in (types.is_string, types.is_large_string, types.is_string_view)):
        return "text"
    if is_date(arrow_type):
        return "date"
    if _is_list(arrow_type) and kind_of(arrow_type.value_type) in ("number", "boolean"):
        return "list"
    return str(arrow_type)


def bind(columns: Columns, schema: Any, file: str, is_typed: bool) -> list[Column]:
    """Return the columns to take from a table with a schema, in the order of the features.

    A column of lists may also come as its elements, `name_0` and so on.
    """
    bound: list[Column] = []
    present = set(schema.names)
    for column in columns.features:
        if column.kind == "list" and column.name not in present and column.width <= len(present):
            fill = column.fill if isinstance(column.fill, tuple) else [None] * column.width
            bound += [Column(name, "number", fill[i]) for i, name in enumerate(column.feature_names)]
        else:
            bound.append(column)
    missing = [column.name for column in bound if column.name not in present]
    if missing:
        near = [match for name in missing[:5] for match in get_close_matches(name, schema.names, 1)]
        hint = f"; the nearest there are {listed(near)}" if near else ""
        raise ValueError(f"{file} lacks the columns {listed(missing)}{hint}.")
    if is_typed:
        check_kinds({column.name: column.cell_kind for column in bound}, schema, file)
    return bound


def check_kinds(kinds: Mapping[str, str], schema: Any, file: str) -> None:
    """Refuse a table in which a column does not hold what it should."""
    for name, expected in kinds.items():
        arrow_type = schema.field(name).type
        found = kind_of(arrow_type)
        is_dated = (expected, found) == ("date", "text")  # it shows when the text is read
        is_alike = found == expected or {found, expected} == {"number", "boolean"} or is_dated
        if not (is_alike or is_null(arrow_type)):
            got = str(arrow_type) if found == "date" else described(found)
            raise ValueError(f"Column {name!r} of {file} must hold {described(expected)}, got {got}.")


def check_label_kind(found: str, columns: Columns, place: str) -> None:
    """Refuse text for labels that are numbers, and the reverse: joined they would be other labels."""
    if columns.target_kind is not None and (found == "text") != (columns.target_kind == "text"):
        raise ValueError(f"The target {place} must be of kind {columns.target_kind}, got {described(found)}.")


def encode_rows(
    batch: Any,
    bound: list[Column],
    columns: Columns,
    fill: NDArray[np.float64],
    out: NDArray[np.floating],
    file: str,
    first_row: int,
) -> None:
    """Write the features of a batch of rows to a matrix; nothing in it is missing or infinite."""
    # What is too large for the type is refused below, by its place.
    with np.errstate(over="ignore", invalid="ignore"):
        encode_table(batch, bound, out, file, first_row)
    fill_missing(out, fill, columns, file, first_row)


def encode_table(batch: Any, bound: list[Column], out: NDArray[np.floating], file: str, first_row: int) -> None:
    """Write the features of a batch of rows to a matrix; a missing number becomes NaN."""
    start = 0
    arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
    for kind, group in groupby(bound, key=lambda column: "number" if column.kind == "boolean" else column.kind):
        columns = list(group)
        if kind == "number":
            _encode_numbers([arrays[column.name] for column in columns], out[:, start : start + len(columns)])
            start += len(columns)
            continue
        for column in columns:
            array, features = arrays[column.name], out[:, start : start + column.width]
            if kind == "list":
                features[:] = elements(array, column.width, column.name, file, first_row)
            elif kind == "date":
                features[:] = _parts(array, column, file, first_row)
            elif kind == "one-hot":
                _encode_values(array, column, features)
            else:
                _encode_hashes(array, features)
            start += column.width


def _encode_numbers(arrays: list[Any], out: NDArray[np.floating]) -> None:
    """Write columns of numbers, eight at a time: to place one after the other takes twice as long."""
    buffer = np.empty((_COLUMNS_AT_ONCE, out.shape[0]), out.dtype)
    for start in range(0, len(arrays), _COLUMNS_AT_ONCE):
        group = arrays[start : start + _COLUMNS_AT_ONCE]
        for i, array in enumerate(group):
            buffer[i] = numbers(array)
        out[:, start : start + len(group)] = buffer[: len(group)].T


def numbers(array: Any) -> NDArray:
    """Return a column of numbers, with NaN where one is missing."""
    arrow = import_arrow()
    array = decoded(array)
    if arrow.types.is_decimal(array.type) or arrow.types.is_null(array.type):
        array = array.cast(arrow.float64())
    elif arrow.types.is_boolean(array.type):
        array = array.cast(arrow.uint8())
    return in_double(array.to_numpy(zero_copy_only=False))


def in_double(values: NDArray) -> NDArray:
    """Return numbers that single precision would round twice as double ones, as text formats have them."""
    return values.astype(np.float64) if values.dtype.kind in "iu" and values.dtype.itemsize == 8 else values


def elements(array: Any, width: int, name: str, file: str, first_row: int) -> NDArray:
    """Return a column of lists as a matrix, with NaN where a list or an element is missing."""
    arrow, compute = import_arrow(), import_arrow("pyarrow.compute")
    array = decoded(array)
    if arrow.types.is_null(array.type):
        return np.full((len(array), width), np.nan)
    lengths = compute.list_value_length(array)
    wrong = compute.fill_null(compute.not_equal(lengths, width), False)
    if compute.any(wrong).as_py():
        row = compute.index(wrong, True).as_py()
        place = f"row {first_row + row + 1}"
        raise ValueError(
            f"Column {name!r} of {file} must hold lists of {width} numbers, got {lengths[row]} in {place}."
        )
    if array.null_count == 0:
        return numbers(array.flatten()).reshape(len(array), width)
    matrix = np.full((len(array), width), np.nan)
    matrix[array.is_valid().to_numpy(zero_copy_only=False)] = numbers(array.drop_null().flatten()).reshape(-1, width)
    return matrix


def _parts(array: Any, column: Column, file: str, first_row: int) -> NDArray[np.float64]:
    """Return the parts of dates that a column keeps, with NaN where a date is missing."""
    array = decoded(array)
    try:
        return date_parts(array)[:, part_places(column.values)]
    except import_arrow().ArrowInvalid:
        if kind_of(array.type) != "text":
            raise
        row = first_undated(array)
        got = shortened(str(array[row].as_py()))
        raise ValueError(
            f"Column {column.name!r} of {file} must hold dates such as 2020-01-31 or 2020-01-31 23:59:59, got {got} "
            f"in row {first_row + row + 1}."
        ) from None


def _encode_values(array: Any, column: Column, out: NDArray[np.floating]) -> None:
    """Write ones where a value is; a value that is not among those of the first look has none."""
    arrow, compute = import_arrow(), import_arrow("pyarrow.compute")
    values = arrow.array(column.values, arrow.large_string())
    places = compute.index_in(as_text(array), value_set=values)
    rows = np.flatnonzero(places.is_valid().to_numpy(zero_copy_only=False))
    out[:] = 0
    out[rows, places.drop_null().to_numpy(zero_copy_only=False)] = 1


def _encode_hashes(array: Any, out: NDArray[np.floating]) -> None:
    """Write 1 or -1 into the column that the hash of a value gives."""
    coded = as_text(array).dictionary_encode(null_encoding="mask")
    # One more piece, after all strings, stands for a missing value.
    _, offsets, content = coded.dictionary.buffers()
    n_values = len(coded.dictionary)
    ends = np.frombuffer(offsets, np.int64, n_values + 1) if n_values else np.zeros(1, np.int64)
    data = np.concatenate((np.frombuffer(content or b"", np.uint8)[: ends[-1]], np.frombuffer(MISSING, np.uint8)))
    starts, lengths = ends, np.append(np.diff(ends), len(MISSING))
    columns, signs = signed_columns(fnv1a(data, starts, lengths))
    places = coded.indices.fill_null(n_values).to_numpy(zero_copy_only=False)
    out[:] = 0
    out[np.arange(len(places)), columns[places]] = signs[places]


def fill_missing(
    X: NDArray[np.floating], fill: NDArray[np.float64], columns: Columns, file: str, first_row: int
) -> None:
    """Replace NaN by what the columns say, and refuse what is infinite."""
    if np.isfinite(X).all():
        return
    rows, features = np.nonzero(np.isnan(X))
    with np.errstate(over="ignore"):
        X[rows, features] = fill[features]
    bad = np.argwhere(~np.isfinite(X))
    if bad.size:
        row, feature = bad[0]
        what = "a missing value" if np.isnan(X[row, feature]) else f"a value that is infinite in {X.dtype}"
        name = columns.feature_names[feature]
        raise ValueError(f"Column {name!r} of {file} has {what} in row {first_row + row + 1}.")


def labels_of(array: Any, kind: str, file: str, first_row: int) -> NDArray:
    """Return labels as NumPy has them, integers, floats, booleans or strings; none may be missing."""
    if not isinstance(array, np.ndarray):
        array = as_text(array) if kind == "text" else decoded(array)
        if array.null_count:
            row = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
            raise ValueError(f"Row {first_row + row + 1} of {file} has no label.")
        if kind == "text":
            return np.array(array.to_pylist(), dtype=np.str_)
        is_decimal = import_arrow().types.is_decimal(array.type)
        array = numbers(array) if is_decimal else array.to_numpy(zero_copy_only=False)
    if array.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            what = "no label" if np.isnan(array[bad[0]]) else "an infinite label"
            raise ValueError(f"Row {first_row + bad[0] + 1} of {file} has {what}.")
        # Text formats are read as floats, so that a fraction may follow whole numbers.
        if kind == "integer" and (array == np.trunc(array)).all():
            if np.abs(array).max(initial=0) > _LARGEST_LABEL:
                raise ValueError(f"The labels of {file} must be at most 2**53 in size to be exact, got larger ones.")
            return array.astype(np.int64)
    # Files may have truth values as booleans or as 0 and 1, and labels must not depend on where a block ends.
    if array.dtype.kind == "b" and kind in ("integer", "number"):
        return array.astype(np.int64)
    if array.dtype.kind in "iuf" and kind == "boolean" and np.isin(array, (0, 1)).all():
        return array.astype(np.bool_)
    return array


def decoded(array: Any) -> Any:
    """Return a column without extension types and dictionaries."""
    types = import_arrow().types
    if isinstance(array.type, import_arrow().BaseExtensionType):
        array = array.storage
    return array.dictionary_decode() if types.is_dictionary(array.type) else array


def as_text(array: Any) -> Any:
    """Return a column of strings in the one type of strings that is used here."""
    return decoded(array).cast(import_arrow().large_string())


def trimmed(cells: Any) -> Any:
    """Return cells of text without the blanks around them that Arrow passes over in numbers."""
    return import_arrow("pyarrow.compute").utf8_trim(cells, " \t")


def _storage(arrow_type: Any) -> Any:
    """Return the type that an extension type is stored as."""
    return arrow_type.storage_type if isinstance(arrow_type, import_arrow().BaseExtensionType) else arrow_type


def _is_list(arrow_type: Any) -> bool:
    """Tell whether values of a type are lists."""
    types = import_arrow().types
    tests = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view)
    return any(test(arrow_type) for test in tests)


def is_null(arrow_type: Any) -> bool:
    """Tell whether a column has no values at all, so that it may be of any kind."""
    return import_arrow().types.is_null(arrow_type)


def described(kind: str) -> str:
    """Say in words what a column holds."""
    words = {"number": "numbers", "integer": "numbers", "boolean": "booleans", "text": "strings"}
    return {**words, "list": "lists of numbers", "date": "dates"}.get(kind, kind)
