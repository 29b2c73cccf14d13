"""Sums of symmetric matrices, one triangle at a time."""

import numba


@numba.njit(nogil=True, cache=True)
def add_lower(total, block, first, last):
    """Add the lower triangle of the columns first to last - 1 of a block, both in Fortran order."""
    for column in range(first, last):
        for row in range(column, total.shape[0]):
            total[row, column] += block[row, column]
