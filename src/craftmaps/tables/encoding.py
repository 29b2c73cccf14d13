"""Rows of a table as rows of a matrix, by the rule of a `Columns`."""

from difflib import get_close_matches
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.tables.coded_text import coded_text
from craftmaps.tables.column import Column
from craftmaps.tables.column_names import listed, shortened
from craftmaps.tables.column_rule import Columns
from craftmaps.tables.dates import date_parts, first_undated, part_indices
from craftmaps.tables.hashing import MISSING, hash_slices, signed_columns
from craftmaps.tables.kinds import check_kinds, kind_of, plain_array, stored_array
from craftmaps.tables.lazy_arrow import import_arrow

_COLUMNS_AT_ONCE = 8


def bind(columns: Columns, schema: Any, file: str, is_typed: bool) -> list[Column]:
    """Return the columns to read from a table, in the order of the features.

    A list column can also be stored as one column per element, `name_0`, `name_1` and so on.
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
        hint = f"; the nearest names there are {listed(near)}" if near else ""
        raise ValueError(f"{file} lacks the columns {listed(missing)}{hint}.")
    if is_typed:
        check_kinds({column.name: column.cell_kind for column in bound}, schema, file)
    return bound


def encode_rows(batch: Any, bound: list[Column], out: NDArray[np.floating], file: str, first_row: int) -> None:
    """Write the features of a batch into `out`, with NaN for missing numbers; `fill_missing` must follow."""
    start = 0
    arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
    # Overflow becomes infinity, which `fill_missing` refuses by row.
    with np.errstate(over="ignore", invalid="ignore"):
        for is_number, group in groupby(bound, key=lambda column: column.kind in ("number", "boolean")):
            columns = list(group)
            if is_number:
                _encode_numbers([arrays[column.name] for column in columns], out[:, start : start + len(columns)])
                start += len(columns)
                continue
            for column in columns:
                features = out[:, start : start + column.width]
                _encode_column(arrays[column.name], column, features, file, first_row)
                start += column.width


def fill_missing(
    X: NDArray[np.floating], fill: NDArray[np.float64], columns: Columns, file: str, first_row: int
) -> None:
    """Replace NaN by the fill values in place, and refuse infinite values and NaN that have none."""
    if np.isfinite(X).all():
        return
    rows, features = np.nonzero(np.isnan(X))
    with np.errstate(over="ignore"):
        X[rows, features] = fill[features]
    bad = np.argwhere(~np.isfinite(X))
    if bad.size:
        row, feature = bad[0]
        problem = "a missing value" if np.isnan(X[row, feature]) else f"a value that is infinite in {X.dtype}"
        name = columns.feature_names[feature]
        raise ValueError(f"Column {name!r} of {file} has {problem} in row {first_row + row + 1}.")


def numbers(array: Any) -> NDArray:
    """Return a column of numbers, with NaN for missing ones."""
    arrow = import_arrow()
    array = plain_array(array)
    if arrow.types.is_decimal(array.type) or arrow.types.is_null(array.type):
        array = array.cast(arrow.float64())
    elif arrow.types.is_boolean(array.type):
        array = array.cast(arrow.uint8())
    return in_double(array.to_numpy(zero_copy_only=False))


def in_double(values: NDArray) -> NDArray:
    """Return 64-bit integers in double precision, as text formats parse them, so that they are rounded alike."""
    return values.astype(np.float64) if values.dtype.kind in "iu" and values.dtype.itemsize == 8 else values


def elements(array: Any, width: int, name: str, file: str, first_row: int) -> NDArray:
    """Return a column of lists as a matrix, with NaN for missing lists and elements."""
    arrow, compute = import_arrow(), import_arrow("pyarrow.compute")
    array = stored_array(array)
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


def _encode_numbers(arrays: list[Any], out: NDArray[np.floating]) -> None:
    """Write columns of numbers, eight at a time: one at a time takes twice as long."""
    buffer = np.empty((_COLUMNS_AT_ONCE, out.shape[0]), out.dtype)
    for start in range(0, len(arrays), _COLUMNS_AT_ONCE):
        group = arrays[start : start + _COLUMNS_AT_ONCE]
        for i, array in enumerate(group):
            buffer[i] = numbers(array)
        out[:, start : start + len(group)] = buffer[: len(group)].T


def _encode_column(array: Any, column: Column, out: NDArray[np.floating], file: str, first_row: int) -> None:
    """Write the features of a column that is no number."""
    if column.kind == "list":
        out[:] = elements(array, column.width, column.name, file, first_row)
    elif column.kind == "date":
        out[:] = _parts(array, column, file, first_row)
    elif column.kind == "one-hot":
        _encode_values(array, column, out)
    else:
        _encode_hashes(array, out)


def _parts(array: Any, column: Column, file: str, first_row: int) -> NDArray[np.float64]:
    """Return the parts of dates that a column keeps, with NaN for a missing date."""
    array = stored_array(array)
    try:
        return date_parts(array)[:, part_indices(column.values)]
    except import_arrow().ArrowInvalid:
        if kind_of(array.type) != "text":
            raise
        row, cell = first_undated(array)
        raise ValueError(
            f"Column {column.name!r} of {file} must hold dates such as 2020-01-31 or 2020-01-31 23:59:59, got "
            f"{shortened(cell)} in row {first_row + row + 1}."
        ) from None


def _encode_values(array: Any, column: Column, out: NDArray[np.floating]) -> None:
    """Write one-hot rows; a value that the first look did not see is all zeros."""
    arrow, compute = import_arrow(), import_arrow("pyarrow.compute")
    text = coded_text(array)
    places = compute.index_in(text.values, value_set=arrow.array(column.values, arrow.large_string()))
    # Last, at code -1: the feature of a missing value.
    missing = column.values.index(None) if None in column.values else -1
    features = np.append(places.fill_null(-1).to_numpy(zero_copy_only=False), missing)[text.codes]
    rows = np.flatnonzero(features >= 0)
    out[:] = 0
    out[rows, features[rows]] = 1


def _encode_hashes(array: Any, out: NDArray[np.floating]) -> None:
    """Write 1 or -1 into the column that the hash of a value selects."""
    text = coded_text(array)
    _, offsets, content = text.values.buffers()
    first, n_values = text.values.offset, len(text.values)
    ends = np.frombuffer(offsets, np.int64, first + n_values + 1)[first:] if n_values else np.zeros(1, np.int64)
    data = np.frombuffer(content or b"", np.uint8)[: ends[-1]]
    # One slice more, after all strings and at code -1, for a missing value.
    starts, lengths = ends, np.append(np.diff(ends), len(MISSING))
    hashes = hash_slices(np.concatenate((data, np.frombuffer(MISSING, np.uint8))), starts, lengths)
    columns, signs = signed_columns(hashes)
    out[:] = 0
    out[np.arange(out.shape[0]), columns[text.codes]] = signs[text.codes]
