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
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from craftmaps._loops import LOOK_AHEAD

# Sixteen registers of 32 bytes hold the values of a radix-8 butterfly; with AVX-512 there are 32 registers of 64 bytes.
# Where the machine has other widths, LLVM splits or joins these vectors. Numba may be told to use less than it has.
_FEATURES = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
VECTOR_BYTES = 64 if {"+avx512f", "+avx512vl"} <= set(_FEATURES) else 32
# Rows go in and out in shorter vectors: more of them at once do not fit into one set of the cache.
SQUARE_BYTES = 32


def line_slots(context, builder, array_type, array, line_type, offset, n_bytes=VECTOR_BYTES):
    """Give the vector type, its alignment and pointers to the vectors of the line at offset."""
    lanes = line_type.count
    data = context.make_array(array_type)(context, builder, array).data
    itemsize = array_type.dtype.bitwidth // 8
    width = min(lanes, n_bytes // itemsize)
    vector = ir.VectorType(context.get_value_type(array_type.dtype), width)
    slots = []
    for part in range(0, lanes, width):
        at = builder.add(offset, ir.Constant(offset.type, part))
        slots.append(builder.bitcast(builder.gep(data, [at]), vector.as_pointer()))
    return vector, itemsize, slots


def spread_number(builder, scalar, vector):
    """Copy a scalar to every element of a vector."""
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)


def _butterfly_codegen(context, builder, radix, sources, targets, numbers, align):
    """Emit the transform of lines: load and scale, add and subtract, store."""
    for part in range(len(targets[0])):
        v = [builder.load(slots[part], align=align) for slots in sources]
        if numbers is not None:
            v = [builder.fmul(value, number[part]) for value, number in zip(v, numbers, strict=True)]
        for value, slots in zip(_transformed(builder, v), targets, strict=True):
            builder.store(value, slots[part], align=align)
    return context.get_dummy_value()


def _transformed(builder, v):
    """Emit the Hadamard transform of vectors."""
    half = 1
    while half < len(v):
        for i in range(0, len(v), 2 * half):
            for j in range(i, i + half):
                v[j], v[j + half] = builder.fadd(v[j], v[j + half]), builder.fsub(v[j], v[j + half])
        half *= 2
    return v


def _make_butterfly(radix):
    """Make the in-place transform of `radix` lines that lie `stride` numbers apart."""

    @intrinsic
    def butterfly(typingctx, x, start, stride, line):
        def codegen(context, builder, signature, args):
            array, offset, stride, _ = args
            lines = []
            for _ in range(radix):
                lines.append(line_slots(context, builder, signature.args[0], array, signature.args[3], offset))
                offset = builder.add(offset, stride)
            slots = [line[2] for line in lines]
            return _butterfly_codegen(context, builder, radix, slots, slots, None, lines[0][1])

        return types.void(x, types.intp, types.intp, line), codegen

    return butterfly


def _make_flipped_butterfly(radix):
    """Make the transform of `radix` neighbouring lines of `source`, each with its sign, into x.

    A wide line holds the line once for every part of a number, real and imaginary, each with signs of its own:
    row `part` of `signs`. They are float32: as bytes they would have to be converted one by one.
    """

    @intrinsic
    def butterfly(typingctx, x, start, source, source_start, signs, first, order, line, wide):
        def codegen(context, builder, signature, args):
            array, offset, source, source_offset, signs, first, order, _, _ = args
            array_type, source_type, signs_type, line, wide = (signature.args[i] for i in (0, 2, 4, 7, 8))
            sign = context.make_array(signs_type)(context, builder, signs).data
            n_parts, size = wide.count // line.count, ir.Constant(offset.type, line.count)
            targets, sources, numbers = [], [], []
            for i in range(radix):
                _, _, slots = line_slots(context, builder, source_type, source, line, source_offset)
                source_offset = builder.add(source_offset, size)
                at = builder.add(first, ir.Constant(first.type, i))
                own_targets, own_numbers = [], []
                for _ in range(n_parts):
                    vector, align, part = line_slots(context, builder, array_type, array, line, offset)
                    number = builder.load(builder.gep(sign, [at]))
                    number = number if number.type == vector.element else builder.fpext(number, vector.element)
                    own_targets += part
                    own_numbers += [spread_number(builder, number, vector)] * len(part)
                    offset, at = builder.add(offset, size), builder.add(at, order)
                targets.append(own_targets)
                sources.append(slots * n_parts)
                numbers.append(own_numbers)
            return _butterfly_codegen(context, builder, radix, sources, targets, numbers, align)

        number = types.intp
        return types.void(x, number, source, number, signs, number, number, line, wide), codegen

    return butterfly


