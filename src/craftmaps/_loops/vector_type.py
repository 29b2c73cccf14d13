"""A vector of numbers as a type of its own, for loops that hold lines of a tile in registers.

`load` and `store` move vectors between an array and registers, `spread` copies one number to all
places, and `+`, `-`, `*` work place by place. No operation is ever contracted or reordered between
places: a row gives the same bits in whatever lane it stands. The length comes from a tuple, as
everywhere in the loops; where the machine has other widths, LLVM splits or joins vectors.

Numba's cache does not notice changes of this file: after one, remove the caches with `make clean`.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, overload, register_model

from craftmaps._loops.vectors import SQUARE_BYTES, prefetch, spread_number


class Vector(types.Type):
    """The type of `count` numbers in registers."""

    def __init__(self, dtype, count):
        self.dtype, self.count = dtype, count
        super().__init__(name=f"Vector({dtype}, {count})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    """A vector is a vector to LLVM too."""

    def __init__(self, manager, vector):
        element = manager[vector.dtype].get_value_type()
        super().__init__(manager, vector, ir.VectorType(element, vector.count))


class Vectors(types.Type):
    """The type of `n_vectors` vectors of `count` numbers in registers."""

    def __init__(self, dtype, count, n_vectors):
        self.dtype, self.count, self.n_vectors = dtype, count, n_vectors
        super().__init__(name=f"Vectors({dtype}, {count}, {n_vectors})")


@register_model(Vectors)
class _VectorsModel(models.PrimitiveModel):
    """Several vectors are an array of them to LLVM, which gives each a register of its own."""

    def __init__(self, manager, vectors):
        element = manager[vectors.dtype].get_value_type()
        super().__init__(manager, vectors, ir.ArrayType(ir.VectorType(element, vectors.count), vectors.n_vectors))


def _slot(context, builder, array_type, array, at, count):
    """Give the pointer to `count` numbers from number `at` of an array, and their alignment."""
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(context.get_value_type(array_type.dtype), count)
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer()), array_type.dtype.bitwidth // 8


@intrinsic
def load(typingctx, x, at, line):
    """Emit the vector of as many numbers as `line` has, from number `at` of x."""

    def codegen(context, builder, signature, args):
        slot, align = _slot(context, builder, signature.args[0], args[0], args[1], signature.args[2].count)
        return builder.load(slot, align=align)

    return Vector(x.dtype, line.count)(x, types.intp, line), codegen


@intrinsic
def load_whole(typingctx, x, at, line):
    """Emit the float32 vector of as many whole numbers as `line` has, from number `at` of x."""

    def codegen(context, builder, signature, args):
        slot, align = _slot(context, builder, signature.args[0], args[0], args[1], signature.args[2].count)
        return builder.sitofp(builder.load(slot, align=align), context.get_value_type(signature.return_type))

    return Vector(types.float32, line.count)(x, types.intp, line), codegen


@intrinsic
def store(typingctx, x, at, vector):
    """Emit the writing of a vector to x, from number `at` on."""

    def codegen(context, builder, signature, args):
        slot, align = _slot(context, builder, signature.args[0], args[0], args[1], signature.args[2].count)
        builder.store(args[2], slot, align=align)
        return context.get_dummy_value()

    return types.void(x, types.intp, vector), codegen


@intrinsic
def spread(typingctx, number, line):
    """Emit the vector that has the same number everywhere."""

    def codegen(context, builder, signature, args):
        return spread_number(builder, args[0], context.get_value_type(signature.return_type))

    return Vector(number, line.count)(number, line), codegen


@intrinsic
def spread_at(typingctx, x, at, line):
    """Emit the vector that has number `at` of x everywhere; numbers are not counted from the end, which takes time."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        number = builder.load(builder.gep(data, [args[1]]))
        return spread_number(builder, number, context.get_value_type(signature.return_type))

    return Vector(x.dtype, line.count)(x, types.intp, line), codegen


@intrinsic
def spread_like(typingctx, number, vector):
    """Emit a vector of the type of another that has the same number everywhere."""

    def codegen(context, builder, signature, args):
        return spread_number(builder, args[0], context.get_value_type(signature.return_type))

    return vector(number, vector), codegen


def _place(context, builder, array_type, array, row, column):
    """Give the address of a number of a matrix of any strides, in bytes."""
    array = context.make_array(array_type)(context, builder, array)
    row_step, column_step = (builder.extract_value(array.strides, axis) for axis in range(2))
    offset = builder.add(builder.mul(row, row_step), builder.mul(column, column_step))
    return builder.gep(builder.bitcast(array.data, ir.IntType(8).as_pointer()), [offset])


