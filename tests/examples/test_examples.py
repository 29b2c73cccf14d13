"""Every example runs, also those of the page on tallies, leaves nothing behind, and what it prints is true."""

import doctest
import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
# Lines that an example must print.
CLAIMS = {
    "days": [
        r"all days +1438 rows +\d\.\d % test error",
        r"all but tue +1198 rows +\d\.\d % test error",
        r"Same model as a fit on these rows: True, .*",
    ],
    "forget_a_customer": [
        r"2000 rows are learned; 30 of customer 7 in the file\.",
        r"1970 rows are left; 0 of customer 7 in the file\.",
        r"Same model as one that never saw them: True, .*",
    ],
    "two_hospitals": [
        r"both: 1300 patients, 2\d\.\d % test error",
        r"Same model as of all rows in one place: True, .*",
        r"The file of the south tells: labels \{'ill': \d+, 'well': \d+\}, and second moments of 64 features\.",
        r"Rows of patients in it: 0\.",
        r"Rows of patients in a tally with cv=5: 400\.",
        r"The tally of one patient gives away their features: True\.",
    ],
    "drift": [r"The least error has: decay 0\.75\."],
}


def test_every_example_is_here():
    # The digits are `craftmaps demo`, which has tests of its own.
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*CLAIMS, "digits"}


@pytest.mark.parametrize("name", CLAIMS)
def test_example(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    for claim in CLAIMS[name]:
        assert any(re.fullmatch(claim, line) for line in lines), f"{claim} is not in:\n" + "\n".join(lines)
    assert not list(tmp_path.iterdir())


def test_the_page_on_tallies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(EXAMPLES.parent / "docs" / "guide" / "tallies.rst"), module_relative=False)
    assert not failed
    assert tried > 20
    assert not list(tmp_path.iterdir())
