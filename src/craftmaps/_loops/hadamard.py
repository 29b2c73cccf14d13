"""Hadamard transforms on lanes, and the maps that are made of them.

Every loop works on tiles (see `lanes`), with the vector instructions of `vectors`.
"""

from collections import namedtuple

import numpy as np

from craftmaps._loops.compiled import entry, loop
from craftmaps._loops.squares import store_square
from craftmaps._loops.vector_type import load, spread, store
from craftmaps._loops.vectors import (
    SQUARE_BYTES,
    add_line,
    add_products1,
    add_products4,
    added1,
    added2,
    added4,
    added8,
    added16,
    butterfly2,
    butterfly4,
    butterfly8,
    butterfly16,
    flipped1,
    flipped2,
    flipped4,
    flipped8,
    flipped16,
)

# Pieces of 2^10 lines (64 KiB) stay in the second-level cache while their small strides run.
_LEAF = 10
# Columns of a result that are put together before they are written.
_PIECE = 128

MaclaurinDraw = namedtuple(
    "MaclaurinDraw",
    ["signs", "rows", "used", "first_factor", "first_block", "n_loose", "n_squared", "n_linear", "n_constant"],
)
MaclaurinDraw.__doc__ = """What a Hadamard Maclaurin map has drawn, as the loops want it.

Block b flips the input by signs[b] (one or two rows of +-1: real or complex weights) and transforms
it; its numbers are wide lines, where the imaginary part of a line follows the real one. Feature
groups are numbered g; group g has the factors f = first_factor[g] to first_factor[g + 1] - 1, as many
as its highest degree, and its first factor takes block first_block[g], the next one the block after
it, and so on: groups may share blocks. The blocks of a group stand one behind the other, and number
rows[f, i] / 8 of them is the factor of feature i of the group, for i < used[f].
After the groups stand n_loose constants (features of degree 0, and columns that stay zero),
then the exact part: the products of any two of the first n_squared numbers of the input, n_linear copies of the
input and n_constant constants.
"""

Subsample = namedtuple("Subsample", "outer residues log2_chunk")
Subsample.__doc__ = """Which rows of a Hadamard matrix of order R * B a down-projection keeps.

Row (a, b) of H_R (x) H_B needs chunk c of the input only through H_B and the sign H_R[a, c].
So outer[c, b] is that sign for the output with residue b, residues[e] is the b of output e, and B is 2^log2_chunk.
Residues that no output has get any sign: they are added up for nothing, which is cheaper than to choose.
"""

Fold = namedtuple("Fold", "places outputs log2_chunk")
Fold.__doc__ = """How a down-projection adds up chunks of 2^log2_chunk numbers.

Number c is added to line places[c] of a sum. Its first 2^log2_chunk lines are then transformed; what was added to
lines behind them stays as it is. The outputs are lines outputs[e].
"""


@loop
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


@loop
def _next_radix(log2_left):
    """Choose the next pass: radix 16 at the two smallest strides at most, then radix 8.

    Sixteen lines at a stride of 4 KiB or more fall into one set of an 8-way cache.
    """
    if log2_left < 3:
        return log2_left
    return 3 if log2_left % 3 == 0 or log2_left == 5 else 4


@loop
def transform(x, first, log2_size, line):
    """Transform 2^log2_size lines from line `first`, in place and without scaling."""
    _transform_from(x, first, log2_size, 0, line)


@loop
def _flip_and_transform(x, signs, into, first, log2_size, line, wide):
    """Write to the wide lines of `into`, from number `first`, the transform of x with its lines multiplied by signs.

    The signs are applied in the first pass, which saves one way through the cache.
    """
    order = 1 << log2_size
    log2_radix = _next_radix(log2_size)
    for k in range(0, order, 1 << log2_radix):
        at, source = (first + k) * len(wide), k * len(line)
        if log2_radix == 3:
            flipped8(into, at, x, source, signs, k, order, line, wide)
        elif log2_radix == 4:
            flipped16(into, at, x, source, signs, k, order, line, wide)
        elif log2_radix == 2:
            flipped4(into, at, x, source, signs, k, order, line, wide)
        elif log2_radix == 1:
            flipped2(into, at, x, source, signs, k, order, line, wide)
        else:
            flipped1(into, at, x, source, signs, k, order, line, wide)
    _transform_from(into, first, log2_size, log2_radix, wide)


@loop
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


@entry
def _pieces(z, line):
    """Make the room that `_store` needs."""
    return np.empty((len(line), _PIECE), z.dtype)


