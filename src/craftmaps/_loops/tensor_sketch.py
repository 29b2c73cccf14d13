"""TensorSketch on lanes: count sketches, real Fourier transforms, and products of their spectra.

A sketch of n = 2m numbers is read as m complex ones, number 2j the real and 2j + 1 the imaginary part
of number j, so its spectrum costs one complex transform of half the length. Transforms forward take
numbers in their natural order and leave them in bit-reversed order, transforms back the other way
round, so nothing is ever permuted. In bit-reversed order the frequencies p and q, whose spectra the
halving trick needs together, lie mirror-wise in blocks: for p in [b, 2b), b a power of two, q is
3b - 1 - p. A complex number is a line of real parts and, behind it, a line of imaginary parts.
"""

from collections import namedtuple

import numpy as np

from craftmaps._loops.compiled import entry, loop
from craftmaps._loops.squares import store_square
from craftmaps._loops.vector_type import load, spread, store
from craftmaps._loops.vectors import SQUARE_BYTES

# Pieces of 2^9 complex numbers (32 KiB) stay in the first-level cache while their small strides run.
_LEAF = 9

Twiddles = namedtuple("Twiddles", ["steps", "halving"])
Twiddles.__doc__ = """Roots of unity as the transforms want them.

`steps` has, for every size 4s of radix-4 steps from m down and every j < s, the real and imaginary parts
of w^j, w^2j and w^3j with w = exp(-2 pi i / 4s). `halving` has exp(-2 pi i k / 2m) at place p, where k
has the bits of p in reverse.
"""


