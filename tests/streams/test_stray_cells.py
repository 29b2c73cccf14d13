"""A few words among the numbers of a text file are an error; many make a column of text."""

import pytest

from craftmaps import streams

NUMBERS = [str(i % 90 / 4) for i in range(200)]


def columns_of(folder, cells, labels=None, **settings):
    """Return the rule for a CSV file with one column and labels."""
    lines = [f"{cell},{label}\n" for cell, label in zip(cells, labels or ["0", "1"] * len(cells), strict=False)]
    path = folder / "t.csv"
    path.write_text("a,label\n" + "".join(lines))
    return streams.open(path, **settings).columns


def replaced(cells, **others):
    """Replace the cells of some rows, counted from 1."""
    return [others.get(f"row_{i + 1}", cell) for i, cell in enumerate(cells)]


STRAY = {
    "a word": (replaced(NUMBERS, row_57="oops"), r"in 199 of 200 .*'oops' in row 57"),
    "the first of several": (replaced(NUMBERS, row_3="x", row_9="y"), "in 198 of 200 .*'x' in row 3"),
    "a decimal comma": (replaced(NUMBERS, row_57='"1,5"'), "'1,5' in row 57"),
    "a sign for missing that is not known": (replaced(NUMBERS, row_57="-"), "'-' in row 57: .*leave it empty"),
    "a date": (replaced(NUMBERS, row_57="01.02.2020"), "'01.02.2020' in row 57"),
    "blanks alone": (replaced(NUMBERS, row_57="  "), "'  ' in row 57"),
    "missing cells are not counted": (replaced(NUMBERS, row_1="", row_2="NA", row_57="x"), "in 197 of 198 .*row 57"),
    "few of them": (["1.5"] * 20 + ["x"] * 2, "in 20 of 22 .*'x' in row 21"),
    "after many rows": (["1"] * 50_000 + ["x"] + ["1"] * 5000, "in 55,000 of 55,001 .*'x' in row 50001"),
    "a truth value": (["1", "0"] * 1000 + ["true"], "'true' in row 2001"),
    "a long word": (replaced(NUMBERS, row_57="x" * 1000), r"'x+\.\.\.' in row 57"),
    "infinity beside it": (replaced(NUMBERS, row_57="x", row_3="inf"), "'x' in row 57"),
}


@pytest.mark.parametrize("case", STRAY)
def test_a_few_words_among_numbers_are_refused(tmp_path, case):
    cells, words = STRAY[case]
    with pytest.raises(ValueError, match=rf"Column 'a' of .*t\.csv .*{words}") as caught:
        columns_of(tmp_path, cells)
    assert "categories=['a'], or leave the column out with drop=['a']" in str(caught.value)
    assert columns_of(tmp_path, cells, categories=["a"]).features[0].kind in ("one-hot", "hashed")
    assert len(str(caught.value)) < 500


TEXT = {
    "many words": (["1.5"] * 20 + ["x"] * 3, ["a=1.5", "a=x"]),
    "few cells": (["1.5"] * 19 + ["x"], ["a=1.5", "a=x"]),
    "codes": (["007", "12"] * 100 + ["007A"], ["a=007", "a=007A", "a=12"]),
}


@pytest.mark.parametrize("case", TEXT)
def test_many_words_and_codes_are_text(tmp_path, case):
    cells, names = TEXT[case]
    assert columns_of(tmp_path, cells).feature_names == names


@pytest.mark.parametrize("missing", ["", "NA", "?", "null", "nan", '""'])
def test_missing_values_are_not_words(tmp_path, missing):
    [column] = columns_of(tmp_path, replaced(NUMBERS, row_57=missing)).features
    assert (column.kind, column.missing) == ("number", 1)


def test_the_file_of_a_stray_cell_is_named(tmp_path):
    (tmp_path / "1.csv").write_text("a,label\n" + "1,0\n" * 30)
    (tmp_path / "2.csv").write_text("a,label\n" + "1,0\n" * 4 + "x,0\n")
    with pytest.raises(ValueError, match=r"Column 'a' of .*2\.csv .* in 34 of 35 .*'x' in row 5"):
        streams.open(tmp_path)


def test_a_word_among_labels_that_are_numbers(tmp_path):
    with pytest.raises(ValueError, match=r"The target 'label' of .*t\.csv .* in 199 of 200 .*'oops' in row 57"):
        columns_of(tmp_path, NUMBERS, replaced(NUMBERS, row_57="oops"))


@pytest.mark.parametrize("labels", [["4", "6"] * 100 + ["rotary"], [str(i) for i in range(40)] + ["other"]])
def test_names_of_classes_may_be_whole_numbers_and_words(tmp_path, labels):
    assert columns_of(tmp_path, ["1"] * len(labels), labels).target_kind == "text"