def _make_added_butterfly(radix):
    """Make the transform of `radix` lines of x that lie `stride` lines apart, added with signs to lines of `total`.

    Those lie as far apart, from number `total_start` on, and so do their signs, from sign `first` on. They are float32:
    as bytes they would have to be converted one by one. x stays as it is.
    """

    @intrinsic
    def butterfly(typingctx, total, total_start, x, start, stride, signs, first, line):
        def codegen(context, builder, signature, args):
            total, total_offset, x, offset, stride, signs, at, _ = args
            total_type, x_type, signs_type, line = (signature.args[k] for k in (0, 2, 5, 7))
            sign = context.make_array(signs_type)(context, builder, signs).data
            step = builder.mul(stride, ir.Constant(stride.type, line.count))
            targets, sources, numbers = [], [], []
            for _ in range(radix):
                vector, align, slots = line_slots(context, builder, total_type, total, line, total_offset)
                targets.append(slots)
                sources.append(line_slots(context, builder, x_type, x, line, offset)[2])
                number = builder.load(builder.gep(sign, [at]))
                number = number if number.type == vector.element else builder.fpext(number, vector.element)
                numbers.append(spread_number(builder, number, vector))
                total_offset, offset = builder.add(total_offset, step), builder.add(offset, step)
                at = builder.add(at, stride)
            for part in range(len(sources[0])):
                v = _transformed(builder, [builder.load(slots[part], align=align) for slots in sources])
                for value, number, slots in zip(v, numbers, targets, strict=True):
                    old = builder.load(slots[part], align=align)
                    builder.store(builder.fadd(old, builder.fmul(value, number)), slots[part], align=align)
            return context.get_dummy_value()

        number = types.intp
        return types.void(total, number, x, number, number, signs, number, line), codegen

    return butterfly


def _make_line_operation(operation):
    """Make dst[i] = operation(builder, dst[i], src[j], scalar) on lines."""

    @intrinsic
    def apply(typingctx, dst, i, src, j, scalar, line):
        def codegen(context, builder, signature, args):
            dst, i, src, j, scalar, _ = args
            lanes = signature.args[5].count
            size = ir.Constant(i.type, lanes)
            vector, align, into = line_slots(
                context, builder, signature.args[0], dst, signature.args[5], builder.mul(i, size)
            )
            _, _, out_of = line_slots(context, builder, signature.args[2], src, signature.args[5], builder.mul(j, size))
            number = spread_number(builder, scalar, vector)
            for target, source in zip(into, out_of, strict=True):
                old = builder.load(target, align=align)
                new = operation(builder, old, builder.load(source, align=align), number)
                builder.store(new, target, align=align)
            return context.get_dummy_value()

        return types.void(dst, types.intp, src, types.intp, dst.dtype, line), codegen

    return apply


butterfly2, butterfly4, butterfly8, butterfly16 = (_make_butterfly(radix) for radix in (2, 4, 8, 16))
added1, added2, added4, added8, added16 = (_make_added_butterfly(radix) for radix in (1, 2, 4, 8, 16))
flipped1, flipped2, flipped4, flipped8, flipped16 = (_make_flipped_butterfly(radix) for radix in (1, 2, 4, 8, 16))
add_line = _make_line_operation(lambda b, old, new, number: b.fadd(old, b.fmul(new, number)))


