"""Products of whole numbers of 16 bits with few columns, and of their transpose with what comes of it.

BLAS is made for products of many columns: of ten it makes a quarter of what a processor can, and it wants the numbers
converted first. Here a block of them is converted into the first cache once for all columns, which come in groups that
fill a vector. Rows are few enough for both products to find the numbers in the second cache.

Numba's cache does not notice changes of this file: after one, remove the caches with `make clean`.
"""

from craftmaps._loops.compiled import loop
from craftmaps._loops.vector_type import add_product, load, load_whole, spread, spread_at, store

ROWS, COLUMNS = 64, 128  # of numbers that are converted together: half of the first cache
_STEP = 8  # rows whose sums stand in registers


@loop
def add_sums(numbers, values, total, room, line):
    """Add the sums over rows of numbers times values to total.

    `values` has n_groups times as many lines as there are rows, `total` as many as there are columns of numbers.
    """
    for first in range(0, numbers.shape[0], ROWS):
        _add_sums_of_block(numbers, first, values, first, numbers.shape[0], total, room, line)


@loop
def add_normal_products(numbers, scales, weights, coef, shift, total, outputs, room, line):
    """Add the sums over rows of numbers times weights times (numbers times coefficients times scales, less a shift).

    `coef` and `total` have, for each group of columns, a line for each column of numbers, `shift` one line.
    """
    n_groups, lanes = len(shift) // len(line), len(line)
    for first in range(0, numbers.shape[0], ROWS):
        add_outputs(numbers, first, coef, outputs, room, line)
        for group in range(n_groups):
            less = load(shift, group * lanes, line)
            for row in range(min(ROWS, numbers.shape[0] - first)):
                at = (group * ROWS + row) * lanes
                value = load(outputs, at, line) * spread(scales[first + row], line) - less
                store(outputs, at, value * spread(weights[first + row], line))
        _add_sums_of_block(numbers, first, outputs, 0, ROWS, total, room, line)