@loop
def _store(z, lines, count, pieces, out, row, column, line):
    """Write the first `count` of some lines of z as columns of the rows of a tile.

    Rows of `out` often lie a power of two apart and so in one set of the cache, where they drive each other out:
    a piece of each is put together elsewhere and written at once.
    """
    lanes = len(line)
    n_rows = min(lanes, out.shape[0] - row)
    width = min(lanes, SQUARE_BYTES // out.itemsize)
    done = 0
    if n_rows == lanes and out.strides[1] == out.itemsize:
        while done + lanes <= count:
            n = min(_PIECE, (count - done) // lanes * lanes)
            for k in range(0, n, width):
                store_square(z, lines, done + k, pieces, 0, k, line)
            for lane in range(lanes):
                at = (row + lane) * (out.strides[0] // out.itemsize) + column + done
                for k in range(0, n, lanes):
                    store(out, at + k, load(pieces, lane * _PIECE + k, line))
            done += n
        while done + width <= count:
            store_square(z, lines, done, out, row, column + done, line)
            done += width
    for lane in range(n_rows):
        for k in range(done, count):
            out[row + lane, column + k] = z[lines[k] * lanes + lane]


@loop
def _transform_blocks(x, draw, g, factor, line, wide):
    """Transform the input by the blocks of group g, unless the group before it has done so."""
    order = draw.signs.shape[2]
    first = draw.first_block[g]
    n_ready = 0
    if g > 0 and draw.first_block[g - 1] == first:
        n_ready = draw.first_factor[g] - draw.first_factor[g - 1]
    log2_order = 0
    while (1 << log2_order) < order:
        log2_order += 1
    for j in range(n_ready, draw.first_factor[g + 1] - draw.first_factor[g]):
        _flip_and_transform(x, draw.signs[first + j], factor, j * order, log2_order, line, wide)


@loop
def _add_group(x, draw, g, weight, into, lines, factor, line, wide):
    """Add the features of group g to lines; imaginary parts come after all real ones."""
    _transform_blocks(x, draw, g, factor, line, wide)
    order, rows, used = draw.signs.shape[2], draw.rows, draw.used
    first = draw.first_factor[g]
    n = used[first]
    start = 0
    for degree in range(draw.first_factor[g + 1] - first, 0, -1):  # the highest comes first
        stop = used[first + degree - 1]
        fours = start + (stop - start) // 4 * 4
        for i in range(start, fours, 4):
            add_products4(into, lines, factor, rows, first, i, degree, order, weight, n, line, wide)
        for i in range(fours, stop):
            add_products1(into, lines, factor, rows, first, i, degree, order, weight, n, line, wide)
        start = stop


# Features come in segments: first the groups, then the loose constants, `order` at a time, then the exact part: the
# products that begin with each number of the input, the linear and the constant term.


@loop
def _n_segments(draw):
    """Count the segments."""
    order = draw.signs.shape[2]
    return draw.first_block.size + 2 + (draw.n_loose + order - 1) // order + draw.n_squared


@loop
def _segment_size(draw, segment):
    """Count the columns of a segment."""
    n_groups, last = draw.first_block.size, _n_segments(draw) - 1
    n_parts, order = draw.signs.shape[1:]
    if segment < n_groups:
        return n_parts * draw.used[draw.first_factor[segment]]
    if segment >= last - 1:
        return draw.n_constant if segment == last else draw.n_linear
    if segment >= last - 1 - draw.n_squared:
        return last - 1 - segment
    return min(order, draw.n_loose - (segment - n_groups) * order)


@loop
def _add_quadratic(x, i, weight, into, lines, count, line):
    """Add the products of number i of the input with itself and the numbers behind it to lines."""
    first = load(x, i * len(line), line)
    for k in range(count):
        at = lines[k] * len(line)
        product = first * load(x, (i + k) * len(line), line) * spread(weight[k], line)
        store(into, at, load(into, at, line) + product)


@loop
def _add_segment(x, draw, segment, weight, into, lines, factor, line, wide):
    """Add the columns of a segment to lines[0], lines[1], ... of `into`; return how many they are."""
    count, linear = _segment_size(draw, segment), _n_segments(draw) - 2
    if segment < draw.first_block.size:
        _add_group(x, draw, segment, weight, into, lines, factor, line, wide)
    elif linear - draw.n_squared <= segment < linear:
        _add_quadratic(x, draw.n_squared - count, weight, into, lines, count, line)
    elif segment == linear:
        for k in range(count):
            add_line(into, lines[k], x, k, weight[k], line)
    else:
        for k in range(count):
            at = lines[k] * len(line)
            store(into, at, load(into, at, line) + spread(weight[k], line))
    return count


@loop
def _write_segments(x, draw, weight, z, lines, factor, pieces, out, row, line, wide):
    """Write all columns of the rows in a tile, one segment after the other."""
    column = 0
    for segment in range(_n_segments(draw)):
        z[: _segment_size(draw, segment) * len(line)] = 0
        count = _add_segment(x, draw, segment, weight[column:], z, lines, factor, line, wide)
        _store(z, lines, count, pieces, out, row, column, line)
        column += count


@entry
def maclaurin_rows(tiles, draw, weight, z, factor, out, line, wide):
    """Write the Maclaurin features of the rows in the tiles to the rows of `out`."""
    lines, pieces = np.arange(2 * draw.signs.shape[2]), _pieces(z, line)
    for t in range(tiles.shape[0]):
        _write_segments(tiles[t], draw, weight, z, lines, factor, pieces, out, t * len(line), line, wide)


@loop
def _accumulate(z, first, chunk, subsample, total, line):
    """Transform one chunk of the input and add its lines, with their signs, to the sums; z is overwritten.

    They are added in the last pass, which saves one way through the cache.
    """
    lanes, signs, log2_size = len(line), subsample.outer, subsample.log2_chunk
    log2_radix = log2_size
    while log2_radix != _next_radix(log2_radix):
        log2_radix -= _next_radix(log2_radix)
    log2_piece = log2_size - log2_radix
    if log2_piece:
        for piece in range(1 << log2_radix):
            _transform_from(z, first + (piece << log2_piece), log2_piece, 0, line)
    n, start, sign = 1 << log2_piece, first * lanes, chunk << log2_size
    if log2_radix == 4:
        for i in range(n):
            added16(total, i * lanes, z, start + i * lanes, n, signs, sign + i, line)
    elif log2_radix == 3:
        for i in range(n):
            added8(total, i * lanes, z, start + i * lanes, n, signs, sign + i, line)
    elif log2_radix == 2:
        for i in range(n):
            added4(total, i * lanes, z, start + i * lanes, n, signs, sign + i, line)
    elif log2_radix == 1:
        for i in range(n):
            added2(total, i * lanes, z, start + i * lanes, n, signs, sign + i, line)
    else:
        added1(total, 0, z, start, n, signs, sign, line)


@entry
def subsampled_rows(tiles, subsample, total, out, line):
    """Project the rows in the tiles down, one chunk at a time; the tiles are overwritten."""
    residues, pieces = subsample.residues, _pieces(total, line)
    for t in range(tiles.shape[0]):
        total[:] = -0.0  # which changes nothing, not even the sign of a zero, that is added to it
        for chunk in range(subsample.outer.shape[0]):
            _accumulate(tiles[t], chunk << subsample.log2_chunk, chunk, subsample, total, line)
        _store(total, residues, residues.size, pieces, out, t * len(line), 0, line)


@loop
def _accumulate_segments(x, draw, weight, n_kept, subsample, z, lines, factor, total, pieces, out, row, line, wide):
    """Add all that is projected down to the outputs of a tile, a chunk at a time, and write what is kept as it is."""
    lanes = len(line)
    log2_chunk = subsample.log2_chunk
    size = 1 << log2_chunk
    n_down = weight.size - n_kept
    column, chunk, ready = 0, 0, 0
    for segment in range(_n_segments(draw)):
        z[ready * lanes : (ready + _segment_size(draw, segment)) * lanes] = 0
        count = _add_segment(x, draw, segment, weight[column:], z, lines[ready:], factor, line, wide)
        if column >= n_down:
            _store(z, lines, count, pieces, out, row, subsample.residues.size + column - n_down, line)
            column += count
            continue
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
        ready -= used
        if used:  # what is left goes to the front
            for i in range(ready * lanes):
                z[i] = z[used * lanes + i]


@entry
def craft_rows(tiles, draw, weight, n_kept, subsample, z, factor, total, out, line, wide):
    """Project the rows in the tiles up and down; only a chunk of up-features is ever there.

    The last n_kept columns of the up-features are not projected down but kept as they are.
    """
    residues, lines, pieces = subsample.residues, np.arange(z.size // len(line)), _pieces(z, line)
    for t in range(tiles.shape[0]):
        row = t * len(line)
        total[:] = -0.0
        _accumulate_segments(
            tiles[t], draw, weight, n_kept, subsample, z, lines, factor, total, pieces, out, row, line, wide
        )
        _store(total, residues, residues.size, pieces, out, row, 0, line)


@loop
def _add_chunks(x, places, total, line):
    """Add the numbers of the rows in a tile up."""
    one = total.dtype.type(1)
    total[:] = 0
    for k in range(places.size):
        add_line(total, places[k], x, k, one, line)


@loop
def _add_segments(x, draw, weight, places, factor, total, line, wide):
    """Add all up-features of the rows in a tile up as they come."""
    total[:] = 0
    column = 0
    for segment in range(_n_segments(draw)):
        column += _add_segment(x, draw, segment, weight[column:], total, places[column:], factor, line, wide)


@loop
def _store_fold(fold, total, pieces, out, row, line):
    """Transform the sum of the chunks and write the outputs."""
    transform(total, 0, fold.log2_chunk, line)
    _store(total, fold.outputs, fold.outputs.size, pieces, out, row, 0, line)


@entry
def folded_rows(tiles, fold, total, out, line):
    """Project the rows in the tiles down: add up their chunks, then transform once."""
    pieces = _pieces(total, line)
    for t in range(tiles.shape[0]):
        _add_chunks(tiles[t], fold.places, total, line)
        _store_fold(fold, total, pieces, out, t * len(line), line)


@entry
def folded_craft_rows(tiles, draw, weight, fold, factor, total, out, line, wide):
    """Project the rows in the tiles up and down; up-features are added up as they come."""
    pieces = _pieces(total, line)
    for t in range(tiles.shape[0]):
        _add_segments(tiles[t], draw, weight, fold.places, factor, total, line, wide)
        _store_fold(fold, total, pieces, out, t * len(line), line)
