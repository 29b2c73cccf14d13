"""Maps work from several Python threads and in forked processes."""

import multiprocessing
import threading

import numpy as np
import pytest
from sklearn.base import clone

import craftmaps
from tests.catalogue import MAPS

ALL_MAPS = pytest.mark.parametrize("name", MAPS)


@pytest.fixture(scope="module")
def many_rows():
    X = np.random.default_rng(0).random((500, 12))
    X.flags.writeable = False
    return X


@ALL_MAPS
def test_several_threads_transform_at_once(many_rows, name):
    feature_map = clone(MAPS[name]).fit(many_rows)
    expected = feature_map.transform(many_rows)
    n_threads, results = 4, {}
    gate = threading.Barrier(n_threads)

    def work(i):
        gate.wait()
        results[i] = [feature_map.transform(many_rows) for _ in range(5)]

    workers = [threading.Thread(target=work, args=(i,)) for i in range(n_threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == n_threads
    for result in results.values():
        for Z in result:
            np.testing.assert_array_equal(Z, expected)


def _transform_in_child(feature_map, X, queue):
    queue.put(feature_map.transform(X))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
# From Python 3.12 on a fork of a process with threads warns, rightly: that is what is tested.
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@ALL_MAPS
def test_a_forked_child_transforms(many_rows, name):
    feature_map = clone(MAPS[name]).fit(many_rows)
    with craftmaps.threads(2):
        expected = feature_map.transform(many_rows)  # now the parent has a pool, which the child must not use
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=_transform_in_child, args=(feature_map, many_rows, queue))
        child.start()
        result = queue.get(timeout=600)
        child.join(timeout=600)
    assert child.exitcode == 0
    np.testing.assert_array_equal(result, expected)
