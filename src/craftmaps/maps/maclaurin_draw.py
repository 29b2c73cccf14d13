"""The random part of a Maclaurin map: signs, and the rows of Hadamard blocks that its factors take."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.extmath import safe_sparse_dot

from craftmaps._loops import LOOK_AHEAD
from craftmaps._rows.randomness import permutations, signs
from craftmaps._rows.tiling import frozen
from craftmaps._system.threads import blas_threads
from craftmaps.maps.degree_shares import DegreeShares
from craftmaps.maps.drawing_costs import (
    LONGEST_PERMUTATION,
    MOST_GROUPS,
    MOST_LINES,
    MOST_SIGNS,
    MOST_SORTED,
    DrawingCost,
)

PROJECTIONS = ("hadamard", "stratified", "rademacher")
_DENSE_BLOCK_BYTES = 2**23
# Loops address factors in units of an eighth of a line.
_EIGHTHS = 8


class MaclaurinDraw(NamedTuple):
    """What a Maclaurin map draws, and where its columns are; the loops' `MaclaurinDraw` explains the fields.

    With independent signs ("rademacher") `signs` has one entry for every factor of every feature instead of one for
    every block, and `rows` is empty.
    """

    signs: NDArray[np.float32]  # (n_blocks, n_parts, order)
    rows: NDArray[np.unsignedinteger]  # (n_factors + padding, order)
    used: NDArray[np.int64]  # (n_factors,)
    first_factor: NDArray[np.int64]  # (n_groups + 1,)
    first_block: NDArray[np.int64]  # (n_groups,)
    n_loose: int
    n_squared: int
    n_linear: int
    n_constant: int

    @classmethod
    def of(cls, shares: DegreeShares, seed: int, projection: str, width: int) -> "MaclaurinDraw":
        """Draw for rows of a width."""
        n_parts, order, used = shares.n_parts, shares.order, shares.n_uses
        first_factor = np.concatenate([[0], np.cumsum(shares.n_factors)]).astype(np.int64)
        first_block, rows = first_factor[:-1], np.empty((0, 0), np.uint32)
        if order is None:
            drawn = signs(seed, "signs", (int(used.sum()), n_parts, width))
        else:
            if projection == "hadamard":
                first_block = np.zeros_like(first_block)  # all groups share their blocks
            drawn = signs(seed, "signs", (n_blocks(shares, projection), n_parts, order))
            number = np.arange(used.size) - np.repeat(first_factor[:-1], shares.n_factors)  # within its group
            rows = permutations(seed, "rows", used.size, order)
            rows = _EIGHTHS * (rows + order * number[:, None])
            rows = rows.astype(np.uint32 if rows.max(initial=0) < 2**32 else np.uint64)
            rows = np.pad(rows, ((0, -(-LOOK_AHEAD // order)), (0, 0)))
        return cls(
            signs=drawn.astype(np.float32),  # the dtype of the loops
            rows=rows,
            used=used,
            first_factor=first_factor,
            first_block=first_block,
            n_loose=int(shares.counts[0]) + shares.n_unused,
            n_squared=width if shares.n_quadratic else 0,
            n_linear=shares.n_linear,
            n_constant=shares.n_constant,
        )

    @property
    def n_parts(self) -> int:
        """Parts of a number: 2 if weights are complex, else 1."""
        return self.signs.shape[1]

    @property
    def order(self) -> int:
        """Order of the Hadamard matrix of a block."""
        return self.signs.shape[2]

    @property
    def n_factor_lines(self) -> int:
        """Lines that the transformed blocks of a group take; the first group has the highest degree."""
        return max(1, int(self.first_factor[:2][-1])) * self.n_parts * self.order

    def for_loops(self) -> Any:
        """Return the draw as the named tuple that the loops are compiled for."""
        from craftmaps._loops import hadamard

        values = (frozen(value) if isinstance(value, np.ndarray) else value for value in self)
        return hadamard.MaclaurinDraw(**dict(zip(self._fields, values, strict=True)))


def n_blocks(shares: DegreeShares, projection: str) -> int:
    """Count the Hadamard blocks: one for each factor, of all groups together or of each group."""
    return int(shares.n_factors.max(initial=0) if projection == "hadamard" else shares.n_factors.sum())


def drawing_costs(shares: DegreeShares, projection: str, width: int) -> Iterator[DrawingCost]:
    """Yield the sizes of the draw, each computed only after the one before it was found to be within its limit."""
    n_random = int(shares.counts[1:].sum())
    if shares.order is None:
        n_factors = int(np.arange(shares.counts.size) @ shares.counts)
        yield DrawingCost("Independent signs", n_factors * shares.n_parts * width, MOST_SIGNS)
        return
    degree = int(np.flatnonzero(shares.counts).max(initial=0))
    n_groups = -(-n_random // shares.order)
    yield DrawingCost("A table of degrees", n_groups * shares.counts.size, MOST_GROUPS)
    yield DrawingCost("The factors of a feature", degree * shares.n_parts * shares.order, MOST_LINES)
    yield DrawingCost("A permutation", shares.order if n_random else 0, LONGEST_PERMUTATION)
    n_sorted = int(shares.n_factors.sum()) * shares.order
    yield DrawingCost("Permutations", n_sorted, MOST_SORTED)
    yield DrawingCost("Signs", n_sorted * shares.n_parts if projection == "stratified" else 0, MOST_SIGNS)


def dense_features(X: Any, scale: float, draw: MaclaurinDraw, weights: NDArray) -> NDArray[np.floating]:
    """Map scaled rows with independent signs, by products with dense matrices in blocks of rows."""
    out = np.empty((X.shape[0], weights.size), X.dtype)
    dense_signs, weights = draw.signs.astype(X.dtype), weights.astype(X.dtype)
    block = max(1, _DENSE_BLOCK_BYTES // (X.dtype.itemsize * weights.size))
    with blas_threads():
        for start in range(0, X.shape[0], block):
            rows = X[start : start + block] * X.dtype.type(scale)
            _write_dense_block(rows, draw, dense_signs, out[start : start + block])
            out[start : start + block] *= weights
    return out


def _write_dense_block(X: Any, draw: MaclaurinDraw, dense_signs: NDArray, out: NDArray) -> None:
    """Write the features of scaled rows, without their weights."""
    n_features = int(draw.used[0]) if draw.used.size else 0
    n_parts = draw.n_parts
    z: Any = np.ones((X.shape[0], n_features), X.dtype if n_parts == 1 else np.result_type(X.dtype, np.complex64))
    row = 0
    for count in draw.used:
        parts = [safe_sparse_dot(X, dense_signs[row : row + count, p].T, dense_output=True) for p in range(n_parts)]
        z[:, :count] *= parts[0] if n_parts == 1 else parts[0] + 1j * parts[1]
        row += count
    if n_parts == 1:
        out[:, :n_features] = z
    else:
        out[:, :n_features], out[:, n_features : 2 * n_features] = z.real, z.imag
    end = n_parts * n_features + draw.n_loose
    out[:, n_parts * n_features :] = 1
    if draw.n_squared or draw.n_linear:
        X = X.toarray() if issparse(X) else X
    for i in range(draw.n_squared):
        stop = end + draw.n_squared - i
        np.multiply(X[:, i, None], X[:, i:], out=out[:, end:stop])
        end = stop
    if draw.n_linear:
        out[:, end : end + draw.n_linear] = X