@intrinsic
def square_width(typingctx, x, line):
    """Emit how many rows of x are loaded together, as a constant: `x.itemsize` is none to the compiler."""
    count = min(line.count, SQUARE_BYTES * 8 // x.dtype.bitwidth)

    def codegen(context, builder, signature, args):
        return context.get_constant(signature.return_type, count)

    return types.intp(x, line), codegen


@intrinsic
def gather(typingctx, X, row, column, line):
    """Emit the vector of numbers of a column of X, from a row on; rows and columns may have any strides."""

    def codegen(context, builder, signature, args):
        vector = context.get_value_type(signature.return_type)
        numbers = ir.Constant(vector, ir.Undefined)
        for i in range(vector.count):
            row = builder.add(args[1], ir.Constant(args[1].type, i))
            place = _place(context, builder, signature.args[0], args[0], row, args[2])
            number = builder.load(builder.bitcast(place, vector.element.as_pointer()))
            numbers = builder.insert_element(numbers, number, ir.Constant(ir.IntType(32), i))
        return numbers

    count = min(line.count, SQUARE_BYTES * 8 // X.dtype.bitwidth)
    return Vector(X.dtype, count)(X, types.intp, types.intp, line), codegen


@intrinsic
def fetch(typingctx, X, row, column):
    """Emit the wish to have a number of X in the cache soon; it need not exist."""

    def codegen(context, builder, signature, args):
        prefetch(builder, _place(context, builder, signature.args[0], *args))
        return context.get_dummy_value()

    return types.void(X, types.intp, types.intp), codegen


def _define(operation, emit):
    """Let an operator of Python mean an instruction on vectors."""

    @intrinsic
    def apply(typingctx, a, b):
        def codegen(context, builder, signature, args):
            return emit(builder, *args)

        return a(a, b), codegen

    @overload(operation)
    def on_vectors(a, b):
        if isinstance(a, Vector) and a == b:
            return lambda a, b: apply(a, b)
        return None


_define(operator.add, lambda builder, a, b: builder.fadd(a, b))
_define(operator.sub, lambda builder, a, b: builder.fsub(a, b))
_define(operator.mul, lambda builder, a, b: builder.fmul(a, b))


def _with_product(builder, total, a, b):
    """Give total + a * b, in one instruction with one rounding where the machine has it: bits differ among machines."""
    name = f"llvm.fmuladd.v{total.type.count}{total.type.element.intrinsic_name}"
    function_type = ir.FunctionType(total.type, [total.type] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, name), [a, b, total])


@intrinsic
def load_lines(typingctx, x, at, line, columns):
    """Emit as many vectors as there are `columns`, each as long as `line`, that follow each other in x from `at` on."""

    def codegen(context, builder, signature, args):
        x_type, line, columns = (signature.args[i] for i in (0, 2, 3))
        lines = ir.Constant(context.get_value_type(signature.return_type), ir.Undefined)
        for i in range(columns.count):
            at = builder.add(args[1], ir.Constant(args[1].type, i * line.count))
            slot, align = _slot(context, builder, x_type, args[0], at, line.count)
            lines = builder.insert_value(lines, builder.load(slot, align=align), i)
        return lines

    return Vectors(x.dtype, line.count, columns.count)(x, types.intp, line, columns), codegen


@intrinsic
def store_lines(typingctx, x, at, lines):
    """Emit the writing of vectors to x, one after the other, from number `at` on."""

    def codegen(context, builder, signature, args):
        for i in range(lines.n_vectors):
            at = builder.add(args[1], ir.Constant(args[1].type, i * lines.count))
            slot, align = _slot(context, builder, signature.args[0], args[0], at, lines.count)
            builder.store(builder.extract_value(args[2], i), slot, align=align)
        return context.get_dummy_value()

    return types.void(x, types.intp, lines), codegen


@intrinsic
def add_products(typingctx, lines, factor, x, at):
    """Emit the sum of vectors and of a factor, itself a vector, times the vectors that x has from number `at` on."""

    def codegen(context, builder, signature, args):
        total, factor, x, first = args
        for i in range(lines.n_vectors):
            at = builder.add(first, ir.Constant(first.type, i * lines.count))
            slot, align = _slot(context, builder, signature.args[2], x, at, lines.count)
            old = builder.extract_value(total, i)
            total = builder.insert_value(total, _with_product(builder, old, factor, builder.load(slot, align=align)), i)
        return total

    return lines(lines, factor, x, types.intp), codegen


@intrinsic
def add_multiples(typingctx, lines, factor, x, at):
    """Emit the sum of vectors and of a factor, itself a vector, times one number of x for each, from number `at` on."""

    def codegen(context, builder, signature, args):
        total, factor, x, first = args
        data = context.make_array(signature.args[2])(context, builder, x).data
        for i in range(lines.n_vectors):
            number = builder.load(builder.gep(data, [builder.add(first, ir.Constant(first.type, i))]))
            old = builder.extract_value(total, i)
            product = _with_product(builder, old, factor, spread_number(builder, number, factor.type))
            total = builder.insert_value(total, product, i)
        return total

    return lines(lines, factor, x, types.intp), codegen
