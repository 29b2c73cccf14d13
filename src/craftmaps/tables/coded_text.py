"""Text columns as codes of their distinct values.

A file can repeat a long string in a few bytes per row. Text is therefore never expanded row by row: features, labels
and dates are computed once for each distinct value, and then indexed by row.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps.tables.kinds import stored_array
from craftmaps.tables.lazy_arrow import import_arrow


class CodedText(NamedTuple):
    """A column of text.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,), dtype int64
        Position of each cell in `values`; -1 for a missing cell.
    values : LargeStringArray
        The values that occur, none missing. A dictionary of the file may repeat one.
    """

    codes: NDArray[np.int64]
    values: Any

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return int((self.codes < 0).sum())

    def check_length(self, what: str, longest: int, first_row: int) -> None:
        """Refuse very long values, by row."""
        lengths = import_arrow("pyarrow.compute").binary_length(self.values).to_numpy(zero_copy_only=False)
        if lengths.max(initial=0) > longest:
            row = first_row + int(np.flatnonzero(self.codes == lengths.argmax())[0]) + 1
            raise ValueError(f"{what} of at most {longest} bytes, got {lengths.max():,} in row {row}.")

    def first_missing(self) -> int | None:
        """Return the first row with a missing cell, None if there is none."""
        missing = np.flatnonzero(self.codes < 0)
        return int(missing[0]) if missing.size else None

    def strings(self, missing: str = "") -> NDArray[np.str_]:
        """Return the cells as NumPy strings; all of them take the memory of the longest one."""
        return np.array([*self.values.to_pylist(), missing], dtype=np.str_)[self.codes]


def coded_text(array: Any) -> CodedText:
    """Return the codes and distinct values of a column, which is cast to text if necessary."""
    arrow = import_arrow()
    array = stored_array(array)
    if not arrow.types.is_dictionary(array.type):
        array = array.cast(arrow.large_string()).dictionary_encode()
    codes = array.indices.cast(arrow.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    dictionary = array.dictionary
    # Batches of a file share its dictionary: keep the values that occur in this one.
    is_kept = np.zeros(len(dictionary), bool)
    is_kept[codes[codes >= 0]] = True
    if dictionary.null_count:
        is_kept &= dictionary.is_valid().to_numpy(zero_copy_only=False)
    new_codes = np.append(np.where(is_kept, np.cumsum(is_kept) - 1, -1), -1)
    values = dictionary.filter(arrow.array(is_kept)) if not is_kept.all() else dictionary
    return CodedText(new_codes[codes], values.cast(arrow.large_string()))
