"""Slow twins of the compiled loops, written to be read."""

from functools import cache
from itertools import pairwise, product

import numpy as np
from scipy.linalg import hadamard as hadamard_matrix

_MASK = 2**64 - 1


@cache
def hadamard(order):
    """Return the Hadamard matrix of an order."""
    return hadamard_matrix(order, dtype=float)


def maclaurin_features(feature_map, X):
    """Return the features of a fitted RandomMaclaurin, factor by factor."""
    draw = feature_map._drawn
    n_parts, order = draw.signs.shape[1:]
    rows = draw.rows // 8 % order
    x = np.zeros((X.shape[0], order))
    x[:, : X.shape[1]] = feature_map.scale_ * X.astype(np.float64)
    columns = []
    for (first, end), block in zip(pairwise(draw.first_factor), draw.first_block, strict=True):
        z = np.ones((X.shape[0], draw.used[first]), complex)
        for f in range(first, end):
            signs, used = draw.signs[block + f - first], draw.used[f]
            factor = (x * signs[0]) @ hadamard(order)
            if n_parts == 2:
                factor = factor + 1j * (x * signs[1]) @ hadamard(order)
            z[:, :used] *= factor[:, rows[f, :used]]
        columns += [z.real, z.imag][:n_parts]
    columns += [np.ones((X.shape[0], draw.n_loose))]
    columns += [x[:, [i]] * x[:, i : draw.n_squared] for i in range(draw.n_squared)]
    columns += [x[:, : draw.n_linear], np.ones((X.shape[0], draw.n_constant))]
    return np.concatenate(columns, axis=1) * feature_map._weights


def subsampled_matrix(projection):
    """Return the matrix by which a fitted SubsampledHadamard multiplies a row from the right."""
    chunk = 1 << (projection.residues_.size - 1).bit_length()
    kept = projection.quotients_ * chunk + projection.residues_
    matrix = hadamard(projection.order_)[kept][:, projection.positions_]
    return (matrix * projection.signs_).T / np.sqrt(projection.residues_.size)


def folded_matrix(projection):
    """Return the matrix by which a fitted FoldedHadamard multiplies a row from the right."""
    chunk = 1 << (projection.residues_.size - 1).bit_length()
    column = np.arange(projection.signs_.size)
    place = (column % chunk) ^ projection.shifts_[column // chunk]
    matrix = hadamard(chunk)[projection.residues_][:, place]
    return (matrix * projection.signs_).T / np.sqrt(projection.residues_.size)


def up_then_down(craft_map, X):
    """Return the features of a fitted CraftMap, one projection after the other; the last columns are kept."""
    Z = craft_map.up_.transform(X)
    n_down = Z.shape[1] - craft_map.n_kept_
    if not n_down:
        return Z
    return np.concatenate([craft_map.down_.transform(Z[:, :n_down]), Z[:, n_down:]], axis=1)


def count_sketch(X, buckets, signs, constant, n_buckets):
    """Return the count sketch of the rows of X with a constant appended."""
    out = np.zeros((X.shape[0], n_buckets))
    extended = np.column_stack([X, np.full(X.shape[0], constant)])
    for k, bucket in enumerate(buckets):
        out[:, bucket] += signs[k] * extended[:, k]
    return out


def tensor_sketch(feature_map, X):
    """Return the count sketch of the explicit outer product, one product of coordinates at a time."""
    kernel, D = feature_map.kernel, feature_map.n_components
    x = np.column_stack([np.sqrt(kernel.gamma) * X, np.full(X.shape[0], np.sqrt(kernel.coef0))])
    out = np.zeros((X.shape[0], D))
    for index in product(range(x.shape[1]), repeat=kernel.degree):
        bucket, value = 0, np.ones(X.shape[0])
        for factor, k in enumerate(index):
            bucket += feature_map.buckets_[factor, k]
            value = value * feature_map.signs_[factor, k] * x[:, k]
        out[:, bucket % D] += value
    return out


def row_hash(row, key):
    """Return the content hash of one row of float64 numbers."""
    total = 0
    for column, number in enumerate(row):
        if number != 0:
            bits = int(np.float64(number).view(np.uint64))
            total += _split_mix(bits ^ _split_mix(column + 0x9E3779B97F4A7C15))
    return _split_mix((total & _MASK) ^ _split_mix(key))


def _split_mix(word):
    word &= _MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    return word ^ (word >> 31)
