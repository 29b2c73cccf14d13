"""Hadamard transforms on lanes, and the maps that are made of them.

Every loop works on tiles (see `lanes`), with the vector instructions of `vectors`.
"""

from collections import namedtuple

from numba import njit

from craftmaps._loops.vectors import (
    add_line,
    butterfly2,
    butterfly4,
    butterfly8,
    butterfly16,
    flipped1,
    flipped2,
    flipped4,
    flipped8,
    flipped16,
    multiply_complex_line,
    multiply_line,
    scale_line,
)

# Pieces of 2^10 lines (64 KiB) stay in the second-level cache while their small strides run.
_LEAF = 10

MaclaurinDraw = namedtuple(
    "MaclaurinDraw", ["signs", "rows", "used", "first_block", "n_loose", "n_linear", "n_constant"]
)
MaclaurinDraw.__doc__ = """What a Hadamard Maclaurin map has drawn, as the loops want it.

Feature groups are numbered g; group g multiplies the blocks first_block[g] to
first_block[g + 1] - 1, one for each factor of its highest degree. Block b flips the input by
signs[b] (one or two rows of +-1: real or complex weights), transforms it, and its number
rows[b, i] is the factor of feature i of the group, for i < used[b]. After the groups
stand n_loose constants (features of degree 0, and columns that stay zero), then the exact part:
n_linear copies of the input and n_constant constants.
"""

Subsample = namedtuple("Subsample", "outer residues log2_chunk")
Subsample.__doc__ = """Which rows of a Hadamard matrix of order R * B a down-projection keeps.

Row (a, b) of H_R (x) H_B needs chunk c of the input only through H_B and the sign H_R[a, c].
So outer[c, e] is that sign for output e, residues[e] is its b, and B is 2^log2_chunk.
"""


@njit(nogil=True, cache=True)
def _sweep(x, start, size, stride, log2_radix, line):
    """Run one butterfly pass over `size` numbers from `start`, at one stride."""
    step = stride << log2_radix
    # The choice stands outside the loops: LLVM does not move it there.
    if log2_radix == 3:
        for block in range(start, start + size, step):
            for i in range(block, block + stride, len(line)):
                butterfly8(x, i, stride, line)
    elif log2_radix == 4:
        for block in range(start, start + size, step):
            for i in range(block, block + stride, len(line)):
                butterfly16(x, i, stride, line)
    elif log2_radix == 2:
        for block in range(start, start + size, step):
            for i in range(block, block + stride, len(line)):
                butterfly4(x, i, stride, line)
    else:
        for block in range(start, start + size, step):
            for i in range(block, block + stride, len(line)):
                butterfly2(x, i, stride, line)


@njit(nogil=True, cache=True)
def _next_radix(log2_left):
    """Choose the next pass: radix 16 at the two smallest strides at most, then radix 8.

    Sixteen lines at a stride of 4 KiB or more fall into one set of an 8-way cache.
    """
    if log2_left < 3:
        return log2_left
    return 3 if log2_left % 3 == 0 or log2_left == 5 else 4


@njit(nogil=True, cache=True)
def transform(x, first, log2_size, line):
    """Transform 2^log2_size lines from line `first`, in place and without scaling."""
    _transform_from(x, first, log2_size, 0, line)


@njit(nogil=True, cache=True)
def _flip_and_transform(x, signs, into, first, log2_size, line):
    """Write to `into`, from line `first`, the transform of x with its lines multiplied by signs.

    The signs are applied in the first pass, which saves one way through the cache.
    """
    lanes = len(line)
    log2_radix = _next_radix(log2_size)
    for k in range(0, 1 << log2_size, 1 << log2_radix):
        at = (first + k) * lanes
        if log2_radix == 3:
            flipped8(into, at, x, k * lanes, signs, k, line)
        elif log2_radix == 4:
            flipped16(into, at, x, k * lanes, signs, k, line)
        elif log2_radix == 2:
            flipped4(into, at, x, k * lanes, signs, k, line)
        elif log2_radix == 1:
            flipped2(into, at, x, k * lanes, signs, k, line)
        else:
            flipped1(into, at, x, k * lanes, signs, k, line)
    _transform_from(into, first, log2_size, log2_radix, line)


