"""Values travel in pieces of bounded size, and are added up by key."""

import random

import numpy as np
import pytest

pytest.importorskip("pyspark")
from craftmaps.spark.messages import ERROR, Message, added_up, group, pickled, received, rows_of

PIECE = 64


def batches(*sent):
    return [batch for message in sent for batch in message.batches(PIECE)]


def test_pieces_come_in_any_order():
    sent = [
        pickled(-2, 0, list(range(100))),
        pickled(-2, 1, "short"),
        Message(0, 0, np.arange(30.0)),
        Message(1, 0, b""),
    ]
    pieces = batches(*sent)
    assert len(pieces) > 4
    assert max(piece.column("data").nbytes for piece in pieces) <= PIECE + 16
    random.Random(0).shuffle(pieces)
    found = {(message.key, message.source): message for message in received(rows_of(pieces))}
    assert found[-2, 0].value == list(range(100))
    assert found[-2, 1].value == "short"
    np.testing.assert_array_equal(np.frombuffer(found[0, 0].data), np.arange(30.0))
    assert len(found[1, 0].data) == 0


def test_equal_keys_are_added_up():
    tile = np.arange(30.0, dtype=np.float32)
    sent = [Message(3, i, tile) for i in range(3)] + [Message(4, 0, tile), pickled(-2, 0, 5), pickled(-2, 1, 7)]
    found = {message.key: message for message in received(rows_of(added_up(iter(batches(*sent)), np.float32, PIECE)))}
    assert sorted(found) == [-2, 3, 4]
    np.testing.assert_array_equal(np.frombuffer(found[3].data, np.float32), 3 * tile)
    np.testing.assert_array_equal(np.frombuffer(found[4].data, np.float32), tile)
    assert found[-2].value == 12


def test_an_error_passes_through_and_is_raised():
    sent = batches(pickled(-2, 0, 1), pickled(ERROR, 0, ValueError("no")), pickled(-2, 1, 2))
    (message,) = received(rows_of(added_up(iter(sent), np.float64, PIECE)))
    with pytest.raises(ValueError, match="no"):
        message.value  # noqa: B018 - reading it is the test


def test_groups_are_neither_tiles_nor_errors():
    assert {group(source, 3) for source in range(10)} == {-2, -3, -4}
