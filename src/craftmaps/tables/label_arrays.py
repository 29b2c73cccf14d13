"""Labels of files and data frames as NumPy arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.tables.coded_text import coded_text
from craftmaps.tables.column_rule import Columns
from craftmaps.tables.encoding import numbers
from craftmaps.tables.kinds import kind_in_words, plain_array
from craftmaps.tables.lazy_arrow import import_arrow

# Integers up to this size are exact in double precision.
_LARGEST_EXACT = 2**53


def check_label_kind(found: str, columns: Columns, place: str) -> None:
    """Refuse text labels for a numeric target and the reverse: "1" and 1 would become two classes."""
    if columns.target_kind is not None and (found == "text") != (columns.target_kind == "text"):
        raise ValueError(f"The target {place} must be of kind {columns.target_kind}, got {kind_in_words(found)}.")


def labels_of(labels: Any, kind: str, file: str, first_row: int, longest: int) -> NDArray:
    """Return labels as integers, floats, booleans or strings.

    Missing and infinite labels, and strings of more than `longest` bytes, are refused by row.
    """
    if not isinstance(labels, np.ndarray):
        if kind == "text":
            return _text_labels(labels, file, first_row, longest)
        labels = _numeric_labels(labels, file, first_row)
    if labels.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(labels))
        if bad.size:
            problem = "no label" if np.isnan(labels[bad[0]]) else "an infinite label"
            raise ValueError(f"Row {first_row + bad[0] + 1} of {file} has {problem}.")
        # Text formats are parsed as floats, since a fraction may follow whole numbers.
        if kind == "integer" and (labels == np.trunc(labels)).all():
            if np.abs(labels).max(initial=0) > _LARGEST_EXACT:
                raise ValueError(f"The labels of {file} must be at most 2**53 in size to be exact, got larger ones.")
            return labels.astype(np.int64)
    # Files store truth values as booleans or as 0 and 1; labels must not depend on where a block ends.
    if labels.dtype.kind == "b" and kind in ("integer", "number"):
        return labels.astype(np.int64)
    if labels.dtype.kind in "iuf" and kind == "boolean" and np.isin(labels, (0, 1)).all():
        return labels.astype(np.bool_)
    return labels


def _text_labels(labels: Any, file: str, first_row: int, longest: int) -> NDArray[np.str_]:
    """Return labels as strings, which all take the memory of the longest."""
    text = coded_text(labels)
    text.check_length(f"{file} must have labels", longest, first_row)
    row = text.first_missing()
    if row is not None:
        raise ValueError(f"Row {first_row + row + 1} of {file} has no label.")
    return text.strings()


def _numeric_labels(labels: Any, file: str, first_row: int) -> NDArray:
    """Return labels as numbers or booleans."""
    labels = plain_array(labels)
    if labels.null_count:
        row = int(np.flatnonzero(labels.is_null().to_numpy(zero_copy_only=False))[0])
        raise ValueError(f"Row {first_row + row + 1} of {file} has no label.")
    is_decimal = import_arrow().types.is_decimal(labels.type)
    return numbers(labels) if is_decimal else labels.to_numpy(zero_copy_only=False)
