"""Dates and times as numbers: year, month, day, weekday and the time of day, as the clock at the place showed it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.tables.arrow import import_arrow
from craftmaps.tables.column import DATE_PARTS

# A zone after a time of day; "2020-01-31" ends with a day, not with one.
_ZONE = r"(:\d\d(?:[.]\d+)?) ?(?:Z|[-+]\d\d:?\d\d)$"
# Fractions of a second finer than a microsecond, which Arrow does not read.
_FINE = r"([.]\d{6})\d+$"
N_DAY_PARTS = 4


def is_date(arrow_type: Any) -> bool:
    """Tell whether values of a type are dates, with a time of day or without."""
    types = import_arrow().types
    return types.is_date(arrow_type) or types.is_timestamp(arrow_type)


def parsed_dates(cells: Any) -> Any:
    """Read text as dates, ISO 8601 alone; raise ArrowInvalid if a cell is none. Zones are passed over."""
    arrow, compute = import_arrow(), import_arrow("pyarrow.compute")
    plain = compute.utf8_trim_whitespace(cells)
    for pattern in (_ZONE, _FINE):
        plain = compute.replace_substring_regex(plain, pattern, r"\1")
    return plain.cast(arrow.timestamp("us"))


def date_parts(array: Any) -> NDArray[np.float64]:
    """Return the parts of dates or of text that holds them, a column for each, with NaN where a date is missing."""
    arrow, compute = import_arrow(), import_arrow("pyarrow.compute")
    if arrow.types.is_null(array.type):
        return np.full((len(array), len(DATE_PARTS)), np.nan)
    if arrow.types.is_date(array.type):
        array = array.cast(arrow.timestamp("s"))
    elif not arrow.types.is_timestamp(array.type):
        array = parsed_dates(array)
    elif array.type.tz is not None:
        array = compute.local_timestamp(array)
    functions = {"weekday": compute.day_of_week} | {
        part: getattr(compute, part) for part in DATE_PARTS if part != "weekday"
    }
    columns = [functions[part](array).cast(arrow.float64()) for part in DATE_PARTS]
    return np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])


def part_places(parts: tuple[str | None, ...]) -> list[int]:
    """Return where parts stand in what `date_parts` returns."""
    return [DATE_PARTS.index(part) for part in parts if part is not None]


def first_undated(cells: Any) -> int:
    """Return the place of the first cell of text that is no date, of which there is one."""
    start, stop = 0, len(cells)
    while stop - start > 1:
        middle = (start + stop) // 2
        try:
            parsed_dates(cells.slice(start, middle - start))
            start = middle
        except import_arrow().ArrowInvalid:
            stop = middle
    return start