@loop
def add_outputs(numbers, first, coef, outputs, room, line):
    """Write the products of a block of rows with the coefficients, a group of columns after the other."""
    width, lanes = numbers.shape[1], len(line)
    outputs[:] = 0
    n_rows = min(ROWS, numbers.shape[0] - first)
    for j in range(0, width, COLUMNS):
        n_columns = min(COLUMNS, width - j)
        _convert(numbers, first, n_rows, j, n_columns, room, line)
        for group in range(len(coef) // (width * lanes)):
            start = (group * width + j) * lanes
            for row in range(0, n_rows, _STEP):
                _outputs_of_rows(room, row, n_columns, coef, start, outputs, (group * ROWS + row) * lanes, line)


@loop
def _add_sums_of_block(numbers, first, values, first_value, n_values, total, room, line):
    """Add the sums over a block of rows; its values are lines from the first one on, for each group n_values apart."""
    width, lanes = numbers.shape[1], len(line)
    n_rows = min(ROWS, numbers.shape[0] - first)
    for j in range(0, width, COLUMNS):
        n_columns = min(COLUMNS, width - j)
        _convert(numbers, first, n_rows, j, n_columns, room, line)
        for group in range(len(total) // (width * lanes)):
            start = (group * width + j) * lanes
            for row in range(0, n_rows, _STEP):
                at = (group * n_values + first_value + row) * lanes
                if row + _STEP <= n_rows:
                    _sums_of_rows(room, row, n_columns, values, at, total, start, line)
                else:
                    for i in range(n_rows - row):
                        _sums_of_row(room, row + i, n_columns, values, at + i * lanes, total, start, line)


@loop
def _convert(numbers, first, n_rows, j, n_columns, room, line):
    """Convert a block of numbers; rows that are missing from a step are zeros."""
    lanes = len(line)
    n_whole = n_columns // lanes * lanes
    for row in range(n_rows):
        x, into = numbers[first + row], row * COLUMNS
        for k in range(0, n_whole, lanes):
            store(room, into + k, load_whole(x, j + k, line))
        for k in range(n_whole, n_columns):
            room[into + k] = x[j + k]
    for row in range(n_rows, -(-n_rows // _STEP) * _STEP):
        room[row * COLUMNS : row * COLUMNS + n_columns] = 0


@loop
def _outputs_of_rows(room, row, n_columns, coef, start, outputs, at, line):
    """Add products of eight rows with the coefficients of some columns to their outputs."""
    lanes, x = len(line), row * COLUMNS
    a, b = load(outputs, at, line), load(outputs, at + lanes, line)
    c, d = load(outputs, at + 2 * lanes, line), load(outputs, at + 3 * lanes, line)
    e, f = load(outputs, at + 4 * lanes, line), load(outputs, at + 5 * lanes, line)
    g, h = load(outputs, at + 6 * lanes, line), load(outputs, at + 7 * lanes, line)
    for k in range(n_columns):
        factor, y = load(coef, start + k * lanes, line), x + k
        a = add_product(a, factor, spread_at(room, y, line))
        b = add_product(b, factor, spread_at(room, y + COLUMNS, line))
        c = add_product(c, factor, spread_at(room, y + 2 * COLUMNS, line))
        d = add_product(d, factor, spread_at(room, y + 3 * COLUMNS, line))
        e = add_product(e, factor, spread_at(room, y + 4 * COLUMNS, line))
        f = add_product(f, factor, spread_at(room, y + 5 * COLUMNS, line))
        g = add_product(g, factor, spread_at(room, y + 6 * COLUMNS, line))
        h = add_product(h, factor, spread_at(room, y + 7 * COLUMNS, line))
    store(outputs, at, a)
    store(outputs, at + lanes, b)
    store(outputs, at + 2 * lanes, c)
    store(outputs, at + 3 * lanes, d)
    store(outputs, at + 4 * lanes, e)
    store(outputs, at + 5 * lanes, f)
    store(outputs, at + 6 * lanes, g)
    store(outputs, at + 7 * lanes, h)


@loop
def _sums_of_rows(room, row, n_columns, values, at, total, start, line):
    """Add products of eight rows with their values to the sums of some columns."""
    lanes, x = len(line), row * COLUMNS
    a, b = load(values, at, line), load(values, at + lanes, line)
    c, d = load(values, at + 2 * lanes, line), load(values, at + 3 * lanes, line)
    e, f = load(values, at + 4 * lanes, line), load(values, at + 5 * lanes, line)
    g, h = load(values, at + 6 * lanes, line), load(values, at + 7 * lanes, line)
    for k in range(n_columns):
        y, into = x + k, start + k * lanes
        total_of_column = load(total, into, line)
        total_of_column = add_product(total_of_column, a, spread_at(room, y, line))
        total_of_column = add_product(total_of_column, b, spread_at(room, y + COLUMNS, line))
        total_of_column = add_product(total_of_column, c, spread_at(room, y + 2 * COLUMNS, line))
        total_of_column = add_product(total_of_column, d, spread_at(room, y + 3 * COLUMNS, line))
        total_of_column = add_product(total_of_column, e, spread_at(room, y + 4 * COLUMNS, line))
        total_of_column = add_product(total_of_column, f, spread_at(room, y + 5 * COLUMNS, line))
        total_of_column = add_product(total_of_column, g, spread_at(room, y + 6 * COLUMNS, line))
        total_of_column = add_product(total_of_column, h, spread_at(room, y + 7 * COLUMNS, line))
        store(total, into, total_of_column)


@loop
def _sums_of_row(room, row, n_columns, values, at, total, start, line):
    """Add products of one row with its values to the sums of some columns."""
    lanes = len(line)
    value = load(values, at, line)
    for k in range(n_columns):
        into = start + k * lanes
        store(total, into, add_product(load(total, into, line), value, spread_at(room, row * COLUMNS + k, line)))
