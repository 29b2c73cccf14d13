"""A process forks while its other threads compute, and its children compute too."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import craftmaps
from craftmaps import CraftMap, Polynomial
from craftmaps._system import blas
from craftmaps._system import threads as parallel

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork"),
    # From Python 3.12 on a fork of a process with threads warns, rightly: that is what is tested.
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]
SECONDS = 120  # a machine may be slow and busy: only what hangs takes so long


def forked(task):
    """Return the exit code of a child that runs a task, or None if it does not end."""
    child = os.fork()
    if not child:
        code = 1
        with contextlib.suppress(BaseException):
            task()
            code = 0
        os._exit(code)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


@contextlib.contextmanager
def busy(task, n_threads=2):
    """Repeat a task in other threads."""
    stopped, began = threading.Event(), threading.Barrier(n_threads + 1)

    def work():
        task()
        began.wait(SECONDS)
        while not stopped.is_set():
            task()

    workers = [threading.Thread(target=work, daemon=True) for _ in range(n_threads)]
    for worker in workers:
        worker.start()
    began.wait(SECONDS)
    try:
        yield
    finally:
        stopped.set()
        for worker in workers:
            worker.join(SECONDS)


def numbers():
    """Return how many threads BLAS uses."""
    return [library.get_num_threads() for library in blas._libraries()]


def enter_and_leave():
    with parallel.serial_blas:
        pass


def test_a_fork_while_the_number_of_blas_threads_changes():
    with busy(enter_and_leave):
        assert all(forked(enter_and_leave) == 0 for _ in range(10))


def test_other_threads_do_not_lift_the_limit_to_one():
    """And what they asked for is neither lost nor kept."""
    before = numbers()
    if not before:
        pytest.skip("no BLAS whose threads can be set")
    seen, entered, may_leave = [], threading.Event(), threading.Event()

    def other():
        with craftmaps.threads(3):
            seen.append(numbers())
            entered.set()
            may_leave.wait(SECONDS)

    thread = threading.Thread(target=other)
    with parallel.serial_blas:
        thread.start()
        assert entered.wait(SECONDS)
    assert seen == [[1] * len(before)]
    assert numbers() == [3] * len(before)
    with parallel.serial_blas:
        may_leave.set()
        thread.join()
        assert numbers() == [1] * len(before)
    assert numbers() == before


MULTIPLY = """
import os, threading
import numpy as np
import craftmaps
from craftmaps._system import threads as parallel

A = np.random.default_rng(0).normal(size=(300, 300))

def multiply():
    with parallel.blas_threads():
        A @ A

def work():
    while True:
        multiply()

with craftmaps.threads(2):
    threading.Thread(target=work, daemon=True).start()
    for _ in range(10):
        child = os.fork()
        if not child:
            multiply()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    os._exit(0)
"""


def test_a_fork_while_others_multiply_on_all_threads():
    """OpenBLAS would wait for ever, in the parent, for one of its threads that computes."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", MULTIPLY], timeout=2 * SECONDS, check=True)


def test_a_fork_while_others_map():
    X = np.random.default_rng(0).normal(size=(200, 12))
    feature_map = CraftMap(Polynomial(3), 64, random_state=0)
    with craftmaps.threads(2):
        expected = feature_map.fit(X).transform(X)

        def transform():
            with craftmaps.threads(2):
                np.testing.assert_array_equal(feature_map.transform(X), expected)
                enter_and_leave()

        with busy(transform):
            assert all(forked(transform) == 0 for _ in range(5))


def test_a_child_forgets_the_threads_of_its_parent():
    entered, may_leave = threading.Event(), threading.Event()

    def inside():
        with parallel.serial_blas:
            entered.set()
            may_leave.wait(SECONDS)

    thread = threading.Thread(target=inside)
    before = numbers()
    thread.start()
    assert entered.wait(SECONDS)

    def check():
        assert blas.serial_blas.n_inside == 0
        enter_and_leave()
        assert numbers() == before

    assert forked(check) == 0
    assert blas.serial_blas.n_inside == 1
    may_leave.set()
    thread.join()


def test_a_child_of_a_thread_that_is_inside_leaves_as_its_parent_does():
    before = numbers()
    left = []

    def leave():
        parallel.serial_blas.__exit__()
        assert numbers() == before

    with parallel.serial_blas:
        left.append(forked(leave))
    assert left == [0]
    assert numbers() == before


def test_tasks_of_a_child_use_threads_again():
    seen = []

    def check():
        with craftmaps.threads(3):
            assert parallel.n_threads() == 3
            parallel.for_each(lambda _: None, range(10))

    def fork_inside(_):
        seen.append(forked(check))

    with craftmaps.threads(2):
        parallel.for_each(fork_inside, range(2))
    assert seen == [0, 0]


def test_a_fork_waits_for_a_thread_that_compiles():
    """A child that is forked while Numba holds its lock could never compile."""
    compiler_lock = pytest.importorskip("numba.core.compiler_lock").global_compiler_lock
    compiling, done = threading.Event(), []

    def compile_something():
        with compiler_lock:
            compiling.set()
            time.sleep(0.2)
            done.append(True)

    thread = threading.Thread(target=compile_something)
    thread.start()
    assert compiling.wait(SECONDS)

    def check():
        assert done
        assert compiler_lock._lock.acquire(timeout=1)

    assert forked(check) == 0
    thread.join()


def test_a_fork_that_waits_says_so(monkeypatch):
    monkeypatch.setattr(blas.threaded_blas, "patience", 0.01)
    entered, may_leave = threading.Event(), threading.Event()

    def compute():
        with parallel.blas_threads():
            entered.set()
            may_leave.wait(SECONDS)

    thread = threading.Thread(target=compute)
    thread.start()
    assert entered.wait(SECONDS)
    threading.Timer(0.2, may_leave.set).start()
    with pytest.warns(RuntimeWarning, match="spawn"):
        assert forked(lambda: None) == 0
    thread.join()
