"""Samples of different rows, by content hash.

Keeping the rows with the smallest hashes (bottom-k) does not depend on the order of the rows and is mergeable: the
smallest hashes of two samples together are the sample of the whole. Equal rows have equal hashes and count once.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from craftmaps._rows.canonical import without_duplicates
from craftmaps._rows.randomness import child_seed
from craftmaps._rows.tiling import csr_block, frozen
from craftmaps._system.threads import for_row_blocks

_BLOCK_ROWS = 256
_WIDEST_DENSE = 2**16


@dataclass(frozen=True)
class SampledRows:
    """Rows from which samples of different rows are taken.

    A sample has the rows with the smallest hashes, or the first rows if the order `is_random` already: hashes of
    computed rows change with their last digits, so another processor would pick other rows.
    """

    X: Any
    is_random: bool = False

    def sample(self, size: int, seed: int) -> Any:
        """Return `size` different rows, or all of them if there are fewer."""
        pick = first_rows if self.is_random else bottom_rows
        return self.X[pick(self.X, size, seed)]

    def halves(self, seed: int, size: int = 256) -> tuple[Any, Any]:
        """Return the two halves of a sample, dense: in pairs across them no row meets itself."""
        sample = self.sample(size, seed)
        if issparse(sample):
            # Dense, so that CSR rows give the same bits; very wide rows keep their nonzero columns only.
            wide = sample.shape[1] > _WIDEST_DENSE
            sample = (sample[:, np.unique(sample.indices)] if wide else sample).toarray()
        half = max(1, sample.shape[0] // 2)
        return sample[:half], sample[-half:]


def row_hashes(X: Any, seed: int) -> NDArray[np.uint64]:
    """Hash each row of X by its content; float32, float64, dense and CSR agree."""
    from craftmaps._loops import row_hash

    hashes = np.empty(X.shape[0], np.uint64)
    key = np.uint64(child_seed(seed, "row hash"))
    X = without_duplicates(X)

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


def first_rows(X: Any, size: int, seed: int) -> NDArray[np.int64]:
    """Return the positions of the first `size` different rows."""
    n_hashed = size
    while True:  # rows are seldom equal: few more than are asked for have to be hashed
        n_hashed = min(n_hashed, X.shape[0])
        _, first = np.unique(row_hashes(X[:n_hashed], seed), return_index=True)
        if first.size >= size or n_hashed == X.shape[0]:
            return np.sort(first)[:size]
        n_hashed *= 2
