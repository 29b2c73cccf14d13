"""Randomness is portable: streams never change, and follow from a short definition."""

import numpy as np
import pytest

from craftmaps._rows.randomness import child_seed, integers, permutations, raw_words, seed_of, signs, uniforms

_MASK = 2**64 - 1


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & _MASK
    return value


def philox(key, n):
    """Return n words of Philox 4x64-10, the first block at counter 1, as any language can compute them."""
    words = []
    for counter in range(1, -(-n // 4) + 1):
        c, (k0, k1) = [counter, 0, 0, 0], key
        for _ in range(10):
            left, right = c[0] * 0xD2E7470EE14C6C93, c[2] * 0xCA5A826395121157
            c = [(right >> 64) ^ c[1] ^ k0, right & _MASK, (left >> 64) ^ c[3] ^ k1, left & _MASK]
            k0, k1 = (k0 + 0x9E3779B97F4A7C15) & _MASK, (k1 + 0xBB67AE8584CAA73B) & _MASK
        words += c
    return words[:n]


@pytest.mark.parametrize("purpose", ["signs", "rows", "", "Grüße"])
def test_words_are_those_of_the_definition(seed, purpose):
    assert raw_words(seed, purpose, 9).tolist() == philox((seed, fnv1a(purpose)), 9)


@pytest.mark.parametrize(
    ("seed", "purpose", "words"),
    [
        (0, "signs", [0x39052F469152112D, 0x4BAE3F4482D82CCC, 0x73051C788F9D3A]),
        (12345, "rows", [0xB094A77CA7777E94, 0x488519653DA1CFAC, 0x86F47919765DB2F3]),
        (2**64 - 1, "", [0xF8302BB4C9D5386F, 0x984D9B238B09DDA0]),
    ],
)
def test_raw_words(seed, purpose, words):
    assert raw_words(seed, purpose, len(words)).tolist() == words


def test_signs():
    drawn = signs(0, "signs", (70,))
    assert drawn.dtype == np.int8
    # The lowest bit of a word comes first, and a set bit is -1.
    bits = f"{0x4BAE3F4482D82CCC:064b}{0x39052F469152112D:064b}"[::-1]
    assert drawn.tolist() == [-1 if bit == "1" else 1 for bit in bits[:70]]
    assert signs(7, "rows", (2, 3)).tolist() == [[1, -1, -1], [1, -1, 1]]


def test_permutations():
    expected = [[2, 3, 0, 1, 6, 5, 7, 4], [4, 0, 1, 5, 7, 3, 6, 2], [3, 7, 2, 0, 4, 1, 6, 5]]
    assert permutations(0, "rows", 3, 8).tolist() == expected
    assert permutations(7, "positions", 1, 5).tolist() == [[4, 3, 1, 0, 2]]


def test_integers():
    expected = [[468, 764, 55, 167, 802], [138, 980, 112, 104, 13]]
    assert integers(0, "buckets", (2, 5), 1000).tolist() == expected
    assert integers(3, "quotients", (6,), 7).tolist() == [0, 6, 3, 6, 5, 3]


def test_uniforms():
    expected = [0.9359296080181654, 0.15156249372363684, 0.19853037534696316, 0.34919717100572634]
    assert uniforms(0, "degrees", 4).tolist() == expected


def test_seeds_of_parts():
    assert child_seed(0, "up") == 6676573712788498472
    assert child_seed(0, "down") == 2256817554728150300
    assert child_seed(2**63 + 11, "row hash") == 6541122505688189669


def test_an_integer_is_its_own_seed_and_a_generator_gives_one():
    assert [seed_of(state) for state in (0, np.int32(5), 2**64 - 1)] == [0, 5, 2**64 - 1]
    assert seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
    generator = np.random.RandomState(0)
    assert seed_of(generator) != seed_of(generator)


def test_draws_for_one_purpose_do_not_depend_on_how_many_are_drawn(seed):
    assert raw_words(seed, "rows", 100)[:7].tolist() == raw_words(seed, "rows", 7).tolist()
    assert not np.isin(raw_words(seed, "rows", 100), raw_words(seed, "signs", 100)).any()