def twiddles_for(n: int, dtype: np.dtype) -> Twiddles:
    """Make the tables for sketches of n numbers, n a power of two."""
    m = n // 2
    steps = [np.empty((0, 3), complex)]
    size = m
    while size >= 4:
        steps.append(np.exp(-2j * np.pi / size * np.outer(np.arange(size // 4), (1, 2, 3))))
        size //= 4
    place = np.zeros(1, int)
    while place.size < m:
        place = np.concatenate([2 * place, 2 * place + 1])
    halving = np.exp(-2j * np.pi / n * place)
    return Twiddles(*(table.view(float).ravel().astype(dtype) for table in (np.concatenate(steps), halving)))


@loop
def _read(z, at, line):
    """Load the complex number whose real part begins at number `at`."""
    return load(z, at, line), load(z, at + len(line), line)


@loop
def _write(z, at, value, line):
    """Store a complex number where `_read` finds it."""
    store(z, at, value[0])
    store(z, at + len(line), value[1])


@loop
def _root(table, at, line):
    """Load a root of unity, the same for all lanes."""
    return spread(table[at], line), spread(table[at + 1], line)


@loop
def _plus(a, b):
    """Add two complex numbers."""
    return a[0] + b[0], a[1] + b[1]


@loop
def _minus(a, b):
    """Subtract a complex number."""
    return a[0] - b[0], a[1] - b[1]


@loop
def _times(a, b):
    """Multiply two complex numbers."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


@loop
def _over(a, root):
    """Divide by a root of unity: multiply by its conjugate."""
    return a[0] * root[0] + a[1] * root[1], a[1] * root[0] - a[0] * root[1]


@loop
def _split4(z, start, stride, roots, at, line):
    """Run one forward step: one transform of 4 stride numbers becomes four of `stride`."""
    pair = 2 * len(line)
    apart = stride * pair
    for j in range(stride):
        i = start + j * pair
        a, b = _read(z, i, line), _read(z, i + apart, line)
        c, d = _read(z, i + 2 * apart, line), _read(z, i + 3 * apart, line)
        even, odd = _plus(a, c), _plus(b, d)
        rest, turned = _minus(a, c), (b[1] - d[1], d[0] - b[0])  # b - d over i
        k = at + 6 * j
        # Frequencies 0, 2, 1, 3 modulo 4: bit-reversed.
        _write(z, i, _plus(even, odd), line)
        _write(z, i + apart, _times(_minus(even, odd), _root(roots, k + 2, line)), line)
        _write(z, i + 2 * apart, _times(_plus(rest, turned), _root(roots, k, line)), line)
        _write(z, i + 3 * apart, _times(_minus(rest, turned), _root(roots, k + 4, line)), line)


@loop
def _join4(z, start, stride, roots, at, line):
    """Undo `_split4`, up to a factor of 4."""
    pair = 2 * len(line)
    apart = stride * pair
    for j in range(stride):
        i = start + j * pair
        k = at + 6 * j
        a = _read(z, i, line)
        b = _over(_read(z, i + apart, line), _root(roots, k + 2, line))
        c = _over(_read(z, i + 2 * apart, line), _root(roots, k, line))
        d = _over(_read(z, i + 3 * apart, line), _root(roots, k + 4, line))
        even, odd = _plus(a, b), _plus(c, d)
        rest, turned = _minus(a, b), (d[1] - c[1], c[0] - d[0])  # c - d times i
        _write(z, i, _plus(even, odd), line)
        _write(z, i + apart, _plus(rest, turned), line)
        _write(z, i + 2 * apart, _minus(even, odd), line)
        _write(z, i + 3 * apart, _minus(rest, turned), line)


@loop
def _neighbours(z, start, count, line):
    """Run the step of radix 2 that remains where the size is no power of four; it is its own inverse."""
    pair = 2 * len(line)
    for i in range(start, start + count * pair, 2 * pair):
        a, b = _read(z, i, line), _read(z, i + pair, line)
        _write(z, i, _plus(a, b), line)
        _write(z, i + pair, _minus(a, b), line)


@loop
def _sweep(z, first, log2_count, log2_size, roots, forward, line):
    """Run the steps of one size over 2^log2_count numbers."""
    pair = 2 * len(line)
    if log2_size == 1:
        _neighbours(z, first * pair, 1 << log2_count, line)
        return
    at = 0  # of the roots of this size: behind those of the larger ones
    m = z.size // pair
    while m > 1 << log2_size:
        at += 6 * (m // 4)
        m //= 4
    for block in range(first, first + (1 << log2_count), 1 << log2_size):
        if forward:
            _split4(z, block * pair, 1 << (log2_size - 2), roots, at, line)
        else:
            _join4(z, block * pair, 1 << (log2_size - 2), roots, at, line)


@loop
def _transform(z, log2_size, roots, forward, line):
    """Transform all complex numbers of z, in place and without scaling."""
    leaf = log2_size
    while leaf > _LEAF:
        leaf -= 2
    smallest = 2 - log2_size % 2
    if forward:
        for size in range(log2_size, leaf, -2):
            _sweep(z, 0, log2_size, size, roots, True, line)
    for piece in range(0, 1 << log2_size, 1 << leaf):
        for i in range(0, leaf - smallest + 1, 2):
            _sweep(z, piece, leaf, leaf - i if forward else smallest + i, roots, forward, line)
    if not forward:
        for size in range(leaf + 2, log2_size + 1, 2):
            _sweep(z, 0, log2_size, size, roots, False, line)


@loop
def _multiply_spectrum(z, is_first, product, halving, line):
    """Multiply `product` by the spectrum, times 2, of the real numbers whose complex transform is z.

    The frequencies 0 and m of a real spectrum are real: they share the first place.
    """
    pair = 2 * len(line)
    two, minus_two = spread(z.dtype.type(2), line), spread(z.dtype.type(-2), line)
    ends, middle = _read(z, 0, line), _read(z, pair, line)
    ends = two * (ends[0] + ends[1]), two * (ends[0] - ends[1])
    middle = two * middle[0], minus_two * middle[1]
    if not is_first:
        old = _read(product, 0, line)
        ends = old[0] * ends[0], old[1] * ends[1]
        middle = _times(_read(product, pair, line), middle)
    _write(product, 0, ends, line)
    _write(product, pair, middle, line)
    block = 2
    while block * pair < z.size:
        for p in range(block, block + block // 2):
            i, j = p * pair, (3 * block - 1 - p) * pair
            a, b = _read(z, i, line), _read(z, j, line)
            even = a[0] + b[0], a[1] - b[1]
            odd = _times((a[1] + b[1], b[0] - a[0]), _root(halving, 2 * p, line))
            here, there = _plus(even, odd), (even[0] - odd[0], odd[1] - even[1])
            if not is_first:
                here, there = _times(_read(product, i, line), here), _times(_read(product, j, line), there)
            _write(product, i, here, line)
            _write(product, j, there, line)
        block *= 2


@loop
def _halve(z, halving, line):
    """Turn a real spectrum into the complex transform, times 2, that it came from."""
    pair = 2 * len(line)
    two, minus_two = spread(z.dtype.type(2), line), spread(z.dtype.type(-2), line)
    ends, middle = _read(z, 0, line), _read(z, pair, line)
    _write(z, 0, (ends[0] + ends[1], ends[0] - ends[1]), line)
    _write(z, pair, (two * middle[0], minus_two * middle[1]), line)
    block = 2
    while block * pair < z.size:
        for p in range(block, block + block // 2):
            i, j = p * pair, (3 * block - 1 - p) * pair
            a, b = _read(z, i, line), _read(z, j, line)
            even = a[0] + b[0], a[1] - b[1]
            odd = _over((a[0] - b[0], a[1] + b[1]), _root(halving, 2 * p, line))
            _write(z, i, (even[0] - odd[1], even[1] + odd[0]), line)
            _write(z, j, (even[0] + odd[1], odd[0] - even[1]), line)
        block *= 2


@loop
def _sketch_dense(x, buckets, signs, z, line):
    """Write the count sketch of the rows in a tile."""
    lanes = len(line)
    z[:] = 0
    for k in range(buckets.size):
        at = buckets[k] * lanes
        store(z, at, load(z, at, line) + spread(signs[k], line) * load(x, k * lanes, line))


@loop
def _sketch_csr(data, indices, indptr, row, buckets, signs, z, line):
    """Write the count sketch of rows of a CSR matrix, from `row` on, with a 1 appended."""
    lanes = len(line)
    width = buckets.size - 1
    z[:] = 0
    for lane in range(min(lanes, indptr.size - 1 - row)):
        for e in range(indptr[row + lane], indptr[row + lane + 1]):
            k = indices[e]
            z[buckets[k] * lanes + lane] += signs[k] * data[e]
    at = buckets[width] * lanes
    store(z, at, load(z, at, line) + spread(signs[width], line))


@loop
def _store_rows(z, lines, out, row, line):
    """Write the lines of z as columns of the rows of a tile."""
    lanes = len(line)
    width = min(lanes, SQUARE_BYTES // out.itemsize)
    if row + lanes <= out.shape[0]:
        for k in range(0, lines.size, width):
            store_square(z, lines, k, out, row, k, line)
    else:
        for lane in range(out.shape[0] - row):
            for k in range(lines.size):
                out[row + lane, k] = z[k * lanes + lane]


@loop
def _convolve_next(z, is_first, product, twiddles, log2_size, line):
    """Multiply the spectra of the sketches before by that of the sketch in z."""
    _transform(z, log2_size, twiddles.steps, True, line)
    _multiply_spectrum(z, is_first, product, twiddles.halving, line)


@loop
def _finish(product, twiddles, log2_size, lines, is_spectrum, out, row, line):
    """Transform the product of the spectra back, unless the spectrum is wanted, and write the rows."""
    if not is_spectrum:
        _halve(product, twiddles.halving, line)
        _transform(product, log2_size, twiddles.steps, False, line)
    _store_rows(product, lines, out, row, line)


@loop
def _log2_size(z, line):
    """Return the logarithm of how many complex numbers z has."""
    log2_size = 0
    while (2 * len(line)) << log2_size < z.size:
        log2_size += 1
    return log2_size


@entry
def convolve_dense(tiles, buckets, signs, twiddles, z, product, is_spectrum, out, line):
    """Write the TensorSketch, times 2^(degree + 1) m, of the rows in the tiles to the rows of `out`.

    With `is_spectrum` write its spectrum instead, times 2^degree and in the order of `product`.
    """
    log2_size, lines = _log2_size(z, line), np.arange(out.shape[1])
    for t in range(tiles.shape[0]):
        for f in range(buckets.shape[0]):
            _sketch_dense(tiles[t], buckets[f], signs[f], z, line)
            _convolve_next(z, f == 0, product, twiddles, log2_size, line)
        _finish(product, twiddles, log2_size, lines, is_spectrum, out, t * len(line), line)


@entry
def convolve_csr(data, indices, indptr, buckets, signs, twiddles, z, product, is_spectrum, out, line):
    """Do as `convolve_dense` does for the rows of a CSR matrix with a 1 appended."""
    log2_size, lines = _log2_size(z, line), np.arange(out.shape[1])
    for row in range(0, out.shape[0], len(line)):
        for f in range(buckets.shape[0]):
            _sketch_csr(data, indices, indptr, row, buckets[f], signs[f], z, line)
            _convolve_next(z, f == 0, product, twiddles, log2_size, line)
        _finish(product, twiddles, log2_size, lines, is_spectrum, out, row, line)
