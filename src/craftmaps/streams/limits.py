"""Limits on what a file may hold or claim, so that no file costs unbounded time or memory before it is refused."""

# Bytes of a line of text, line ends within quotes counted.
LONGEST_LINE = 1 << 26
# Bytes of text without a row: blank lines, or comments of svmlight.
LONGEST_GAP = 1 << 24
# Columns of a table, and characters of the name of one.
MOST_COLUMNS = 1 << 16
LONGEST_NAME = 1 << 12
# Lists and objects within each other in JSON.
DEEPEST = 64
# Cells of JSON lines that are parsed at once: an absent field takes no byte of the file, but a cell of memory.
MOST_PARSED = 1 << 25
# Numbers in a row of a matrix, its axes, and bytes of the rows that are read, or looked at, at once.
WIDEST_ROW = 1 << 24
MOST_AXES = 32
LARGEST_READ = 1 << 28
# Bytes of the header of an NPY file, and characters of a label.
LONGEST_HEADER = 1 << 16
LONGEST_LABEL = 1 << 14
# Bytes that are held whole where a format cannot be read in pieces: a chunk of HDF5, an NPZ array in Fortran order.
LARGEST_WHOLE = 1 << 30
# Rows that a file claims without storing them: above both bounds (bytes, bytes for each stored one) it is refused.
LARGEST_UNSTORED = 1 << 32
LARGEST_RATIO = 10_000
# Bytes of a block of rows, as read and as features in single precision.
LARGEST_BLOCK = 1 << 31
