"""A row hash depends on the entries and their columns only."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import craftmaps
from craftmaps._rows.randomness import child_seed
from craftmaps._rows.sampling import row_hashes
from tests.loops.naive import row_hash
from tests.sparse_rows import with_explicit_zeros, with_reversed_entries, with_split_entries


@pytest.fixture(autouse=True)
def _words_wrap_around():
    """Let 64-bit words overflow in silence, for the runs without the compiler; only this thread is silenced."""
    with np.errstate(over="ignore"), craftmaps.threads(1):
        yield


def test_equals_the_twin(rows, seed):
    key = child_seed(seed, "row hash")
    assert row_hashes(rows[:20], seed).tolist() == [row_hash(row, key) for row in rows[:20]]


def test_csr_rows_hash_as_dense_rows(rows, csr_rows, seed):
    np.testing.assert_array_equal(row_hashes(csr_rows, seed), row_hashes(rows, seed))


def test_single_precision_hashes_as_the_same_numbers_in_double(rows32):
    expected = row_hashes(rows32.astype(np.float64), 0)
    np.testing.assert_array_equal(row_hashes(rows32, 0), expected)
    np.testing.assert_array_equal(row_hashes(csr_matrix(rows32), 0), expected)


def test_order_of_csr_entries_does_not_matter(rows):
    np.testing.assert_array_equal(row_hashes(with_reversed_entries(rows), 0), row_hashes(rows, 0))


def test_split_entries_of_csr_count_as_their_sum(rows):
    split = with_split_entries(rows)
    before = split.data.copy()
    np.testing.assert_array_equal(row_hashes(split, 0), row_hashes(rows, 0))
    np.testing.assert_array_equal(split.data, before)


def test_zeros_count_for_nothing():
    plain, negative, wider = np.array([[0.0, 2.0]]), np.array([[-0.0, 2.0]]), np.array([[0.0, 2.0, 0.0]])
    explicit = with_explicit_zeros(negative)
    assert row_hashes(plain, 0) == row_hashes(negative, 0) == row_hashes(wider, 0) == row_hashes(explicit, 0)


def test_what_differs_hashes_differently():
    different = np.array([[2.0, 0, 3], [0, 2, 3], [3, 0, 2], [-2, 0, 3], [2, 0, np.nextafter(3, 4)], [0, 0, 0]])
    assert np.unique(row_hashes(different, 0)).size == len(different)
    assert not np.isin(row_hashes(different, 1), row_hashes(different, 0)).any()


def test_hashes_are_spread_over_all_words():
    hashes = row_hashes(np.arange(4000.0)[:, None], 0)
    bits = np.unpackbits(hashes[:, None].view(np.uint8), axis=1)
    # A fair bit is set in half of 4000 words, with a standard error of 1/126.
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(4000)
