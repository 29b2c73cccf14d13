"""Warnings about text columns that should perhaps be numbers or left out."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from craftmaps import streams

N = 150
REALS = np.random.default_rng(0).normal(size=N) * 1000
MANY = {
    "decimal comma": ([f"{x:.2f}".replace(".", ",") for x in REALS], "with a decimal comma", "decimal=','"),
    "few decimal commas": ([f"{i % 3},5" for i in range(N)], "with a decimal comma", "decimal=','"),
    "percent": ([f"{x:.1f}%" for x in REALS], "with the sign '%'", "write it without the sign"),
    "few percents": ([f"{i % 4}0 %" for i in range(N)], "with the sign '%'", "write it without the sign"),
    "dollars": ([f"${abs(x):.0f}" for x in REALS], r"with the sign '\$'", "write it without the sign"),
    "euros": ([f"{x:.2f}".replace(".", ",") + " €" for x in REALS], "with the sign '€'", "write it without the sign"),
    "units": ([f"{x:.1f} kg" for x in REALS], "with the sign 'kg'", "write it without the sign"),
    "thousands": ([f"{x * 1000:,.0f}" for x in REALS], "with thousands separators", "write it without the separators"),
    "three digits": (
        [f"{1 + i % 9},{i + 100}" for i in range(N)],
        "with thousands separators",
        "without the separators",
    ),
    "French": (
        [f"{x * 1000:,.1f}".replace(",", " ").replace(".", ",") for x in REALS],
        "with thousands separators",
        "write it without the separators",
    ),
    "and a few words": (
        [*(f"{x:.2f}".replace(".", ",") for x in REALS[5:]), "none", "n.a.", "x", "y", "z"],
        "with a decimal comma",
        "decimal=','",
    ),
}


def write(path, cells):
    pd.DataFrame({"a": cells, "b": REALS, "label": np.arange(N) % 2}).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("case", MANY)
def test_warning_about_numbers_in_another_notation(tmp_path, case):
    cells, notation, remedy = MANY[case]
    path = write(tmp_path / "t.csv", cells)
    pattern = (
        rf"^Column 'a' of \S*t.csv is read as text, but \d+ of its \d+ values are numbers {notation}, such as '.*': "
    )
    with pytest.warns(UserWarning, match=rf"{pattern}.*{remedy}.* categories=\['a'\]\.$") as told:
        stream = streams.open(path)
    assert [warning.filename for warning in told] == [__file__]
    example = re.search("such as '(.*?)'", str(told[0].message))
    assert example is not None
    assert example[1] in cells
    # The remedies work, and a given rule is not questioned.
    streams.open(path, categories=["a"])
    streams.open(path, columns=stream.columns)
    streams.open(path, drop=["a"])


def test_the_option_is_the_remedy(tmp_path):
    path = write(tmp_path / "t.csv", MANY["decimal comma"][0])
    with pytest.warns(UserWarning, match="decimal=','"):
        assert streams.open(path).columns.n_features == 65
    pd.DataFrame({"a": REALS, "b": REALS, "label": 0}).to_csv(tmp_path / "comma.csv", index=False, decimal=",", sep=";")
    assert streams.open(tmp_path / "comma.csv", decimal=",").columns.summary() == [("numbers", 2, ["a", "b"])]
    # The reverse: points in a file said to have commas.
    pd.DataFrame({"a": REALS, "label": 0}).to_csv(tmp_path / "point.csv", index=False, sep=";")
    with pytest.warns(UserWarning, match=r"numbers with a decimal point, such as .*: read it with decimal='\.'"):
        streams.open(tmp_path / "point.csv", decimal=",")


def test_a_decimal_comma_among_whole_numbers_is_refused_with_a_remedy(tmp_path):
    path = write(tmp_path / "t.csv", [*map(str, range(N - 1)), "3,5"])
    with pytest.raises(ValueError, match=r"but '3,5' in row 150: read it with decimal=',', correct it"):
        streams.open(path)


def test_warning_about_a_target_of_decimal_commas(tmp_path):
    pd.DataFrame({"a": REALS, "label": MANY["decimal comma"][0]}).to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(UserWarning, match="^The target 'label' of .* decimal=','\\.$"):
        streams.open(tmp_path / "t.csv")


def test_warning_about_values_that_nearly_all_differ(tmp_path):
    path = write(tmp_path / "t.csv", [f"Mr. {i}" for i in range(N - 2)] + ["Mr. X"] * 2)
    words = r"^Column 'a' of \S* is text with 149 different values in 150 cells, such as 'Mr. 0', .* drop=\['a'\]"
    with pytest.warns(UserWarning, match=words):
        streams.open(path)


QUIET = {
    "categories": [f"v{i % 5}" for i in range(N)],
    "many values that come again": [f"v{i % 75}" for i in range(N)],
    "codes": [f"{i % 90:03d}A" for i in range(N)],
    "decades": [f"{i % 9}0s" for i in range(N)],
    "versions": [f"1.{i % 9}.{i % 7}" for i in range(N)],
    "times": [f"{i % 24:02d}:30" for i in range(N)],
    "ranges": [f"{i % 9}-{i % 9 + 5}" for i in range(N)],
    "missing": [None] * N,
}


@pytest.mark.parametrize("case", QUIET)
def test_no_warning_about_other_text(tmp_path, case):
    streams.open(write(tmp_path / "t.csv", QUIET[case]))
    streams.of(pd.DataFrame({"a": QUIET[case], "b": REALS}))


def test_warning_about_strings_of_a_frame(tmp_path):
    for cells, words in ((MANY["decimal comma"][0], "decimal point"), ([str(x) for x in REALS], "cast it to numbers")):
        with pytest.warns(UserWarning, match=f"Column 'a' of DataFrame is read as text.*{words}"):
            streams.of(pd.DataFrame({"a": cells}))
    streams.of(pd.DataFrame({"a": [str(10_000 + i % 70) for i in range(N)]}))  # codes


def test_few_warnings_about_many_columns():
    frame = pd.DataFrame({f"c{i}": [f"{j}%" for j in range(N)] for i in range(20)})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        streams.of(frame)
    assert len(told) == 6
    assert "'c5', 'c6', 'c7', 'c8', 'c9' and 10 more" in str(told[-1].message)
