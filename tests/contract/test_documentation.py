"""Examples of the documentation give what it says."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
GENERATED = {"_build", "gallery", "generated"}
PAGES = [page for page in sorted(DOCS.rglob("*.rst")) if not GENERATED & {*page.relative_to(DOCS).parts}]
EXAMPLES = [page for page in PAGES if ">>>" in page.read_text()]


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    assert doctest.testfile(str(page), module_relative=False).failed == 0


def test_there_are_examples():
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("page", [*PAGES, DOCS.parent / "README.md"], ids=lambda page: page.name)
def test_lines_are_short(page):
    # Formulas and what stands for a picture are one line for Sphinx.
    lines = [line for line in page.read_text().splitlines() if not line.lstrip().startswith((".. math::", ":alt:"))]
    assert max(map(len, lines)) <= 120


def test_the_front_page_is_short():
    assert len((DOCS.parent / "README.md").read_text().splitlines()) < 150


def test_the_first_example_of_the_front_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    [code, *_] = re.findall(r"```python\n(.*?)```", (DOCS.parent / "README.md").read_text(), re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("0.98")
    assert (tmp_path / "digits.craft").exists()


def reference():
    """Return the names on the page of the reference, by module."""
    names, module = {}, None
    for line in (DOCS / "reference" / "index.rst").read_text().splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif module and re.fullmatch(r"   \w+", line):
            names.setdefault(module, set()).add(line.strip())
    return names


@pytest.mark.parametrize("module", reference())
def test_the_reference_has_every_public_name(module):
    # A fitted model of Spark ML is what `fit` returns there; nobody makes one by its name.
    module, names = importlib.import_module(module), reference()[module]
    public = getattr(module, "__all__", names)  # those of a single file have none
    assert names == {name for name in public if not name.endswith("SparkModel")}
    assert all(hasattr(module, name) for name in names)