@njit(nogil=True, cache=True)
def _transform_from(x, first, log2_size, log2_done, line):
    """Run the passes of a transform whose first strides, up to 2^log2_done, are done."""
    lanes = len(line)
    start = first * lanes
    leaf = 0  # log2 of the piece whose small strides run together
    while leaf < log2_size and leaf + _next_radix(log2_size - leaf) <= _LEAF:
        leaf += _next_radix(log2_size - leaf)
    for piece in range(1 << (log2_size - leaf)):
        base = start + ((piece << leaf) * lanes)
        done = log2_done
        while done < leaf:
            radix = _next_radix(log2_size - done)
            _sweep(x, base, lanes << leaf, lanes << done, radix, line)
            done += radix
        # As in a counter that carries: a larger stride runs as soon as its pieces are ready.
        finished = piece + 1
        while done < log2_size:
            radix = _next_radix(log2_size - done)
            if finished & ((1 << radix) - 1):
                break
            finished >>= radix
            size = lanes << (done + radix)
            _sweep(x, base + (lanes << leaf) - size, size, lanes << done, radix, line)
            done += radix


@njit(nogil=True, cache=True)
def _store(z, first, count, out, row, column, line):
    """Write lines first to first + count - 1 of z as columns of the rows of a tile."""
    lanes = len(line)
    for lane in range(min(lanes, out.shape[0] - row)):
        at = first * lanes + lane
        for k in range(count):
            out[row + lane, column + k] = z[at + k * lanes]


@njit(nogil=True, cache=True)
def _multiply_real(z, at, factor, rows, n_going_on, n_used, weight, is_first, line):
    """Multiply features by the factor of one block; those that end here get their weight."""
    one = weight.dtype.type(1)
    for i in range(n_used):
        number = one if i < n_going_on else weight[i]
        if is_first:
            scale_line(z, at + i, factor, rows[i], number, line)
        else:
            multiply_line(z, at + i, factor, rows[i], number, line)


@njit(nogil=True, cache=True)
def _multiply_complex(z, at, n_features, factor, order, rows, n_going_on, n_used, weight, is_first, line):
    """Do as `_multiply_real` does for features whose parts lie n_features lines apart."""
    one = weight.dtype.type(1)
    for i in range(n_used):
        re, im = at + i, at + n_features + i
        w_re = one if i < n_going_on else weight[i]
        w_im = one if i < n_going_on else weight[n_features + i]
        if is_first:
            scale_line(z, re, factor, rows[i], w_re, line)
            scale_line(z, im, factor, order + rows[i], w_im, line)
        else:
            multiply_complex_line(z, re, im, factor, rows[i], order + rows[i], w_re, w_im, line)


@njit(nogil=True, cache=True)
def _maclaurin_group(x, draw, g, weight, z, at, factor, line):
    """Write the features of group g to the lines of z from `at`; return how many lines."""
    order = draw.signs.shape[2]
    n_parts = draw.signs.shape[1]
    log2_order = 0
    while (1 << log2_order) < order:
        log2_order += 1
    first, end = draw.first_block[g], draw.first_block[g + 1]
    n_features = draw.used[first]
    for b in range(first, end):
        for part in range(n_parts):
            _flip_and_transform(x, draw.signs[b, part], factor, part * order, log2_order, line)
        n_going_on = draw.used[b + 1] if b + 1 < end else 0
        if n_parts == 1:
            _multiply_real(z, at, factor, draw.rows[b], n_going_on, draw.used[b], weight, b == first, line)
        else:
            _multiply_complex(
                z, at, n_features, factor, order, draw.rows[b], n_going_on, draw.used[b], weight, b == first, line
            )
    return n_parts * n_features


