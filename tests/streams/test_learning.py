"""Learners take streams as they take arrays, and keep their rule; real files match other readers."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_svmlight_file

from craftmaps import datasets, load_model, streams
from tests.learner.examples import classifier, labelled_rows
from tests.streams.formats import collect, svmlight_bytes

X, Y = labelled_rows()
DATA = os.environ.get("CRAFTMAPS_DATA")
WITH_DATA = pytest.mark.skipif(not DATA, reason="CRAFTMAPS_DATA, the folder of data sets, is not set")


def blocks(rows, labels):
    return [(rows[i : i + 50], labels[i : i + 50]) for i in range(0, len(rows), 50)]


def test_a_stream_and_its_rows_give_the_same_model(tmp_path):
    np.savez(tmp_path / "t.npz", X=X, y=Y)
    learned = classifier().fit_stream(streams.open(tmp_path / "t.npz", batch_rows=50)).finish()
    expected = classifier().fit_stream(blocks(X.astype(np.float32), Y)).finish()
    np.testing.assert_array_equal(learned.coef_, expected.coef_)


def test_learning_from_sparse_rows(tmp_path):
    numbers = np.unique(Y, return_inverse=True)[1]
    (tmp_path / "t.svm").write_bytes(svmlight_bytes(X, numbers))
    learned = classifier().fit_stream(iter(streams.open(tmp_path / "t.svm", batch_rows=50))).finish()
    expected = classifier().fit_stream(blocks(X.astype(np.float32), numbers)).finish()
    np.testing.assert_array_equal(learned.predict(X), expected.predict(X))


def people(n_rows=240):
    """Return a frame with text, dates and missing values, and labels."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 9, n_rows).round(),
            "eyes": rng.choice(["blue", "brown"], n_rows),
            "town": [f"town {i}" for i in rng.integers(0, 90, n_rows)],
            "since": pd.to_datetime(rng.integers(10**9, 2 * 10**9, n_rows), unit="s"),
        }
    )
    frame.loc[::7, "age"] = np.nan
    return frame.assign(label=np.where((frame["eyes"] == "blue") & (frame["age"].fillna(40) > 38), "yes", "no"))


WRITERS = {
    "parquet": lambda frame, path: frame.to_parquet(path),
    "feather": lambda frame, path: frame.to_feather(path),
    "csv": lambda frame, path: frame.to_csv(path),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True, date_format="iso"),
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_model_keeps_the_rule_of_its_stream(tmp_path, suffix):
    frame, path = people(), tmp_path / f"t.{suffix}"
    WRITERS[suffix](frame, path)
    stream = streams.open(path, batch_rows=100, dates="parts")
    model = classifier().fit_stream(stream)
    assert model.notes_["columns"] == stream.columns.to_plain()
    model.save(tmp_path / "m.craft")
    loaded = load_model(tmp_path / "m.craft")
    assert streams.Columns.from_plain(loaded.notes_["columns"]) == stream.columns
    rows, labels = collect(stream)
    # A frame is encoded like the file, including missing values and text, and needs no labels.
    np.testing.assert_array_equal(loaded.predict_proba(frame.drop(columns="label")), loaded.predict_proba(rows))
    assert loaded.score(frame, labels) == model.score(rows, labels) > np.mean(labels == "no") + 0.1
    later = frame[["town", "eyes", "age", "since"]].head(3).assign(age=[None, 50.0, 20.0], town="a new town")
    [(encoded, _)] = streams.of(later, columns=stream.columns)
    np.testing.assert_array_equal(loaded.predict(later), model.predict(encoded))


@WITH_DATA
def test_mnist():
    rows, labels = collect(streams.open(Path(DATA) / "mnist" / "t10k-images-idx3-ubyte.gz"))
    split = datasets.load("mnist")
    np.testing.assert_array_equal(rows, split.X_test)
    np.testing.assert_array_equal(labels, split.y_test)


@WITH_DATA
def test_a9a():
    path = Path(DATA) / "a9a" / "a9a"
    rows, labels = collect(streams.open(path, max_rows=5000))
    expected, expected_labels = load_svmlight_file(str(path))
    np.testing.assert_array_equal(rows, expected[:5000].toarray())
    np.testing.assert_array_equal(labels, expected_labels[:5000])


@WITH_DATA
def test_letter():
    rows, labels = collect(streams.open(Path(DATA) / "letter" / "letter-recognition.data", target=0, max_rows=16000))
    split = datasets.load("letter")
    np.testing.assert_array_equal(rows, split.X_train)
    np.testing.assert_array_equal(labels, split.y_train)
