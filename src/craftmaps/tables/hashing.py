"""Feature hashing of strings with FNV-1a, identical on every machine and in every version."""

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.randomness import FNV_OFFSET, FNV_PRIME

N_HASHED = 64
# 0xff occurs in no UTF-8 text, so a missing value differs from every string.
MISSING = b"\xff"
_OFFSET, _PRIME = np.uint64(FNV_OFFSET), np.uint64(FNV_PRIME)


def hash_slices(
    content: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return `fnv1a` of every slice of `content`, in one vectorised step per byte position."""
    # Long slices first: the slices with a byte at position i form a prefix.
    order = np.argsort(-lengths, kind="stable")
    starts, n_left = starts[order], np.searchsorted(-lengths[order], -np.arange(lengths.max(initial=0)))
    sorted_hashes = np.full(lengths.size, _OFFSET)
    for i, n in enumerate(n_left):
        sorted_hashes[:n] = (sorted_hashes[:n] ^ content[starts[:n] + i]) * _PRIME
    hashes = np.empty_like(sorted_hashes)
    hashes[order] = sorted_hashes
    return hashes


def signed_columns(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.int8]]:
    """Return the column and the sign, 1 or -1, of each hash."""
    # A short string changes few bits of its hash, near 0 and near 40: fold both in.
    folded = hashes ^ (hashes >> np.uint64(20)) ^ (hashes >> np.uint64(40))
    columns = (folded % np.uint64(N_HASHED)).astype(np.intp)
    signs = 1 - 2 * ((folded // np.uint64(N_HASHED)) % np.uint64(2)).astype(np.int8)
    return columns, signs
