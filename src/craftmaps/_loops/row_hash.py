"""Content hashes of rows, the same for dense and CSR and for every order of the entries."""

import numpy as np

from craftmaps._loops.compiled import loop


@loop
def _mix(word):
    """Scramble 64 bits (the finaliser of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@loop
def _entry(column, bits):
    """Hash one entry; zeros of either sign count for nothing."""
    if bits << np.uint64(1) == np.uint64(0):
        return np.uint64(0)
    return _mix(bits ^ _mix(np.uint64(column) + np.uint64(0x9E3779B97F4A7C15)))


@loop
def hash_dense(bits, seed, out):
    """Hash the rows of a matrix of float64 bit patterns."""
    for row in range(bits.shape[0]):
        total = np.uint64(0)
        for k in range(bits.shape[1]):
            total += _entry(k, bits[row, k])
        out[row] = _mix(total ^ _mix(seed))


@loop
def hash_csr(bits, indices, indptr, seed, out):
    """Do as `hash_dense` does for a CSR matrix without duplicate entries."""
    for row in range(indptr.size - 1):
        total = np.uint64(0)
        for e in range(indptr[row], indptr[row + 1]):
            total += _entry(indices[e], bits[e])
        out[row] = _mix(total ^ _mix(seed))
