"""Reading ahead keeps the order, propagates errors and leaves no thread behind."""

import threading
import time

import pytest

from craftmaps import streams
from craftmaps.streams.prefetch import prefetch
from tests.streams.formats import example, write


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "craftmaps-prefetch"]


def test_all_items_come_in_order_and_the_thread_ends():
    assert list(prefetch(range(100))) == list(range(100))
    assert not threads()


def test_no_items():
    assert list(prefetch([])) == []
    assert not threads()


def test_reading_is_at_most_three_items_ahead():
    taken = []

    def items():
        for i in range(50):
            taken.append(i)
            yield i

    ahead = prefetch(items())
    assert next(ahead) == 0
    deadline = time.monotonic() + 60
    while len(taken) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)
    assert len(taken) == 4  # one yielded, two queued, one held by the thread
    ahead.close()
    assert not threads()


def test_an_error_follows_the_items_before_it():
    def items():
        yield 1
        yield 2
        raise OSError("the disk is gone")

    ahead = prefetch(items())
    assert [next(ahead), next(ahead)] == [1, 2]
    with pytest.raises(OSError, match="the disk is gone"):
        next(ahead)
    assert not threads()


def test_stopping_early_closes_the_source():
    closed = threading.Event()

    def items():
        try:
            while True:
                yield 0
        finally:
            closed.set()

    for _ in prefetch(items()):
        break
    assert closed.wait(5)
    assert not threads()


@pytest.mark.parametrize("format", ["Parquet", "CSV, gz", "svmlight", "IDX"])
def test_leaving_a_stream_leaves_no_thread(tmp_path, format):
    path, target = write(tmp_path, format, *example())
    stream = streams.open(path, target=target, batch_rows=2)
    for _ in stream:
        break
    assert not threads()
    try:
        for _ in stream:
            raise RuntimeError("the consumer fails")
    except RuntimeError:
        pass
    assert not threads()


def test_two_passes_at_once(tmp_path):
    X, Y = example()
    path, target = write(tmp_path, "Parquet", X, Y)
    stream = streams.open(path, target=target, batch_rows=10)
    for (a, _), (b, _) in zip(stream, stream, strict=True):
        assert (a == b).all()
    assert not threads()
