"""JSON lines: numbers and booleans are interchangeable, and late fields are reported."""

import json
import warnings

import numpy as np
import pytest

from craftmaps import streams
from craftmaps.streams.column_options import ColumnOptions
from craftmaps.streams.limits import Limits
from craftmaps.streams.opening import open_files
from craftmaps.streams.request import Request
from tests.streams.formats import collect

# The first 64 bytes fix columns and types.
SHORT = Limits(text_block=64)


def saved(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def rows_of(values, labels=(1, 0, 1)):
    return [{"a": value, "label": label} for value, label in zip(values, labels, strict=True)]


TRUTH = {"booleans": [True, False, True], "numbers": [1, 0, 1], "fractions": [1.0, 0.0, 1.0]}


@pytest.mark.parametrize("trained", TRUTH)
@pytest.mark.parametrize("later", TRUTH)
def test_booleans_and_numbers_are_interchangeable(tmp_path, trained, later):
    stream = streams.open(saved(tmp_path / "t.jsonl", rows_of(TRUTH[trained], TRUTH[trained])))
    path = saved(tmp_path / "p.jsonl", rows_of(TRUTH[later], TRUTH[later]))
    X, y = collect(streams.open(path, columns=stream.columns))
    np.testing.assert_array_equal(X, [[1], [0], [1]])
    assert y.tolist() == [1, 0, 1]
    assert (y.dtype.kind == "b") == (trained == "booleans")


def test_files_of_booleans_and_of_numbers(tmp_path):
    for i, values in enumerate([[True, False, None], [5, 6, None], [None] * 3]):
        saved(tmp_path / f"{i}.jsonl", rows_of(values))
    assert collect(streams.open(tmp_path))[0][:, 0].tolist() == [1, 0, 3, 5, 6, 3, 3, 3, 3]


def test_booleans_that_are_missing_at_first(tmp_path):
    columns = streams.open(saved(tmp_path / "t.jsonl", rows_of([True, False, True]))).columns
    path = saved(tmp_path / "p.jsonl", [{"a": None, "label": 1}] * 20 + [{"a": True, "label": 1}])
    assert collect(open_files(path, Request(columns=columns, limits=SHORT)))[0][-1, 0] == 1


@pytest.fixture
def late(tmp_path):
    """A file in which a field first appears after the first block."""
    return saved(tmp_path / "t.jsonl", [*rows_of(range(3)) * 10, {"a": 1, "label": 0, "b": 2}, {"b": 3, "label": 1}])


def test_a_late_field_is_reported_once(late):
    with pytest.warns(UserWarning, match=r"field 'b' of .*t\.jsonl first appears in row 31 ") as caught:
        stream = open_files(late, Request(limits=SHORT))
    assert len(caught) == 1
    assert collect(stream)[0].shape == (32, 1)


def test_a_field_after_the_first_look(late):
    stream = open_files(late, Request(limits=Limits(text_block=64, look_rows=2, look_batch=2)))
    with pytest.warns(UserWarning, match="field 'b'"):
        collect(stream)


def test_rows_to_predict_may_have_other_fields(late):
    with pytest.warns(UserWarning, match="field 'b'"):
        columns = open_files(late, Request(limits=SHORT)).columns
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        collect(open_files(late, Request(columns=columns, limits=SHORT)))
        collect(open_files(late, Request(None, columns, limits=SHORT)))


def test_a_dropped_field_may_reappear(tmp_path):
    rows = [{"a": 1, "b": 2, "label": 0}, *[{"a": 1, "label": 0}] * 20, {"a": 1, "b": 2, "label": 0}]
    request = Request(options=ColumnOptions(drop=["b"]), limits=SHORT)
    X, _ = collect(open_files(saved(tmp_path / "t.jsonl", rows), request))
    assert X.shape == (22, 1)
