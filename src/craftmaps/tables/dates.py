"""Dates and times as numbers: year, month, day, weekday and time of day, by the local clock."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.tables.coded_text import coded_text
from craftmaps.tables.column import DATE_PARTS
from craftmaps.tables.kinds import kind_of, plain_array
from craftmaps.tables.lazy_arrow import import_arrow

# A zone follows a time of day; the "-31" of "2020-01-31" is a day.
_ZONE = r"(:\d\d(?:[.]\d+)?) ?(?:Z|[-+]\d\d:?\d\d)$"
# Digits below a microsecond, which Arrow does not parse.
_BELOW_MICROSECONDS = r"([.]\d{6})\d+$"
N_DAY_PARTS = 4


def parsed_dates(cells: Any) -> Any:
    """Parse text as ISO 8601 dates and ignore zones; raise ArrowInvalid if a cell is no date."""
    arrow, compute = import_arrow(), import_arrow("pyarrow.compute")
    plain = compute.utf8_trim_whitespace(cells)
    for pattern in (_ZONE, _BELOW_MICROSECONDS):
        plain = compute.replace_substring_regex(plain, pattern, r"\1")
    return plain.cast(arrow.timestamp("us"))


def date_parts(array: Any) -> NDArray[np.float64]:
    """Return one column per part of the dates, or of the text that holds them; NaN for a missing date."""
    arrow = import_arrow()
    if arrow.types.is_null(array.type):
        return np.full((len(array), len(DATE_PARTS)), np.nan)
    if kind_of(array.type) == "text":
        text = coded_text(array)
        parts = _parts_of_timestamps(parsed_dates(text.values))
        return np.vstack([parts, np.full(len(DATE_PARTS), np.nan)])[text.codes]
    dates = plain_array(array)
    return _parts_of_timestamps(dates.cast(arrow.timestamp("s")) if arrow.types.is_date(dates.type) else dates)


def part_indices(parts: tuple[str | None, ...]) -> list[int]:
    """Return the columns of parts in the result of `date_parts`."""
    return [DATE_PARTS.index(part) for part in parts if part is not None]


def first_undated(array: Any) -> tuple[int, str]:
    """Return the first row and the cell of text whose value is no date; there must be one."""
    text = coded_text(array)
    start, stop = 0, len(text.values)
    while stop - start > 1:
        middle = (start + stop) // 2
        try:
            parsed_dates(text.values.slice(start, middle - start))
            start = middle
        except import_arrow().ArrowInvalid:
            stop = middle
    return int(np.flatnonzero(text.codes == start)[0]), text.values[start].as_py()


def _parts_of_timestamps(array: Any) -> NDArray[np.float64]:
    """Return the parts of timestamps, by the clock of their zone."""
    arrow, compute = import_arrow(), import_arrow("pyarrow.compute")
    if array.type.tz is not None:
        array = compute.local_timestamp(array)
    functions = {part: getattr(compute, part) for part in DATE_PARTS if part != "weekday"}
    functions["weekday"] = compute.day_of_week
    columns = [functions[part](array).cast(arrow.float64()) for part in DATE_PARTS]
    return np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])
