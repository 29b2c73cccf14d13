"""Products of whole numbers of 16 bits with few columns, and of their transpose with what comes of it.

BLAS is made for products of many columns: of ten it makes a quarter of what a processor can, and it wants the numbers
converted first. Here vectors lie along a row: one is converted for all columns, whose sums stand in registers. Rows of
a block are few enough for both products to find their numbers in the second cache.

Lines are vectors of numbers of neighbouring features, as long as `line`; rows of numbers are filled up with zeros to
pairs of lines. Columns come in groups, as many as `columns` has; a group of coefficients, or of sums, has for each line
of features a line for each column.

Numba's cache does not notice changes of this file: after one, remove the caches with `make clean`.
"""

import numpy as np

from craftmaps._loops.compiled import loop
from craftmaps._loops.vector_type import add_multiples, add_products, fetch, load_lines, load_whole, store_lines
from craftmaps._loops.vectors import VECTOR_BYTES

LINE = (0,) * (VECTOR_BYTES // 4)  # features that are multiplied together
MOST_COLUMNS = VECTOR_BYTES // 32 * 5  # whose sums for two rows stand in registers: of 64 bytes there are 32, else 16
ROWS = 32
_SMALLEST = 1e-33  # what divides the largest number within float32
_FEATURES = 256  # whose coefficients, for a group of columns, fit into half of the first cache


@loop
def round_rows(Z, bits, mask, infinite, numbers, factors, squares, largest, largest_bits):
    """Round rows to numbers of 16 bits and a factor each, and sum their squares, inf for rows that are not finite.

    `bits` are the same memory as Z, in whole numbers: without their sign, by `mask`, these are in the order of
    absolute values, and a compiler that may not reorder sums of floats does find the largest of them in vectors.
    `infinite` are the bits of infinity. `largest` and `largest_bits` are one number, of the types of Z and bits.
    """
    for row in range(Z.shape[0]):
        x, n = Z[row], numbers[row]
        most = bits[row, 0] & mask
        for k in range(1, x.shape[0]):
            most = max(most, bits[row, k] & mask)
        largest_bits[0] = most
        factor = 1.0 / 32767
        if largest[0] > _SMALLEST:
            factor *= largest[0]
        if most >= infinite:
            squares[row] = factors[row] = np.inf
            n[:] = 0
            continue
        inverse, total = Z.dtype.type(1.0 / factor), 0
        for k in range(x.shape[0]):
            number = np.int32(np.rint(x[k] * inverse))
            n[k] = number
            total += number * number
        factors[row] = factor
        squares[row] = total * factor * factor


@loop
def add_sums(numbers, values, total, line, columns):
    """Add the sums over rows of numbers times values, of shape (n_groups, n_rows, group), to total."""
    for first in range(0, numbers.shape[0], ROWS):
        _add_sums_of_block(numbers, first, values, first, total, line, columns)


@loop
def write_outputs(numbers, coef, outputs, partial, line, columns):
    """Write the products of numbers with coefficients, of shape (n_groups, n_rows, group)."""
    for first in range(0, numbers.shape[0], ROWS):
        for group in range(coef.shape[0]):
            _outputs_of_block(numbers, first, coef[group], outputs[group], first, partial, line, columns)


@loop
def add_normal_products(numbers, scales, weights, coef, shift, total, outputs, partial, line, columns):
    """Add the sums over rows of numbers times weights times (numbers times coefficients times scales, less a shift)."""
    n_rows = numbers.shape[0]
    for first in range(0, n_rows, ROWS):
        for group in range(coef.shape[0]):
            _outputs_of_block(numbers, first, coef[group], outputs[group], 0, partial, line, columns)
            for row in range(min(ROWS, n_rows - first)):
                scale, weight = scales[first + row], weights[first + row]
                for c in range(len(columns)):
                    outputs[group, row, c] = (outputs[group, row, c] * scale - shift[group, c]) * weight
        _add_sums_of_block(numbers, first, outputs, 0, total, line, columns)


@loop
def _outputs_of_block(numbers, first, coef, outputs, into, partial, line, columns):
    """Write the products of a block of rows with a group of coefficients to rows of outputs.

    What has no partner in a pair of rows is its own.
    """
    n_rows, size = min(ROWS, numbers.shape[0] - first), len(line) * len(columns)
    partial[:] = 0
    for j in range(0, numbers.shape[1], _FEATURES):
        stop = min(j + _FEATURES, numbers.shape[1])
        for row in range(0, n_rows, 2):
            x, y = numbers[first + row], numbers[first + min(row + 1, n_rows - 1)]
            a = load_lines(partial, row * size, line, columns)
            b = load_lines(partial, (row + 1) * size, line, columns)
            for k in range(stop, stop + _FEATURES, 32):
                fetch(numbers, first + row, k)
                fetch(numbers, first + row + 1, k)
            for k in range(j, stop, len(line)):
                a = add_products(a, load_whole(x, k, line), coef, k * len(columns))
                b = add_products(b, load_whole(y, k, line), coef, k * len(columns))
            store_lines(partial, row * size, a)
            store_lines(partial, (row + 1) * size, b)
    for row in range(n_rows):
        for c in range(len(columns)):
            total = partial[row * size + c * len(line)]
            for i in range(1, len(line)):
                total += partial[row * size + c * len(line) + i]
            outputs[into + row, c] = total


@loop
def _add_sums_of_block(numbers, first, values, first_value, total, line, columns):
    """Add the sums over a block of rows, whose values are rows from the first one on."""
    n_rows, n_values = min(ROWS, numbers.shape[0] - first), len(columns)
    for group in range(total.shape[0]):
        into, of_group = total[group], values[group].reshape(-1)
        for k in range(0, numbers.shape[1], 2 * len(line)):
            at = k * n_values
            a = load_lines(into, at, line, columns)
            b = load_lines(into, at + len(line) * n_values, line, columns)
            for row in range(n_rows):
                x, value = numbers[first + row], (first_value + row) * n_values
                fetch(numbers, first + row, k + 4 * len(line))
                a = add_multiples(a, load_whole(x, k, line), of_group, value)
                b = add_multiples(b, load_whole(x, k + len(line), line), of_group, value)
            store_lines(into, at, a)
            store_lines(into, at + len(line) * n_values, b)
