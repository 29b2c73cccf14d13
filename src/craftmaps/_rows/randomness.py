"""Portable randomness: everything a map draws comes from raw Philox words.

Raw 64-bit streams are stable across NumPy versions and easy to rebuild in another language; NumPy's distributions
are neither. The key of a stream is (seed, purpose), where the purpose is a short name hashed with FNV-1a, so that no
draw depends on how many words another one consumed.
"""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


def seed_of(random_state: Any) -> int:
    """Turn a scikit-learn `random_state` into a seed; an int is its own seed."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if not 0 <= int(random_state) < 2**64:
            raise ValueError(f"random_state must be in [0, 2**64), got {random_state}.")
        return int(random_state)
    try:
        generator = check_random_state(random_state)
    except ValueError:
        raise ValueError(f"random_state must be an int, a RandomState or None, got {random_state!r}.") from None
    return int(generator.randint(0, 2**63 - 1, dtype=np.int64))


def child_seed(seed: int, purpose: str) -> int:
    """Derive the seed of a component, such as the up-projection of a compact map."""
    return int(raw_words(seed, purpose, 1)[0] >> np.uint64(1))


def raw_words(seed: int, purpose: str, n: int) -> NDArray[np.uint64]:
    """Return the first n words of the stream (seed, purpose)."""
    key = np.array([seed, fnv1a(purpose)], dtype=np.uint64)
    return np.random.Philox(key=key).random_raw(n)


def signs(seed: int, purpose: str, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """Draw +1 or -1 from the bits of the stream, lowest bit of a word first."""
    n = int(np.prod(shape))
    words = raw_words(seed, purpose, -(-n // 64)).astype("<u8", copy=False)
    bits = np.unpackbits(words.view(np.uint8), count=n, bitorder="little")
    return (1 - 2 * bits.astype(np.int8)).reshape(shape)


def permutations(seed: int, purpose: str, n_permutations: int, n: int) -> NDArray[np.int64]:
    """Draw permutations of 0..n-1, each the order that sorts n words."""
    words = raw_words(seed, purpose, n_permutations * n).reshape(n_permutations, n)
    return np.argsort(words, axis=1, kind="stable")


def integers(seed: int, purpose: str, shape: tuple[int, ...], bound: int) -> NDArray[np.int64]:
    """Draw integers below a bound of at most 2^31 from the high halves of the words."""
    high = raw_words(seed, purpose, int(np.prod(shape))) >> np.uint64(32)
    return ((high * np.uint64(bound)) >> np.uint64(32)).astype(np.int64).reshape(shape)


def uniforms(seed: int, purpose: str, n: int) -> NDArray[np.float64]:
    """Draw numbers in [0, 1) with 53 bits."""
    return (raw_words(seed, purpose, n) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def fnv1a(text: str) -> int:
    """Hash a string to 64 bits (FNV-1a)."""
    value = FNV_OFFSET
    for byte in text.encode():
        value = ((value ^ byte) * FNV_PRIME) % 2**64
    return value
