"""Strings are hashed with FNV-1a, identically everywhere."""

import numpy as np
import pytest

from craftmaps._rows.randomness import fnv1a
from craftmaps.tables.hashing import hash_slices, signed_columns

# Test vectors published by the authors of the hash.
KNOWN = {b"": 0xCBF29CE484222325, b"a": 0xAF63DC4C8601EC8C, b"foobar": 0x85944171F73967E8}


def hashes(pieces):
    lengths = np.array([len(piece) for piece in pieces], np.int64)
    return hash_slices(np.frombuffer(b"".join(pieces), np.uint8), np.cumsum(lengths) - lengths, lengths)


def test_known_hashes():
    pieces = [b"foobar", b"", b"a", b"foobar"]
    assert hashes(pieces).tolist() == [KNOWN[piece] for piece in pieces]


def test_no_strings():
    assert hashes([]).size == 0


def test_hashes_equal_the_scalar_implementation():
    texts = ["", "a", "grüße", "a longer text", "signs", "x" * 300]
    assert hashes([text.encode() for text in texts]).tolist() == [fnv1a(text) for text in texts]


@pytest.mark.parametrize("form", ["{}", "c{:05}", "a long prefix that all have in common {:x}"])
def test_columns_and_signs_are_uniform(form):
    n = 20_000
    columns, signs = signed_columns(hashes([form.format(i).encode() for i in range(n)]))
    counts = np.bincount(columns, minlength=64)
    assert counts.size == 64
    # The chi-square statistic of 64 cells has mean 63 and standard deviation sqrt(126).
    assert ((counts - n / 64) ** 2 / (n / 64)).sum() < 63 + 5 * np.sqrt(126)
    assert set(signs.tolist()) == {-1, 1}
    assert abs(int(signs.sum(dtype=int))) < 5 * np.sqrt(n)


def test_the_column_of_a_string_does_not_change():
    columns, signs = signed_columns(hashes([b"a", b"foobar", b"\xff"]))
    assert list(zip(columns.tolist(), signs.tolist(), strict=True)) == [(48, 1), (26, -1), (60, -1)]
