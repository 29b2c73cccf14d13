"""A sample of rows that does not depend on their order: those with the smallest content hash.

Keeping the rows with the smallest hashes (bottom-k) is mergeable: of two samples the smallest
of both together are the sample of the whole. Equal rows have equal hashes and count once.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from craftmaps._rows.randomness import child_seed
from craftmaps._rows.tiling import csr_block, frozen
from craftmaps._system.threads import for_row_blocks

_BLOCK_ROWS = 256
_WIDEST_DENSE = 2**16
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: multiples of it spread evenly

Pick = Callable[[Any, int, int], NDArray[np.int64]]


def row_hashes(X: Any, seed: int) -> NDArray[np.uint64]:
    """Hash each row of X by its content; float32, float64, dense and CSR agree."""
    from craftmaps._loops import row_hash

    hashes = np.empty(X.shape[0], np.uint64)
    key = np.uint64(child_seed(seed, "row hash"))
    if issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()

    def block(start: int, stop: int) -> None:
        if issparse(X):
            data, indices, indptr = csr_block(X, start, stop)
            bits = frozen(data.astype(np.float64).view(np.uint64))
            row_hash.hash_csr(bits, indices, indptr, key, hashes[start:stop])
        else:
            bits = np.ascontiguousarray(X[start:stop], dtype=np.float64).view(np.uint64)
            row_hash.hash_dense(frozen(bits), key, hashes[start:stop])

    for_row_blocks(block, X.shape[0], _BLOCK_ROWS)
    return hashes


def bottom_rows(X: Any, size: int, seed: int) -> NDArray[np.int64]:
    """Return the positions of `size` different rows with the smallest hashes, smallest first."""
    _, first = np.unique(row_hashes(X, seed), return_index=True)
    return first[:size]


def rows_with_copies(hashes: NDArray[np.uint64], ties: NDArray[np.uint64], size: int) -> NDArray[np.int64]:
    """Return the positions of `size` rows, in random order; equal rows come as often as among all rows.

    Rows with the smallest hashes are taken, and of each its share of copies. Equal rows with unlike targets are told
    apart by `ties`, hashes of the targets: the sample depends on the set of rows alone, not on their order.
    """
    order = np.lexsort((ties, hashes))
    hashes, ties = hashes[order], ties[order]
    is_new = np.diff(hashes, prepend=~hashes[:1]) != 0
    n_candidates = np.searchsorted(np.cumsum(is_new), size, side="right")  # all copies of `size` different rows
    size = min(size, int(n_candidates))
    candidate = np.arange(n_candidates)
    # Evenly spaced, so that every row, and every target of it, has its share.
    taken = candidate[(candidate + 1) * size // n_candidates > candidate * size // n_candidates]
    first = np.searchsorted(hashes[taken], hashes[taken])  # of the taken copies of the same row
    # Different rows are in a random order; further copies are spread over it.
    with np.errstate(over="ignore"):
        keys = hashes[taken] + (np.arange(size) - first).astype(np.uint64) * _GOLDEN
    return order[taken][np.argsort(keys, kind="stable")]


def first_rows(X: Any, size: int, seed: int) -> NDArray[np.int64]:
    """Return the positions of the first `size` different rows: a sample where their order is random already.

    Hashes of rows that were computed change with their last digits, and another processor would pick others.
    """
    _, first = np.unique(row_hashes(X, seed), return_index=True)
    return np.sort(first)[:size]


def sample_halves(X: Any, seed: int, size: int = 256, pick: Pick = bottom_rows) -> tuple[Any, Any]:
    """Return two samples of different rows, so that in pairing them no row meets itself."""
    sample = X[pick(X, size, seed)]
    if issparse(sample):
        # Dense, so that CSR rows give the same bits; of very wide rows only what is not zero.
        wide = sample.shape[1] > _WIDEST_DENSE
        sample = (sample[:, np.unique(sample.indices)] if wide else sample).toarray()
    half = max(1, sample.shape[0] // 2)
    return sample[:half], sample[-half:]
