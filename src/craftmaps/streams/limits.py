"""Limits on what a file may hold or claim, so that no file costs unbounded time or memory before it is refused."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds on the content of a file, and on how much of it is read at once.

    Attributes
    ----------
    longest_line : int
        Bytes of a line of text, including line ends within quotes.
    longest_gap : int
        Bytes of text without a row: blank lines, or svmlight comments.
    most_columns, longest_name : int
        Columns of a table, and characters of a column name.
    deepest_nesting : int
        Levels of lists and objects in JSON.
    most_parsed_cells : int
        Cells of JSON lines parsed at once: an absent field takes no byte of the file, but a cell of memory.
    text_block : int
        Bytes of CSV or JSON text parsed at once. The first block fixes the fields of JSON lines.
    widest_row, most_axes : int
        Numbers in a row of a matrix, and axes of an array.
    longest_header : int
        Bytes of the header of an NPY file.
    longest_label : int
        Bytes of a text label or an id: NumPy gives every string of a block the memory of the longest.
    largest_read : int
        Bytes of the rows that are read, or looked at, at once.
    largest_whole : int
        Bytes held whole if a format cannot be read in pieces: an HDF5 chunk, a compressed Arrow record batch, an NPZ
        array in Fortran order. The last two may exceed it if they are compressed less than `whole_ratio`.
    whole_ratio : int
        Compression of data that is held whole.
    largest_unstored : int
        Bytes that a file may claim without storing them.
    largest_ratio : int
        Bytes that a file may claim per stored byte, beyond `largest_unstored` (HDF5) or `largest_read` (Parquet).
    largest_block : int
        Bytes of a block of rows, as read and as single-precision features.
    look_rows, look_cells : int
        Rows and cells of the first look, whichever bound is reached first.
    look_batch : int
        Rows over which the first look sums at once, the same for all formats, so that means have the same bits.
    """

    longest_line: int = 1 << 26
    longest_gap: int = 1 << 24
    most_columns: int = 1 << 16
    longest_name: int = 1 << 12
    deepest_nesting: int = 64
    most_parsed_cells: int = 1 << 25
    text_block: int = 1 << 22
    widest_row: int = 1 << 24
    most_axes: int = 32
    longest_header: int = 1 << 16
    longest_label: int = 1 << 14
    largest_read: int = 1 << 28
    largest_whole: int = 1 << 30
    whole_ratio: int = 8
    largest_unstored: int = 1 << 32
    largest_ratio: int = 10_000
    largest_block: int = 1 << 31
    look_rows: int = 100_000
    look_cells: int = 1 << 22
    look_batch: int = 1024

    def n_look_rows(self, width: int) -> int:
        """Return how many rows of a width the first look reads."""
        return max(1, min(self.look_rows, self.look_cells // max(width, 1)))

    def rows_at_once(self, row_bytes: int) -> int:
        """Return how many rows of a size to read at once."""
        return max(1, self.largest_read // max(row_bytes, 1))


DEFAULT_LIMITS = Limits()
