"""A row has the same features, bit for bit, in every block, lane and thread."""

import threading

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from threadpoolctl import ThreadpoolController

import craftmaps
from craftmaps._system import threads as parallel
from tests.catalogue import BIT_EQUAL, MAPS
from tests.comparison import assert_rows_close

HADAMARD_MAPS = pytest.mark.parametrize("name", BIT_EQUAL)


@HADAMARD_MAPS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.asarray, csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("block", [1, 3, 7, 16, 17])
def test_cuts_between_rows_do_not_matter(rows, name, dtype, layout, block):
    X = layout(rows.astype(dtype))
    feature_map = clone(MAPS[name]).fit(X)
    parts = [feature_map.transform(X[start : start + block]) for start in range(0, 60, block)]
    np.testing.assert_array_equal(np.concatenate(parts), feature_map.transform(X))


@HADAMARD_MAPS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_number_of_threads_does_not_matter(rows, name, dtype):
    X = np.concatenate([rows, rows[::-1], rows]).astype(dtype)[:163]
    results = []
    for n in (1, 2, 3):
        with craftmaps.threads(n):
            results.append(clone(MAPS[name]).fit_transform(X))
    np.testing.assert_array_equal(results[1], results[0])
    np.testing.assert_array_equal(results[2], results[0])


@pytest.mark.parametrize("name", [name for name in MAPS if name not in BIT_EQUAL])
def test_other_maps_agree_up_to_rounding(rows, name):
    feature_map = clone(MAPS[name]).fit(rows)
    expected = feature_map.transform(rows)
    for block in (1, 7, 17):
        parts = [feature_map.transform(rows[start : start + block]) for start in range(0, 60, block)]
        assert_rows_close(np.concatenate(parts), expected, 1e-12)
    with craftmaps.threads(3):
        assert_rows_close(feature_map.transform(rows), expected, 1e-12)


@pytest.mark.parametrize("n_rows", [0, 1, 15, 16, 17, 1000])
@pytest.mark.parametrize("block_rows", [0, 1, 16, 100])
def test_blocks_cover_every_row_once(n_rows, block_rows):
    seen = np.zeros(n_rows, int)

    def task(start, stop):
        assert stop > start
        seen[start:stop] += 1

    for n in (1, 2, 3):
        seen[:] = 0
        with craftmaps.threads(n):
            parallel.for_row_blocks(task, n_rows, block_rows)
        assert (seen == 1).all()


def test_an_error_in_a_thread_comes_out():
    def task(start, stop):
        if start >= 32:
            raise ArithmeticError(f"rows {start}")

    with craftmaps.threads(2), pytest.raises(ArithmeticError, match="rows"):
        parallel.for_row_blocks(task, 100, 16)


def test_after_an_error_nothing_more_is_begun_and_threads_are_there_again():
    begun = []

    def task(i):
        begun.append(i)
        raise ArithmeticError("no")

    with craftmaps.threads(3):
        with pytest.raises(ArithmeticError, match="no"):
            parallel.for_each(task, range(1000))
        assert len(begun) <= 3
        assert parallel.n_threads() == 3


def test_threads_of_the_pool_are_as_many_as_asked_for_whatever_there_is_to_do():
    with craftmaps.threads(7):
        before = threading.active_count()
        for n in range(1, 12):
            parallel.for_each(lambda _: None, range(n))
        assert threading.active_count() <= before + 6


def test_inside_a_task_there_is_one_thread():
    seen = []
    with craftmaps.threads(2):
        parallel.for_each(lambda _: seen.append(parallel.n_threads()), range(20))
    assert seen == [1] * 20


def test_threads_nest_and_are_given_back(monkeypatch):
    monkeypatch.delenv("CRAFTMAPS_NUM_THREADS", raising=False)
    before = parallel.n_threads()
    with craftmaps.threads(3):
        assert parallel.n_threads() == 3
        with craftmaps.threads(1):
            assert parallel.n_threads() == 1
        assert parallel.n_threads() == 3
    assert parallel.n_threads() == before


def test_the_environment_sets_the_number_and_a_request_goes_before_it(monkeypatch):
    monkeypatch.setenv("CRAFTMAPS_NUM_THREADS", "5")
    assert parallel.n_threads() == 5
    with craftmaps.threads(2):
        assert parallel.n_threads() == 2


def test_blas_follows_the_number(monkeypatch):
    def blas():
        return {info["num_threads"] for info in ThreadpoolController().info() if info["user_api"] == "blas"}

    if not blas():
        pytest.skip("no BLAS whose threads can be set")
    with craftmaps.threads(1):
        assert blas() == {1}
    monkeypatch.setenv("CRAFTMAPS_NUM_THREADS", "1")
    with parallel.blas_threads():
        assert blas() == {1}


def test_tasks_share_blas_with_one_thread_which_is_given_back():
    def blas():
        return {info["num_threads"] for info in ThreadpoolController().info() if info["user_api"] == "blas"}

    before, inside = blas(), []
    waiting = threading.Barrier(2, timeout=600)

    def user():
        parallel.for_each(lambda _: (waiting.wait(), inside.append(blas())), [0])

    users = [threading.Thread(target=user) for _ in range(2)]
    for thread in users:
        thread.start()
    for thread in users:
        thread.join()
    if not before:
        pytest.skip("no BLAS whose threads can be set")
    assert inside == [{1}, {1}]
    assert blas() == before


def test_blas_is_given_back_by_whoever_leaves_last():
    def blas():
        return {info["num_threads"] for info in ThreadpoolController().info() if info["user_api"] == "blas"}

    with craftmaps.threads(2):
        if blas() != {2}:
            pytest.skip("no BLAS whose threads can be set")
        entered, may_leave, has_left, may_end = (threading.Event() for _ in range(4))

        def first():
            with parallel.serial_blas:
                entered.set()
                may_leave.wait(600)
            has_left.set()
            may_end.wait(600)  # stays alive, so that it could keep the setting

        thread = threading.Thread(target=first)
        thread.start()
        assert entered.wait(600)
        with parallel.serial_blas:
            may_leave.set()
            assert has_left.wait(600)
            assert blas() == {1}
        assert blas() == {2}
        may_end.set()
        thread.join()


def test_an_error_in_a_task_gives_blas_back():
    before = ThreadpoolController().info()
    with pytest.raises(ZeroDivisionError):
        parallel.for_each(lambda i: 1 / i, [1, 0, 2])
    assert ThreadpoolController().info() == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("packed", [False, True])
def test_statistics_do_not_depend_on_the_number_of_threads(dtype, packed):
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(300, 1100)).astype(dtype), rng.normal(size=(300, 3))
    statistics = []
    for n in (1, 2, 3):
        with craftmaps.threads(n):
            statistics.append(craftmaps.NormalEquations.of(Z, Y, packed=packed))
    for other in statistics[1:]:
        np.testing.assert_array_equal(np.tril(other.gram), np.tril(statistics[0].gram))
        np.testing.assert_array_equal(other.cross, statistics[0].cross)
        np.testing.assert_array_equal(other.feature_sums, statistics[0].feature_sums)
