"""Read ahead in a thread, so that reading and computing overlap."""

import queue
import threading
from collections.abc import Generator, Iterable
from typing import Any

_DEPTH = 2
# Seconds to wait for the thread to end. A thread that waits for a pipe cannot be stopped, but is a daemon.
_PATIENCE = 1.0
_END = object()


def prefetch(items: Iterable[Any]) -> Generator[Any, None, None]:
    """Yield the items of an iterable, which a thread reads up to two items ahead.

    Order is kept, and an error is raised in place of its item. When the consumer stops for any reason, the iterable is
    closed and the thread ends, before control returns if possible.
    """
    waiting: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(_DEPTH)
    stopped = threading.Event()

    def hand_over(item: Any, error: BaseException | None = None) -> bool:
        while not stopped.is_set():
            try:
                waiting.put((item, error), timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def read() -> None:
        iterator = iter(items)
        try:
            for item in iterator:
                if not hand_over(item):
                    break
            else:
                hand_over(_END)
        except BaseException as error:
            hand_over(_END, error)
        finally:
            # Close the files of an unfinished generator now, not when it is collected.
            if isinstance(iterator, Generator):
                iterator.close()

    thread = threading.Thread(target=read, name="craftmaps-prefetch", daemon=True)
    thread.start()
    try:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
    finally:
        stopped.set()
        while not waiting.empty():  # wakes a thread that waits for a free slot
            waiting.get_nowait()
        thread.join(_PATIENCE)
