"""Strings as signed columns: feature hashing with FNV-1a, the same on every machine and in every version."""

import numpy as np
from numpy.typing import NDArray

N_HASHED = 64
# No UTF-8 text has this byte, so a missing value is unlike every string.
MISSING = b"\xff"
_OFFSET = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)


def fnv1a(content: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the 64-bit FNV-1a hash of each piece of content, at one step per byte of all pieces."""
    hashes = np.full(lengths.size, _OFFSET)
    order = np.argsort(-lengths, kind="stable")
    # Long pieces first: those that still have a byte at position i are then a prefix.
    sorted_starts, remaining = starts[order], np.searchsorted(-lengths[order], -np.arange(lengths.max(initial=0)))
    working = hashes.copy()
    for i, n in enumerate(remaining):
        working[:n] = (working[:n] ^ content[sorted_starts[:n] + i]) * _PRIME
    hashes[order] = working
    return hashes


def signed_columns(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.int8]]:
    """Return the column and the sign, 1 or -1, of each hash."""
    # A short string moves few bits of its hash: those at 0 and at 40, so both are folded in.
    folded = hashes ^ (hashes >> np.uint64(20)) ^ (hashes >> np.uint64(40))
    columns = (folded % np.uint64(N_HASHED)).astype(np.intp)
    signs = 1 - 2 * ((folded // np.uint64(N_HASHED)) % np.uint64(2)).astype(np.int8)
    return columns, signs
