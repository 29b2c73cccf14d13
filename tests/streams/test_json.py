"""JSON lines: numbers and booleans stand for each other, and fields that come late are not passed over in silence."""

import json
import warnings

import numpy as np
import pytest

from craftmaps import streams
from craftmaps.streams import first_look, tabular, text_files
from tests.streams.formats import collect


def saved(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def rows_of(values, labels=(1, 0, 1)):
    return [{"a": value, "label": label} for value, label in zip(values, labels, strict=True)]


TRUTH = {"booleans": [True, False, True], "numbers": [1, 0, 1], "fractions": [1.0, 0.0, 1.0]}


@pytest.mark.parametrize("trained", TRUTH)
@pytest.mark.parametrize("later", TRUTH)
def test_booleans_and_numbers_stand_for_each_other(tmp_path, trained, later):
    stream = streams.open(saved(tmp_path / "t.jsonl", rows_of(TRUTH[trained], TRUTH[trained])))
    path = saved(tmp_path / "p.jsonl", rows_of(TRUTH[later], TRUTH[later]))
    X, y = collect(streams.open(path, columns=stream.columns))
    np.testing.assert_array_equal(X, [[1], [0], [1]])
    assert y.tolist() == [1, 0, 1]
    assert (y.dtype.kind == "b") == (trained == "booleans")


def test_parts_of_booleans_and_numbers(tmp_path):
    for i, values in enumerate([[True, False, None], [5, 6, None], [None] * 3]):
        saved(tmp_path / f"{i}.jsonl", rows_of(values))
    assert collect(streams.open(tmp_path))[0][:, 0].tolist() == [1, 0, 3, 5, 6, 3, 3, 3, 3]


def test_booleans_that_are_missing_at_first(tmp_path, monkeypatch):
    columns = streams.open(saved(tmp_path / "t.jsonl", rows_of([True, False, True]))).columns
    monkeypatch.setattr(text_files, "_BLOCK", 64)
    path = saved(tmp_path / "p.jsonl", [{"a": None, "label": 1}] * 20 + [{"a": True, "label": 1}])
    assert collect(streams.open(path, columns=columns))[0][-1, 0] == 1


@pytest.fixture
def late(tmp_path, monkeypatch):
    """A file in which a field comes after the first block."""
    monkeypatch.setattr(text_files, "_BLOCK", 64)
    return saved(tmp_path / "t.jsonl", [*rows_of(range(3)) * 10, {"a": 1, "label": 0, "b": 2}, {"b": 3, "label": 1}])


def test_a_field_that_comes_late_is_told_once(late):
    with pytest.warns(UserWarning, match=r"field 'b' of .*t\.jsonl first comes in row 31 ") as caught:
        stream = streams.open(late)
    assert len(caught) == 1
    assert collect(stream)[0].shape == (32, 1)


def test_a_field_that_comes_after_the_first_look(late, monkeypatch):
    monkeypatch.setattr(first_look, "LOOK_ROWS", 2)
    monkeypatch.setattr(tabular, "LOOK_BATCH", 2)
    stream = streams.open(late)
    with pytest.warns(UserWarning, match="field 'b'"):
        collect(stream)


def test_rows_to_predict_may_have_other_fields(late):
    with pytest.warns(UserWarning, match="field 'b'"):
        columns = streams.open(late).columns
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        collect(streams.open(late, columns=columns))
        collect(streams.open(late, columns=columns, target=None))


def test_a_field_that_is_dropped_may_come_late_again(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "_BLOCK", 64)
    rows = [{"a": 1, "b": 2, "label": 0}, *[{"a": 1, "label": 0}] * 20, {"a": 1, "b": 2, "label": 0}]
    X, _ = collect(streams.open(saved(tmp_path / "t.jsonl", rows), drop=["b"]))
    assert X.shape == (22, 1)
