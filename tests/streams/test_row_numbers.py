"""Row numbers that pandas and R write as a first column without a name are not features."""

import numpy as np
import pandas as pd
import pytest

from craftmaps import streams
from tests.streams.formats import collect

FRAME = pd.DataFrame({"a": [3.5, 1.5, 2.5, 0.5], "label": [0, 1, 0, 1]})


def saved(path, frame, **settings):
    frame.to_csv(path, **settings)
    return path


NUMBERED = {
    "counting up": (FRAME, {}),
    "from one": (FRAME.set_index(FRAME.index + 1), {}),
    "some rows": (FRAME.iloc[[1, 3]], {}),
    "shuffled rows": (FRAME.iloc[[3, 1, 0, 2]], {}),
    "tabs": (FRAME, {"sep": "\t"}),
    "written, read and written again": (FRAME.rename_axis("Unnamed: 0"), {}),
}


@pytest.mark.parametrize("case", NUMBERED)
def test_row_numbers_are_left_out(tmp_path, case):
    frame, settings = NUMBERED[case]
    stream = streams.open(saved(tmp_path / "t.csv", frame, **settings))
    assert stream.columns.feature_names == ["a"]
    X, y = collect(stream)
    np.testing.assert_array_equal(X[:, 0], frame["a"])
    np.testing.assert_array_equal(y, frame["label"])


def test_every_file_has_its_own_row_numbers(tmp_path):
    for i in range(3):
        saved(tmp_path / f"{i}.csv", FRAME)
    assert streams.open(tmp_path).columns.feature_names == ["a"]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("later", [True, False])
def test_rows_to_predict_with_or_without_row_numbers(tmp_path, first, later):
    columns = streams.open(saved(tmp_path / "t.csv", FRAME, index=first)).columns
    X, _ = collect(streams.open(saved(tmp_path / "p.csv", FRAME, index=later), columns=columns))
    np.testing.assert_array_equal(X[:, 0], FRAME["a"])


KEPT = {
    "a number twice": ",a,label\n1,5,0\n1,6,1\n",
    "fractions": ",a,label\n1.5,5,0\n2,6,1\n",
    "a missing number": ",a,label\n1,5,0\n,6,1\n",
    "infinity": ",a,label\n1,5,0\ninf,6,1\n",
}


@pytest.mark.parametrize("case", KEPT)
def test_a_column_that_does_not_number_rows_is_a_feature(tmp_path, case):
    (tmp_path / "t.csv").write_text(KEPT[case])
    assert streams.open(tmp_path / "t.csv").columns.feature_names == ["", "a"]
    (tmp_path / "again.csv").write_text("Unnamed: 0" + KEPT[case])
    assert streams.open(tmp_path / "again.csv").columns.feature_names == ["Unnamed: 0", "a"]


def test_row_numbers_may_be_the_target(tmp_path):
    assert collect(streams.open(saved(tmp_path / "t.csv", FRAME), target=0))[1].tolist() == [0, 1, 2, 3]


def test_a_column_with_a_name_is_a_feature(tmp_path):
    path = saved(tmp_path / "t.csv", FRAME, index_label="hour")
    assert streams.open(path).columns.feature_names == ["hour", "a"]


def test_row_numbers_alone_are_refused(tmp_path):
    path = saved(tmp_path / "t.csv", FRAME[["label"]])
    with pytest.raises(ValueError, match="must have columns beside the target 'label', got none"):
        streams.open(path)