def _make_add_products(n_features):
    """Make into[lines[i]] += weight[i] times factors f, f + 1, ... of feature i, for so many neighbouring features.

    Row f + j of `rows`, which are `order` long, says where in `factor` the j-th factors of the features stand, in
    eighths of a wide line. If a wide line is two lines, numbers are complex, and their imaginary parts have the
    lines and the weights n_apart further on. A few features together share what the loop over factors costs.
    """

    @intrinsic
    def add_products(typingctx, into, lines, factor, rows, f, i, degree, order, weight, n_apart, line, wide):
        def codegen(context, builder, signature, args):
            into, lines, factor, rows, f, i, degree, order, weight, n_apart, _, _ = args
            into_type, lines_type, factor_type, rows_type, weight_type, line, wide = (
                signature.args[k] for k in (0, 1, 2, 3, 8, 10, 11)
            )
            line_data, row_data, weight_data = (
                context.make_array(array_type)(context, builder, array).data
                for array_type, array in ((lines_type, lines), (rows_type, rows), (weight_type, weight))
            )
            n_parts = wide.count // line.count

            def number(value):
                return ir.Constant(i.type, value)

            def slots_of(array_type, array, at):
                return line_slots(context, builder, array_type, array, line, at)

            def factor_slots(j, k):
                """Point to the parts of factor j of feature i + k."""
                at = builder.add(builder.mul(builder.add(f, j), order), builder.add(i, number(k)))
                eighths = builder.zext(builder.load(builder.gep(row_data, [at])), i.type)
                # An eighth of a cache line is 8 bytes, and by 8 the processor multiplies addresses on its own.
                if wide.count >= 8:
                    start = builder.mul(eighths, number(wide.count // 8))
                else:
                    start = builder.udiv(eighths, number(8 // wide.count))
                places = [builder.add(start, number(part * line.count)) for part in range(n_parts)]
                return [slots_of(factor_type, factor, place)[2] for place in places]

            def load_factor(j, k):
                # Rows are in random order, so the processor has to be told which lines come next.
                prefetch(builder, factor_slots(j, k + LOOK_AHEAD)[0][0])
                return [[builder.load(slot, align=align) for slot in slots] for slots in factor_slots(j, k)]

            vector, align, _ = slots_of(into_type, into, number(0))
            product = []
            for k in range(n_features):
                first = load_factor(number(0), k)
                product.append([[cgutils.alloca_once_value(builder, value) for value in part] for part in first])
            with cgutils.for_range(builder, builder.sub(degree, number(1))) as loop:
                for k in range(n_features):
                    other = load_factor(builder.add(loop.index, number(1)), k)
                    value = [[builder.load(slot) for slot in part] for part in product[k]]
                    for s in range(len(other[0])):
                        new = _times(builder, [part[s] for part in value], [part[s] for part in other])
                        for part in range(n_parts):
                            builder.store(new[part], product[k][part][s])
            for k in range(n_features):
                at = builder.add(i, number(k))
                for part in range(n_parts):
                    place = builder.zext(builder.load(builder.gep(line_data, [at])), i.type)
                    place = builder.mul(place, number(line.count))
                    scale = spread_number(builder, builder.load(builder.gep(weight_data, [at])), vector)
                    for target, value in zip(slots_of(into_type, into, place)[2], product[k][part], strict=True):
                        weighted = builder.fmul(builder.load(value), scale)
                        builder.store(builder.fadd(builder.load(target, align=align), weighted), target, align=align)
                    at = builder.add(at, n_apart)
            return context.get_dummy_value()

        n = types.intp
        return types.void(into, lines, factor, rows, n, n, n, n, weight, n, line, wide), codegen

    return add_products


def prefetch(builder, pointer):
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


add_products1, add_products4 = (_make_add_products(n) for n in (1, 4))
