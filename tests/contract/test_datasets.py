"""Named data sets have the same labels from every source."""

import numpy as np
import pytest

from craftmaps import datasets


@pytest.mark.parametrize(
    ("name", "fetched", "expected"),
    [
        ("mnist", ["5", "0", "4"], [5, 0, 4]),
        ("isolet", ["1.0", "26.0", "3.0"], [1, 26, 3]),
        ("letter", ["T", "I", "D"], ["T", "I", "D"]),
    ],
)
def test_labels_that_were_fetched_are_those_of_the_original_files(monkeypatch, name, fetched, expected):
    def fetch(**_):
        return np.eye(3), np.array(fetched, dtype=object)  # as scikit-learn gives labels

    monkeypatch.delenv("CRAFTMAPS_DATA", raising=False)
    monkeypatch.setattr(datasets, "fetch_openml", fetch)
    y = datasets.load(name).y_train
    assert y.tolist() == expected
    assert y.dtype.kind == ("U" if name == "letter" else "i")
