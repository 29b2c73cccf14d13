"""Squares of numbers, transposed in registers: the way of rows into lanes and out of them.

Numba's cache does not notice changes of this file: after one, remove the caches with `make clean`.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from craftmaps._loops.vectors import SQUARE_BYTES, line_slots, prefetch, spread_number

# How far before its use a row is fetched from memory; measured.
_BYTES_AHEAD = 1024


@intrinsic
def store_square(typingctx, z, lines, e, out, row, column, line):
    """Emit out[row + lane, column + k] = z[lines[e + k]], for all lanes, and for as many k as a vector has numbers.

    It is a transposition in registers. Rows of `out` must be contiguous.
    """

    def codegen(context, builder, signature, args):
        z, lines, e, out, row, column, _ = args
        z_type, lines_type, out_type, line = (signature.args[k] for k in (0, 1, 3, 6))
        array = context.make_array(out_type)(context, builder, out)
        step = builder.extract_value(array.strides, 0)
        line_data = context.make_array(lines_type)(context, builder, lines).data
        size = ir.Constant(e.type, line.count)
        sources = []
        width = 1
        while len(sources) < width:
            at = builder.add(e, ir.Constant(e.type, len(sources)))
            offset = builder.mul(builder.load(builder.gep(line_data, [at])), size)
            vector, align, slots = line_slots(context, builder, z_type, z, line, offset, SQUARE_BYTES)
            width = vector.count
            sources.append(slots)
        byte_pointer = ir.IntType(8).as_pointer()
        start = builder.bitcast(builder.gep(array.data, [column]), byte_pointer)
        for part in range(len(sources[0])):
            square = _transposed(builder, [builder.load(slots[part], align=align) for slots in sources])
            for lane, value in enumerate(square):
                at = builder.mul(builder.add(row, ir.Constant(row.type, part * width + lane)), step)
                target = builder.bitcast(builder.gep(start, [at]), vector.as_pointer())
                builder.store(value, target, align=align)
        return context.get_dummy_value()

    number = types.intp
    return types.void(z, lines, number, out, number, number, line), codegen


@intrinsic
def load_square(typingctx, X, row, column, position, factor, tile, lane, line):
    """Emit number lane + i of line position[column + k] of a tile = factor[column + k] * X[row + i, column + k].

    This is for as many i and k as a vector has numbers. Rows of X, position (int64) and factor must be contiguous.
    """

    def codegen(context, builder, signature, args):
        X, row, column, position, factor, tile, lane, _ = args
        X_type, position_type, factor_type, tile_type, line = (signature.args[k] for k in (0, 3, 4, 5, 7))
        array = context.make_array(X_type)(context, builder, X)
        step = builder.extract_value(array.strides, 0)
        tile_data, positions, factors = (
            context.make_array(array_type)(context, builder, value).data
            for array_type, value in ((tile_type, tile), (position_type, position), (factor_type, factor))
        )
        itemsize = X_type.dtype.bitwidth // 8
        width = min(line.count, SQUARE_BYTES // itemsize)
        vector = ir.VectorType(context.get_value_type(X_type.dtype), width)
        start = builder.bitcast(builder.gep(array.data, [column]), ir.IntType(8).as_pointer())
        rows = [
            builder.gep(start, [builder.mul(builder.add(row, ir.Constant(row.type, i)), step)]) for i in range(width)
        ]
        for slot in rows:  # so many rows at once are more than the processor follows by itself
            prefetch(builder, builder.gep(slot, [ir.Constant(row.type, _BYTES_AHEAD)]))
        for k, value in enumerate(_loaded_columns(builder, rows, vector, itemsize)):
            at = builder.add(column, ir.Constant(column.type, k))
            number = spread_number(builder, builder.load(builder.gep(factors, [at])), vector)
            start = builder.mul(builder.load(builder.gep(positions, [at])), ir.Constant(lane.type, line.count))
            slot = builder.gep(tile_data, [builder.add(start, lane)])
            builder.store(builder.fmul(number, value), builder.bitcast(slot, vector.as_pointer()), align=itemsize)
        return context.get_dummy_value()

    number = types.intp
    return types.void(X, number, number, position, factor, tile, number, line), codegen


def _loaded_columns(builder, rows, vector, itemsize):
    """Emit the columns of the square whose rows begin at some pointers.

    Both halves of a vector are loaded on their own, from rows half a square apart: loads do the first step of the
    transposition, and what is left stays inside the halves of a register.
    """
    n, half = vector.count, vector.count // 2
    part = ir.VectorType(vector.element, half)
    joined = ir.Constant(ir.VectorType(ir.IntType(32), n), list(range(n)))
    columns = []
    for first in (0, half * itemsize):
        slots = [builder.gep(row, [ir.Constant(ir.IntType(64), first)]) for row in rows]
        parts = [builder.load(builder.bitcast(slot, part.as_pointer()), align=itemsize) for slot in slots]
        columns += _transposed(
            builder, [builder.shuffle_vector(parts[i], parts[i + half], joined) for i in range(half)]
        )
    return columns


def _transposed(builder, rows):
    """Emit the transposition of a square of vectors: swap halves, quarters, and so on.

    Vectors twice as long as the square is high are two squares side by side.
    """
    n, half = rows[0].type.count, len(rows) // 2
    while half:
        for i in (i for i in range(len(rows)) if not i & half):
            upper, lower = rows[i], rows[i + half]
            keep = [k if not k & half else n + k - half for k in range(n)]
            rest = [k + half if not k & half else n + k for k in range(n)]
            rows[i], rows[i + half] = (
                builder.shuffle_vector(upper, lower, ir.Constant(ir.VectorType(ir.IntType(32), n), mask))
                for mask in (keep, rest)
            )
        half //= 2
    return rows
