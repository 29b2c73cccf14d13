"""`categories` reads columns as names even if they look like numbers."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from craftmaps import streams
from tests.streams.formats import collect

TEXT = "month,x,label\n1,0.5,a\n12,1.5,b\n1,2.5,a\n,3.5,b\n"


def opened(path, text, **settings):
    path.write_text(text)
    return streams.open(path, **settings)


def test_numbers_become_names(tmp_path):
    stream = opened(tmp_path / "t.csv", TEXT, categories=["month"])
    assert stream.columns.feature_names[:2] == ["month=1", "month=12"]
    X, _ = collect(stream)
    assert X.tolist() == [[1, 0, 0, 0.5], [0, 1, 0, 1.5], [1, 0, 0, 2.5], [0, 0, 1, 3.5]]
    assert opened(tmp_path / "t.csv", TEXT).columns.feature_names == ["month", "x"]


def test_the_rule_keeps_them(tmp_path):
    rule = streams.Columns.from_plain(opened(tmp_path / "t.csv", TEXT, categories=["month"]).columns.to_plain())
    X, _ = collect(opened(tmp_path / "p.csv", "x,month\n9,12\n8,7\n", columns=rule))
    assert X.tolist() == [[0, 1, 0, 9], [0, 0, 0, 8]]


def test_dates_may_be_names(tmp_path):
    stream = opened(tmp_path / "t.csv", "day,label\n2020-01-01,0\n2020-01-02,1\n", categories=["day"])
    assert stream.columns.feature_names == ["day=2020-01-01", "day=2020-01-02"]


def test_files_without_names_number_their_columns(tmp_path):
    stream = opened(tmp_path / "t.csv", "1,0.5,0\n2,0.7,1\n", target=-1, categories=["x_0"])
    assert stream.columns.feature_names == ["x_0=1", "x_0=2", "x_1"]


REFUSED = {
    "a string": ({"categories": "month"}, TypeError, "categories must be a sequence of names, got 'month'"),
    "no such column": ({"categories": ["mont"]}, ValueError, "categories must be a column of .*did you mean 'month'"),
    "the target": ({"categories": ["label"]}, ValueError, "categories must not name the target, got 'label'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(tmp_path, case):
    settings, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        opened(tmp_path / "t.csv", TEXT, **settings)


def test_typed_columns_must_be_strings(tmp_path):
    table = pa.table({"month": [1, 2], "shop": ["3", "4"], "label": [0, 1]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"categories must be columns of text, got 'month' of .* holds numbers: cast"):
        streams.open(tmp_path / "t.parquet", categories=["month"])
    names = streams.open(tmp_path / "t.parquet", categories=["shop"]).columns.feature_names
    assert names == ["month", "shop=3", "shop=4"]


def test_files_without_column_names_take_no_categories(tmp_path):
    (tmp_path / "t.svm").write_text("1 1:0.5\n0 2:1\n")
    with pytest.raises(ValueError, match=r"categories must be empty for .*, whose columns have no names"):
        streams.open(tmp_path / "t.svm", categories=["a"])
