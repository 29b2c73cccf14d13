"""Vector instructions for the Hadamard loops: operations on whole lines of a tile.

LLVM does not vectorise an in-place butterfly of radix 8 or 16 by itself, because it cannot prove
that the streams are distinct; so these intrinsics emit the vector loads, additions and stores.
No operation is ever contracted or reordered between lanes: a row gives the same bits in
whatever lane and block it stands.

Numba's cache does not notice changes of this file: after one, remove the caches with `make clean`.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# Eight of the sixteen 256-bit registers hold the values of a radix-8 butterfly; where the
# machine has other widths, LLVM splits or joins these vectors.
_VECTOR_BYTES = 32


def _line_slots(context, builder, array_type, array, line_type, offset):
    """Give the vector type, its alignment and pointers to the vectors of the line at offset."""
    lanes = line_type.count
    data = context.make_array(array_type)(context, builder, array).data
    itemsize = array_type.dtype.bitwidth // 8
    width = min(lanes, _VECTOR_BYTES // itemsize)
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
multiply_line = _make_line_operation(lambda b, old, new, number: b.fmul(b.fmul(old, new), number))
add_line = _make_line_operation(lambda b, old, new, number: b.fadd(old, b.fmul(new, number)))


@intrinsic
def multiply_complex_line(typingctx, z, re, im, factor, a, b, w_re, w_im, line):
    """Emit (z[re], z[im]) = the product with (factor[a], factor[b]), its parts times w_re, w_im."""

    def codegen(context, builder, signature, args):
        z, re, im, factor, a, b, w_re, w_im, _ = args
        line = signature.args[8]
        size = ir.Constant(re.type, line.count)
        vector, align, z_re = _line_slots(context, builder, signature.args[0], z, line, builder.mul(re, size))
        z_im, f_re, f_im = (
            _line_slots(context, builder, signature.args[0], array, line, builder.mul(index, size))[2]
            for array, index in ((z, im), (factor, a), (factor, b))
        )
        number_re, number_im = _spread(builder, w_re, vector), _spread(builder, w_im, vector)
        for slots in zip(z_re, z_im, f_re, f_im, strict=True):
            zr, zi, fr, fi = (builder.load(slot, align=align) for slot in slots)
            new_re = builder.fsub(builder.fmul(zr, fr), builder.fmul(zi, fi))
            new_im = builder.fadd(builder.fmul(zr, fi), builder.fmul(zi, fr))
            builder.store(builder.fmul(new_re, number_re), slots[0], align=align)
            builder.store(builder.fmul(new_im, number_im), slots[1], align=align)
        return context.get_dummy_value()

    number = z.dtype
    return types.void(z, types.intp, types.intp, factor, types.intp, types.intp, number, number, line), codegen
