"""Rows to predict are read without their labels, wherever the file holds them and whatever they are."""

import numpy as np
import pytest

from craftmaps import CraftClassifier, Polynomial, streams
from craftmaps.cli.model_rows import open_rows
from tests.streams.formats import collect

X = np.arange(12.0).reshape(6, 2)
Y = np.arange(6) % 2


def csv(rows, labels, position):
    """Return CSV rows without names, with the label at a position."""
    lines = []
    for row, label in zip(rows.tolist(), labels, strict=True):
        cells = [*map(repr, row)]
        if position is not None:
            cells.insert(position, str(label))
        lines.append(",".join(cells))
    return "\n".join(lines)


def npz(path, **arrays):
    np.savez(path, **arrays)
    return path


def npy(path, array, labels=None):
    np.save(path, array)
    if labels is not None:
        np.save(path.with_name(path.name.replace("X", "y")), labels)
    return path


def text(path, content):
    path.write_text(content)
    return path


NAN = np.full(6, np.nan)
# Writer of training rows, their target, and writer of rows to predict.
PLACES = {
    "CSV, labels missing": (
        lambda folder: text(folder / "t.csv", csv(X, Y, 2)),
        -1,
        lambda folder: text(folder / "p.csv", csv(X, [""] * 6, 2)),
    ),
    "CSV, labels of another kind": (
        lambda folder: text(folder / "t.csv", csv(X, Y, 0)),
        0,
        lambda folder: text(folder / "p.csv", csv(X, ["later"] * 6, 0)),
    ),
    "CSV without labels": (
        lambda folder: text(folder / "t.csv", csv(X, Y, 1)),
        1,
        lambda folder: text(folder / "p.csv", csv(X, Y, None)),
    ),
    "NPZ": (lambda folder: npz(folder / "t.npz", X=X, y=Y), "auto", lambda folder: npz(folder / "p.npz", X=X, y=NAN)),
    "NPZ, other names": (
        lambda folder: npz(folder / "t.npz", rows=X, digit=Y),
        "digit",
        lambda folder: npz(folder / "p.npz", rows=X, digit=NAN),
    ),
    "NPZ, strings for numbers": (
        lambda folder: npz(folder / "t.npz", X=X, y=Y),
        "auto",
        lambda folder: npz(folder / "p.npz", X=X, y=np.full(6, "?")),
    ),
    "NPY, labels inside": (
        lambda folder: npy(folder / "t.npy", np.column_stack([X, Y])),
        2,
        lambda folder: npy(folder / "p.npy", np.column_stack([X, NAN])),
    ),
    "NPY, labels beside": (
        lambda folder: npy(folder / "X.npy", X, Y),
        "auto",
        lambda folder: npy(folder / "X_new.npy", X, NAN[:3]),
    ),
}


@pytest.mark.parametrize("case", PLACES)
def test_labels_are_not_read(tmp_path, case):
    write, target, write_new = PLACES[case]
    columns = streams.open(write(tmp_path), target=target).columns
    rows, labels = collect(streams.open(write_new(tmp_path), target=None, columns=columns))
    np.testing.assert_array_equal(rows, X)
    assert labels is None


@pytest.mark.parametrize("case", PLACES)
def test_a_model_predicts_rows_without_labels(tmp_path, case):
    write, target, write_new = PLACES[case]
    stream = streams.open(write(tmp_path), target=target)
    model = CraftClassifier(Polynomial(2), 8, metric=None, random_state=0).fit_stream(stream)
    model.notes_ = {"columns": stream.columns.to_plain()}
    np.testing.assert_array_equal(collect(open_rows(model, write_new(tmp_path), 4))[0], X)


def test_requested_labels_must_be_present(tmp_path):
    columns = streams.open(text(tmp_path / "t.csv", csv(X, Y, 2)), target=-1).columns
    with pytest.raises(ValueError, match=r"Row 1 of .*p\.csv has no label"):
        list(streams.open(text(tmp_path / "p.csv", csv(X, [""] * 6, 2)), columns=columns))
