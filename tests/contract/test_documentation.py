"""Examples of the documentation give what it says."""

import doctest
from pathlib import Path

import pytest

PAGES = sorted(Path(__file__).parents[2].glob("docs/*.rst"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    assert doctest.testfile(str(page), module_relative=False).failed == 0


def test_there_are_examples():
    assert sum(">>>" in page.read_text() for page in PAGES) >= 5
