"""Learners take streams as they take arrays; real files hold what other readers find in them."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from craftmaps import datasets, streams
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


def test_sparse_rows_can_be_learned(tmp_path):
    numbers = np.unique(Y, return_inverse=True)[1]
    (tmp_path / "t.svm").write_bytes(svmlight_bytes(X, numbers))
    learned = classifier().fit_stream(iter(streams.open(tmp_path / "t.svm", batch_rows=50))).finish()
    expected = classifier().fit_stream(blocks(X.astype(np.float32), numbers)).finish()
    np.testing.assert_array_equal(learned.predict(X), expected.predict(X))


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
