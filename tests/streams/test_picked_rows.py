"""A pass over selected rows of a stream, and means of these rows alone."""

import numpy as np
import pandas as pd
import pytest

from craftmaps import streams
from craftmaps._rows.sampling import row_hashes
from craftmaps.streams.limits import Limits
from craftmaps.streams.opening import open_files
from craftmaps.streams.request import Request
from tests.streams.formats import FORMATS, example, write

N = 300
RNG = np.random.default_rng(4)
FRAME = pd.DataFrame(
    {
        "real": np.where(RNG.random(N) < 0.3, np.nan, RNG.normal(5, 2, N)),
        "whole": pd.array(np.where(RNG.random(N) < 0.2, None, RNG.integers(0, 9, N)), dtype="Int64"),
        "flag": pd.array(np.where(RNG.random(N) < 0.2, None, RNG.random(N) < 0.4), dtype="boolean"),
        "word": RNG.choice(["a", "b", "c"], N),
        "when": pd.to_datetime(RNG.integers(10**9, 2 * 10**9, N), unit="s"),
        "vector": [[RNG.normal(), np.nan if i % 7 == 0 else 1.0] for i in range(N)],
        "weight": RNG.random(N),
        "id": np.arange(N),
        "label": RNG.integers(0, 2, N),
    }
)
FRAME.loc[::11, "when"] = pd.NaT


def held_out(X):
    """Select a third of the rows by their content."""
    return row_hashes(X, 0) < np.uint64(2**64 // 3)


def trained(X):
    return ~held_out(X)


def opened(frame=FRAME, **settings):
    return streams.of(frame, "label", 70, weight="weight", ids="id", dates="parts", **settings)


def test_every_row_is_selected_once():
    stream = opened()
    whole = {part: np.concatenate([getattr(b, part) for b in stream.blocks()]) for part in ("X", "y", "weight", "ids")}
    found = []
    for pick in (trained, held_out):
        blocks = list(stream.blocks(pick))
        ids = np.concatenate([block.ids for block in blocks])
        assert ids.tolist() == sorted(ids)
        for part, values in whole.items():
            np.testing.assert_array_equal(np.concatenate([getattr(block, part) for block in blocks]), values[ids])
        found.append(set(ids.tolist()))
    assert found[0] | found[1] == set(range(N))
    assert not found[0] & found[1]
    assert 50 < len(found[1]) < 150


def test_the_selection_does_not_depend_on_the_means():
    columns = opened().columns
    other = columns.with_fill_values(np.arange(float(columns.n_features)))
    assert other != columns
    ids = [
        np.concatenate([block.ids for block in opened(columns=rule).blocks(held_out)]).tolist()
        for rule in (columns, other)
    ]
    assert ids[0] == ids[1]


def test_means_of_all_rows_are_those_of_the_first_look():
    stream = opened()
    assert stream.with_means_of(lambda X: np.ones(len(X), bool)).columns == stream.columns


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_means_of_selected_rows(dtype):
    stream = opened(dtype=dtype)
    again = stream.with_means_of(trained)
    ids = np.concatenate([block.ids for block in stream.blocks(trained)])
    assert ids.tolist() == np.concatenate([block.ids for block in again.blocks(trained)]).tolist()
    rows = FRAME.iloc[ids]
    by_name = {column.name: column.fill for column in again.columns.features}
    assert by_name["real"] == pytest.approx(rows["real"].mean(), rel=1e-12)
    assert by_name["whole"] == pytest.approx(rows["whole"].mean(), rel=1e-12)
    assert by_name["flag"] == pytest.approx(rows["flag"].mean(), rel=1e-12)
    assert by_name["when"][0] == pytest.approx(rows["when"].dt.year.mean(), rel=1e-12)
    assert by_name["vector"] == pytest.approx(np.nanmean(np.array(rows["vector"].tolist()), axis=0), rel=1e-12)
    assert by_name["word"] is None
    assert by_name["real"] != stream.columns.features[0].fill
    # Missing numbers become these means; the first stream keeps its own.
    is_missing = np.isnan(FRAME["real"])
    for one in (stream, again):
        X = np.concatenate([block.X for block in one.blocks()])
        assert set(X[is_missing, 0].tolist()) == {np.dtype(dtype).type(one.columns.features[0].fill)}


@pytest.mark.parametrize("format", FORMATS)
def test_all_formats_select_the_same_rows(tmp_path, format):
    X, y = example()
    path, target = write(tmp_path, format, X, y)
    stream = streams.open(path, target, batch_rows=10)
    blocks = list(stream.with_means_of(trained).blocks(held_out))
    expected = held_out(X.astype(np.float32))
    np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), y[expected])
    assert all(block.X.shape[0] for block in blocks)


def test_rows_after_the_first_look_do_not_count(tmp_path):
    (tmp_path / "t.csv").write_text("a,label\n1,0\n3,1\n100,0\n")
    stream = open_files(tmp_path / "t.csv", Request(limits=Limits(look_rows=2, look_batch=2)))
    assert stream.with_means_of(lambda X: np.ones(len(X), bool)).columns.features[0].fill == 2.0
    stream = streams.open(tmp_path / "t.csv", max_rows=1)
    assert stream.with_means_of(lambda X: np.ones(len(X), bool)).columns.features[0].fill == 1.0
