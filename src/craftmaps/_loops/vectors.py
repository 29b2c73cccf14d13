"""Vector instructions on whole lines of a tile, most of them for the Hadamard loops.

LLVM does not vectorise an in-place butterfly of radix 8 or 16 by itself, because it cannot prove
that the streams are distinct; so these intrinsics emit the vector loads, additions and stores.
No operation is ever contracted or reordered between lanes: a row gives the same bits in
whatever lane and block it stands.

Numba's cache does not notice changes of this file: after one, remove the caches with `make clean`.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# Eight of the sixteen 256-bit registers hold the values of a radix-8 butterfly; where the
# machine has other widths, LLVM splits or joins these vectors.
VECTOR_BYTES = 32
# As far as `RandomMaclaurin` draws more rows than there are features.
_LOOK_AHEAD = 8


def _line_slots(context, builder, array_type, array, line_type, offset):
    """Give the vector type, its alignment and pointers to the vectors of the line at offset."""
    lanes = line_type.count
    data = context.make_array(array_type)(context, builder, array).data
    itemsize = array_type.dtype.bitwidth // 8
    width = min(lanes, VECTOR_BYTES // itemsize)
    vector = ir.VectorType(context.get_value_type(array_type.dtype), width)
    slots = []
    for part in range(0, lanes, width):
        at = builder.add(offset, ir.Constant(offset.type, part))
        slots.append(builder.bitcast(builder.gep(data, [at]), vector.as_pointer()))
    return vector, itemsize, slots


def _spread(builder, scalar, vector):
    """Copy a scalar to every element of a vector."""
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)


def _butterfly_codegen(context, builder, radix, sources, targets, numbers, align):
    """Emit the transform of lines: load and scale, add and subtract, store."""
    for part in range(len(sources[0])):
        v = [builder.load(slots[part], align=align) for slots in sources]
        if numbers is not None:
            v = [builder.fmul(value, number) for value, number in zip(v, numbers, strict=True)]
        half = 1
        while half < radix:
            for i in range(0, radix, 2 * half):
                for j in range(i, i + half):
                    v[j], v[j + half] = builder.fadd(v[j], v[j + half]), builder.fsub(v[j], v[j + half])
            half *= 2
        for value, slots in zip(v, targets, strict=True):
            builder.store(value, slots[part], align=align)
    return context.get_dummy_value()


def _make_butterfly(radix):
    """Make the in-place transform of `radix` lines that lie `stride` numbers apart."""

    @intrinsic
    def butterfly(typingctx, x, start, stride, line):
        def codegen(context, builder, signature, args):
            array, offset, stride, _ = args
            lines = []
            for _ in range(radix):
                lines.append(_line_slots(context, builder, signature.args[0], array, signature.args[3], offset))
                offset = builder.add(offset, stride)
            slots = [line[2] for line in lines]
            return _butterfly_codegen(context, builder, radix, slots, slots, None, lines[0][1])

        return types.void(x, types.intp, types.intp, line), codegen

    return butterfly


def _make_flipped_butterfly(radix):
    """Make the transform of `radix` neighbouring lines from `source`, each with its sign, into `x`.

    Signs are float32: as bytes they would have to be converted one by one.
    """

    @intrinsic
    def butterfly(typingctx, x, start, source, source_start, signs, first, line):
        def codegen(context, builder, signature, args):
            array, offset, source, source_offset, signs, first, _ = args
            array_type, source_type, signs_type, line = (signature.args[i] for i in (0, 2, 4, 6))
            stride = ir.Constant(offset.type, line.count)
            sign = context.make_array(signs_type)(context, builder, signs).data
            targets, sources, numbers = [], [], []
            for i in range(radix):
                vector, align, slots = _line_slots(context, builder, array_type, array, line, offset)
                targets.append(slots)
                sources.append(_line_slots(context, builder, source_type, source, line, source_offset)[2])
                at = builder.add(first, ir.Constant(first.type, i))
                number = builder.load(builder.gep(sign, [at]))
                number = number if number.type == vector.element else builder.fpext(number, vector.element)
                numbers.append(_spread(builder, number, vector))
                offset, source_offset = builder.add(offset, stride), builder.add(source_offset, stride)
            return _butterfly_codegen(context, builder, radix, sources, targets, numbers, align)

        number = types.intp
        return types.void(x, number, source, number, signs, number, line), codegen

    return butterfly


def _make_line_operation(operation):
    """Make dst[i] = operation(builder, dst[i], src[j], scalar) on lines."""

    @intrinsic
    def apply(typingctx, dst, i, src, j, scalar, line):
        def codegen(context, builder, signature, args):
            dst, i, src, j, scalar, _ = args
            lanes = signature.args[5].count
            size = ir.Constant(i.type, lanes)
            vector, align, into = _line_slots(
                context, builder, signature.args[0], dst, signature.args[5], builder.mul(i, size)
            )
            _, _, out_of = _line_slots(
                context, builder, signature.args[2], src, signature.args[5], builder.mul(j, size)
            )
            number = _spread(builder, scalar, vector)
            for target, source in zip(into, out_of, strict=True):
                old = builder.load(target, align=align)
                new = operation(builder, old, builder.load(source, align=align), number)
                builder.store(new, target, align=align)
            return context.get_dummy_value()

        return types.void(dst, types.intp, src, types.intp, dst.dtype, line), codegen

    return apply


butterfly2, butterfly4, butterfly8, butterfly16 = (_make_butterfly(radix) for radix in (2, 4, 8, 16))
flipped1, flipped2, flipped4, flipped8, flipped16 = (_make_flipped_butterfly(radix) for radix in (1, 2, 4, 8, 16))
scale_line = _make_line_operation(lambda b, old, new, number: b.fmul(new, number))
add_line = _make_line_operation(lambda b, old, new, number: b.fadd(old, b.fmul(new, number)))


def _make_product(n_factors, is_first, is_last):
    """Make z[to] = z[to] times factors j, j + 1, ... of feature i; the first ones overwrite what is in z.

    After the last ones comes the weight of the feature. A number has as many parts as the tuple `parts`; with two it
    is complex, and its imaginary part stands n_apart lines behind the real one in z and `order` lines
    behind it in `factor`, where the lines of factor j begin at j * n_parts * order. Row f + k of `rows`
    says which of them belong to the features.
    """

    @intrinsic
    def product(typingctx, z, to, n_apart, factor, rows, f, i, j, order, weight, parts, line):
        def codegen(context, builder, signature, args):
            z, to, n_apart, factor, rows, f, i, j, order, weight, _, _ = args
            z_type, factor_type, rows_type, weight_type, parts, line = (signature.args[k] for k in (0, 3, 4, 9, 10, 11))
            row_data = context.make_array(rows_type)(context, builder, rows).data
            weight_data = context.make_array(weight_type)(context, builder, weight).data
            size = ir.Constant(to.type, line.count)

            def places(first, distance):
                return [first] if parts.count == 1 else [first, builder.add(first, distance)]

            def slots(array_type, array, place):
                return _line_slots(context, builder, array_type, array, line, builder.mul(place, size))

            def lines_of(k, ahead):
                step = ir.Constant(to.type, k)
                at = builder.add(builder.mul(builder.add(f, step), order), builder.add(i, ir.Constant(to.type, ahead)))
                row = builder.zext(builder.load(builder.gep(row_data, [at])), to.type)
                block = builder.mul(builder.mul(builder.add(j, step), ir.Constant(to.type, parts.count)), order)
                return [slots(factor_type, factor, place)[2] for place in places(builder.add(block, row), order)]

            vector, align, _ = slots(z_type, z, to)
            targets = [slots(z_type, z, place)[2] for place in places(to, n_apart)]
            sources = [lines_of(k, 0) for k in range(n_factors)]
            # Rows are in random order, so the processor has to be told which lines come next.
            for k in range(n_factors):
                for line_slots in lines_of(k, _LOOK_AHEAD):
                    _prefetch(builder, line_slots[0])
            for part in range(len(targets[0])):
                operands = sources if is_first else [targets, *sources]
                loaded = [[builder.load(slots[part], align=align) for slots in lines] for lines in operands]
                value = loaded[0]
                for number in loaded[1:]:
                    value = _times(builder, value, number)
                if is_last:
                    weights = [builder.load(builder.gep(weight_data, [place])) for place in places(i, n_apart)]
                    value = [builder.fmul(v, _spread(builder, w, vector)) for v, w in zip(value, weights, strict=True)]
                for target, v in zip(targets, value, strict=True):
                    builder.store(v, target[part], align=align)
            return context.get_dummy_value()

        n = types.intp
        return types.void(z, n, n, factor, rows, n, n, n, n, weight, parts, line), codegen

    return product


def _prefetch(builder, pointer):
    """Emit the wish to have a line in the cache soon."""
    byte_pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    function_type = ir.FunctionType(ir.VoidType(), [byte_pointer, number, number, number])
    function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0i8")
    read, keep, data = (ir.Constant(number, value) for value in (0, 3, 1))
    builder.call(function, [builder.bitcast(pointer, byte_pointer), read, keep, data])


def _times(builder, a, b):
    """Emit the product of two numbers, each of one part or of two."""
    if len(a) == 1:
        return [builder.fmul(a[0], b[0])]
    return [
        builder.fsub(builder.fmul(a[0], b[0]), builder.fmul(a[1], b[1])),
        builder.fadd(builder.fmul(a[0], b[1]), builder.fmul(a[1], b[0])),
    ]


# Up to four factors are multiplied in registers; products of more begin with `first` and end with `last`.
only1, only2, only3, only4 = (_make_product(n, is_first=True, is_last=True) for n in (1, 2, 3, 4))
last1, last2, last3, last4 = (_make_product(n, is_first=False, is_last=True) for n in (1, 2, 3, 4))
first4, more4 = (_make_product(4, is_first=is_first, is_last=False) for is_first in (True, False))


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
            vector, align, slots = _line_slots(context, builder, z_type, z, line, offset)
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

    This is for as many i and k as a vector has numbers. X, position (int64) and factor must be contiguous.
    """

    def codegen(context, builder, signature, args):
        X, row, column, position, factor, tile, lane, _ = args
        X_type, position_type, factor_type, tile_type, line = (signature.args[k] for k in (0, 3, 4, 5, 7))
        array = context.make_array(X_type)(context, builder, X)
        n_columns = builder.extract_value(array.shape, 1)
        tile_data, positions, factors = (
            context.make_array(array_type)(context, builder, value).data
            for array_type, value in ((tile_type, tile), (position_type, position), (factor_type, factor))
        )
        itemsize = X_type.dtype.bitwidth // 8
        width = min(line.count, VECTOR_BYTES // itemsize)
        vector = ir.VectorType(context.get_value_type(X_type.dtype), width)
        rows = []
        for i in range(width):
            at = builder.mul(builder.add(row, ir.Constant(row.type, i)), n_columns)
            slot = builder.gep(array.data, [builder.add(at, column)])
            rows.append(builder.load(builder.bitcast(slot, vector.as_pointer()), align=itemsize))
        for k, value in enumerate(_transposed(builder, rows)):
            at = builder.add(column, ir.Constant(column.type, k))
            number = _spread(builder, builder.load(builder.gep(factors, [at])), vector)
            start = builder.mul(builder.load(builder.gep(positions, [at])), ir.Constant(lane.type, line.count))
            slot = builder.gep(tile_data, [builder.add(start, lane)])
            builder.store(builder.fmul(number, value), builder.bitcast(slot, vector.as_pointer()), align=itemsize)
        return context.get_dummy_value()

    number = types.intp
    return types.void(X, number, number, position, factor, tile, number, line), codegen


def _transposed(builder, rows):
    """Emit the transposition of a square of vectors: swap halves, quarters, and so on."""
    n = len(rows)
    half = n // 2
    while half:
        for i in (i for i in range(n) if not i & half):
            upper, lower = rows[i], rows[i + half]
            keep = [k if not k & half else n + k - half for k in range(n)]
            rest = [k + half if not k & half else n + k for k in range(n)]
            rows[i], rows[i + half] = (
                builder.shuffle_vector(upper, lower, ir.Constant(ir.VectorType(ir.IntType(32), n), mask))
                for mask in (keep, rest)
            )
        half //= 2
    return rows
