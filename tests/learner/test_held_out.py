"""The held-out sample depends on the set of rows alone, and counts equal rows together."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from craftmaps._rows.sampling import row_hashes
from craftmaps.learners.held_out import HeldOut

SEED = 7


@pytest.fixture(scope="module")
def data():
    """300 rows of which a third repeat earlier ones, some with another label."""
    rng = np.random.default_rng(2)
    X = np.round(rng.random((200, 5)) * 4) / 4 * (rng.random((200, 5)) > 0.3)
    X = np.r_[X, X[rng.integers(0, 200, 100)]]
    return X, rng.integers(0, 3, 300), rng.integers(1, 5, 300).astype(float)


def bits(y):
    return row_hashes(y[:, None].astype(float), 1)


def sample_of(blocks, size=40):
    holdout = HeldOut(size, SEED)
    for X, y, w in blocks:
        holdout.add(X, y, bits(y), w)
    return holdout


def cut(data, bounds, order=slice(None)):
    X, y, w = (part[order] for part in data)
    edges = [0, *bounds, X.shape[0]]
    return [(X[a:b], y[a:b], w[a:b]) for a, b in pairwise(edges)]


def assert_same(one, two):
    for name in ("hashes", "X", "y", "weight", "count"):
        np.testing.assert_array_equal(getattr(one.sample, name), getattr(two.sample, name), err_msg=name)


@pytest.mark.parametrize("size", [1, 40, 1000])
def test_what_is_kept(data, size):
    """The slow way: group equal rows of equal label, sort the groups by hash."""
    X, y, w = data
    groups = {}
    for i, key in enumerate(zip(map(tuple, X), y, strict=True)):
        groups.setdefault(key, []).append(i)
    hashes = row_hashes(X, SEED) ^ bits(y)
    kept = sorted(groups.values(), key=lambda group: hashes[group[0]])[:size]
    holdout = sample_of(cut(data, []), size)
    first = [group[0] for group in kept]
    assert len(holdout) == len(kept) == min(size, len(groups))
    np.testing.assert_array_equal(holdout.sample.X, X[first])
    np.testing.assert_array_equal(holdout.sample.y, y[first])
    np.testing.assert_array_equal(holdout.sample.weight, [w[group].sum() for group in kept])
    np.testing.assert_array_equal(holdout.sample.count, [len(group) for group in kept])
    assert size == 1 or holdout.sample.count.max() > 1


@pytest.mark.parametrize("size", [1, 40, 1000])
@pytest.mark.parametrize("bounds", [[1], [150], [3, 50, 51, 200], list(range(7, 300, 7))], ids=len)
def test_any_order_and_any_chunking(data, size, bounds, seed):
    order = np.random.default_rng(seed).permutation(300)
    assert_same(sample_of(cut(data, bounds, order), size), sample_of(cut(data, []), size))


@pytest.mark.parametrize("size", [1, 40, 1000])
def test_any_merging(data, size):
    a, b, c = (sample_of([part], size) for part in cut(data, [30, 220]))
    whole = sample_of(cut(data, []), size)
    for merged in (a + b + c, c + (a + b), b + c + a):
        assert_same(merged, whole)
    assert_same(whole + HeldOut(size, SEED), whole)
    assert_same(HeldOut(size, SEED) + whole, whole)


def test_no_weights_are_weights_of_one(data):
    X, y, _ = data
    plain = sample_of([(X[:100], y[:100], None), (X[100:], y[100:], None)])
    assert_same(plain, sample_of([(X, y, np.ones(300))]))
    np.testing.assert_array_equal(plain.sample.weight, plain.sample.count)


def test_csr_and_dense(data):
    dense = sample_of(cut(data, [90]))
    sparse = sample_of([(csr_matrix(X), y, w) for X, y, w in cut(data, [90])])
    assert_same(HeldOut(sparse.size, SEED, sample=sparse.sample._replace(X=sparse.sample.X.toarray())), dense)


def test_single_and_double_precision(data):
    single = sample_of([(X.astype(np.float32), y, w) for X, y, w in cut(data, [90])])
    assert single.sample.X.dtype == np.float32
    assert_same(single, sample_of(cut(data, [90])))


def test_folds_cover_every_copy_once(data):
    holdout = sample_of(cut(data, []))
    dealt = np.repeat(np.arange(40), holdout.sample.count)
    for n_folds in (2, 3, 7):
        for fold, (rows, count) in enumerate(holdout.deal(n_folds)):
            np.testing.assert_array_equal(np.repeat(rows, count), dealt[fold::n_folds])


def spared(data, size, n_spent):
    """Return a sample that spares the first copies of some rows, and the counts of all rows by the slow way."""
    X, y, _ = data
    holdout = HeldOut(size, SEED).sparing(X[:n_spent], bits(y[:n_spent]))
    hashes = row_hashes(X, SEED) ^ bits(y)
    unique, count = np.unique(hashes, return_counts=True)
    spent = np.array([(hashes[:n_spent] == h).sum() for h in unique])
    free = np.flatnonzero(count > spent)[:size]
    return holdout, unique[free], (count - spent)[free]


@pytest.mark.parametrize("size", [1, 40, 1000])
@pytest.mark.parametrize("bounds", [[], [150], list(range(7, 300, 7))], ids=len)
def test_rows_that_were_looked_at_are_not_held_out(data, size, bounds, seed):
    holdout, hashes, free = spared(data, size, 120)
    for X, y, w in cut(data, bounds, np.random.default_rng(seed).permutation(300)):
        holdout.add(X, y, bits(y), w)
    held = holdout.free > 0
    np.testing.assert_array_equal(holdout.sample.hashes[held], hashes)
    np.testing.assert_array_equal(holdout.free[held], free)
    assert (len(holdout), holdout.n_rows) == (free.size, free.sum())
    dealt = np.concatenate([np.repeat(rows, count) for rows, count in holdout.deal(3)])
    np.testing.assert_array_equal(np.bincount(dealt, minlength=held.size), holdout.free)


def test_samples_that_spare_rows_merge(data):
    whole, _, _ = spared(data, 40, 120)
    parts = []
    for X, y, w in cut(data, [30, 220]):
        whole.add(X, y, bits(y), w)
        part = spared(data, 40, 120)[0]
        part.add(X, y, bits(y), w)
        parts.append(part)
    for merged in (parts[0] + parts[1] + parts[2], parts[2] + (parts[0] + parts[1])):
        assert_same(merged, whole)
    assert len(whole.emptied()) == 0
    assert whole.emptied().spent.equals(whole.spent)
    with pytest.raises(ValueError, match="choices were made by the same rows"):
        whole + HeldOut(40, SEED)


def test_how_many_rows_a_mean_is_worth():
    rng = np.random.default_rng(0)
    X, y = np.repeat(np.arange(200.0), 5)[:, None], np.zeros(1000, int)
    for size, expected in ((1000, 1000), (40, 1 / (0.2 / 200 + 0.8 / 40))):
        assert sample_of([(X, y, None)], size).n_effective(1000) == pytest.approx(expected)
    weight = rng.integers(1, 9, 200).astype(float)
    assert sample_of([(X[::5], y[::5], weight)], 200).n_effective(200) == pytest.approx(
        weight.sum() ** 2 / (weight**2).sum()
    )
    assert HeldOut(5, 0).n_effective(0) == 0


def test_samples_of_another_size_or_seed():
    with pytest.raises(ValueError, match="same size and seed to be merged, got 4, 0 and 5, 0"):
        HeldOut(4, 0) + HeldOut(5, 0)
    with pytest.raises(ValueError, match="same size and seed to be merged, got 4, 0 and 4, 1"):
        HeldOut(4, 0) + HeldOut(4, 1)


@pytest.mark.parametrize("size", [1, 40, 1000])
def test_taking_rows_out_again(data, size):
    """What is left is all remaining rows up to the common theta, as if the others had never come."""
    a, b, c = (sample_of([part], size) for part in cut(data, [30, 220]))
    whole = a + b + c
    for rest, others in ((whole - c, a + b), (whole - a - b, c), (whole - (a + c), b)):
        theta = min(whole.theta, others.theta)
        kept = others.sample.hashes <= np.uint64(theta)
        for name in ("hashes", "X", "y", "weight", "count"):
            np.testing.assert_array_equal(getattr(rest.sample, name), getattr(others.sample, name)[kept], err_msg=name)
        # And rows may come again.
        assert (rest + c).theta <= theta
    assert_same(whole + c - c, whole)
    with pytest.raises(ValueError, match="Rows can be taken out of those that were added only"):
        _ = a - whole


def test_theta_is_the_largest_hash_of_the_sample(data):
    full, all_rows = sample_of(cut(data, []), 40), sample_of(cut(data, []), 1000)
    assert full.theta == full.sample.hashes[-1]
    assert all_rows.theta == 2**64 - 1
    # A sample of few rows that was cut before stays cut: rows above theta may be missing.
    assert (full - full).theta == full.theta
    assert len(full - full) == 0


def test_weights_fade(data):
    whole = sample_of(cut(data, []))
    faded = whole * 0.5
    np.testing.assert_array_equal(faded.sample.weight, whole.sample.weight / 2)
    np.testing.assert_array_equal(faded.sample.count, whole.sample.count)
    assert faded.theta == whole.theta