@njit(nogil=True, cache=True)
def _maclaurin_segment(x, draw, segment, weight, z, at, factor, line):
    """Write one piece of the features to the lines of z from `at`; return how many lines.

    First come the groups, then the loose constants, `order` at a time, then the exact part.
    """
    n_groups = draw.first_block.size - 1
    order = draw.signs.shape[2]
    last = _n_segments(draw) - 1
    if segment < n_groups:
        return _maclaurin_group(x, draw, segment, weight, z, at, factor, line)
    if segment == last - 1:
        for k in range(draw.n_linear):
            scale_line(z, at + k, x, k, weight[k], line)
        return draw.n_linear
    count = draw.n_constant if segment == last else min(order, draw.n_loose - (segment - n_groups) * order)
    lanes = len(line)
    for c in range(count):
        for lane in range(lanes):
            z[(at + c) * lanes + lane] = weight[c]
    return count


@njit(nogil=True, cache=True)
def _n_segments(draw):
    """Count the groups, the pieces of the loose constants, and two for the exact part."""
    order = draw.signs.shape[2]
    return draw.first_block.size + 1 + (draw.n_loose + order - 1) // order


@njit(nogil=True, cache=True)
def maclaurin_rows(tiles, draw, weight, z, factor, out, line):
    """Write the Maclaurin features of the rows in the tiles to the rows of `out`."""
    for t in range(tiles.shape[0]):
        column = 0
        for segment in range(_n_segments(draw)):
            count = _maclaurin_segment(tiles[t], draw, segment, weight[column:], z, 0, factor, line)
            _store(z, 0, count, out, t * len(line), column, line)
            column += count


@njit(nogil=True, cache=True)
def _accumulate(z, first, chunk, subsample, total, line):
    """Transform one chunk of the input and add what it gives to every output."""
    outer, residues = subsample.outer, subsample.residues
    transform(z, first, subsample.log2_chunk, line)
    for e in range(residues.size):
        sign = z.dtype.type(outer[chunk, e])
        if chunk == 0:
            scale_line(total, e, z, first + residues[e], sign, line)
        else:
            add_line(total, e, z, first + residues[e], sign, line)


@njit(nogil=True, cache=True)
def subsampled_rows(tiles, subsample, total, out, line):
    """Project the rows in the tiles down, one chunk at a time; the tiles are overwritten."""
    for t in range(tiles.shape[0]):
        for chunk in range(subsample.outer.shape[0]):
            _accumulate(tiles[t], chunk << subsample.log2_chunk, chunk, subsample, total, line)
        _store(total, 0, subsample.residues.size, out, t * len(line), 0, line)


@njit(nogil=True, cache=True)
def craft_rows(tiles, draw, weight, n_kept, subsample, z, factor, total, out, line):
    """Project the rows in the tiles up and down; only a chunk of up-features is ever there.

    The last n_kept columns of the up-features are not projected down but kept as they are.
    """
    lanes = len(line)
    log2_chunk = subsample.log2_chunk
    size = 1 << log2_chunk
    n_down = weight.size - n_kept
    n_projected = subsample.residues.size
    for t in range(tiles.shape[0]):
        column, chunk, ready = 0, 0, 0
        for segment in range(_n_segments(draw)):
            if column >= n_down:
                count = _maclaurin_segment(tiles[t], draw, segment, weight[column:], z, 0, factor, line)
                _store(z, 0, count, out, t * lanes, n_projected + column - n_down, line)
                column += count
                continue
            count = _maclaurin_segment(tiles[t], draw, segment, weight[column:], z, ready, factor, line)
            column += count
            ready += count
            if column == n_down:  # the last chunk ends in zeros
                full = (ready + size - 1) >> log2_chunk << log2_chunk
                z[ready * lanes : full * lanes] = 0
                ready = full
            used = 0
            while ready - used >= size:
                _accumulate(z, used, chunk, subsample, total, line)
                used += size
                chunk += 1
            if used and ready > used:
                z[: (ready - used) * lanes] = z[used * lanes : ready * lanes]
            ready -= used
        _store(total, 0, n_projected, out, t * lanes, 0, line)
