"""Numbers of README.md and docs/ are those of the result files, and measured numbers have names."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import measured  # noqa: E402
import scoreboard  # noqa: E402

# Not MB and GB: nearly all of those are limits of the library, or follow from E.
UNITS = r"(?:ms|s|µs|microseconds|seconds|minutes|hours|Gflop/s|KB|%|times (?:as fast|faster|slower))"
NUMBER_WITH_UNIT = re.compile(rf"(?<![\w.^{{])\d[\d.,]*(?: to \d[\d.,]*| and \d[\d.,]*)? ?{UNITS}(?![\w/])")
GIVEN = tomllib.loads((ROOT / "docs" / "measured.toml").read_text())["given"]


def prose(text, suffix):
    """Return a page without marked numbers, formulas and code."""
    text = measured.MARKS[suffix].sub("", text)
    text = re.sub(r":math:`[^`]*`|``[^`]*``", "", text)
    if suffix == ".md":
        return re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    text = re.sub(r"^>>> .*?(?:\n\n|\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
    literal = r"(?:^\.\. (?:code-block|math|plot|literalinclude)::|(?<=::)$).*?\n\n(?:[ ]+.*\n|\n)*"
    return re.sub(r"`[^`]*`", "", re.sub(literal, "", text, flags=re.MULTILINE))


@pytest.mark.parametrize("path", measured.pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_marked_numbers_are_those_of_the_result_files(path):
    text = path.read_text()
    assert measured.filled(text, path.suffix) == text, "python docs/measured.py --write fills them in"


@pytest.mark.parametrize("path", measured.pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_numbers_with_units_are_marked_or_given(path):
    found = {" ".join(match[0].split()) for match in NUMBER_WITH_UNIT.finditer(prose(path.read_text(), path.suffix))}
    unknown = found - set(GIVEN)
    assert not unknown, f"mark {sorted(unknown)} as measured, or list what is no measurement in docs/measured.toml"


def test_every_entry_is_shown_somewhere():
    names = set().union(*(measured.names_in(path.read_text(), path.suffix) for path in measured.pages()))
    assert names == set(measured.sources())


def test_every_given_phrase_is_shown_somewhere():
    texts = [" ".join(prose(path.read_text(), path.suffix).split()) for path in measured.pages()]
    assert [phrase for phrase in GIVEN if not any(phrase in text for text in texts)] == []


def test_a_wrong_number_is_found():
    right = measured.shown("page_size")
    text = f"A page has {right}<!--page_size--> KB and :measured:`{right} <page_size>`."
    assert measured.filled(text, ".md") == measured.filled(text, ".rst") == text
    wrong = text.replace(right, "12")
    assert measured.filled(wrong, ".md") != wrong
    assert measured.filled(wrong, ".rst") != wrong


def test_an_unmarked_number_is_found():
    assert NUMBER_WITH_UNIT.search(prose("It takes 3.2 ms a row.", ".rst"))
    assert NUMBER_WITH_UNIT.search(prose("An error of\n1.4 %.", ".md"))
    text = "In `3 ms`, :measured:`4 <page_size>` KB::\n\n    5 ms\n\nand 2014."
    assert not NUMBER_WITH_UNIT.search(prose(text, ".rst"))


def test_values_are_found_in_lines_and_documents(tmp_path, monkeypatch):
    lines = [{"method": "a", "error": 0.25}, {"method": "b", "error": 0.5}, {"method": "b", "error": 0.75}]
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "document.json").write_text(json.dumps({"x 1": {"y": [1, 2]}, "x 2": {"y": [3, 4]}}))
    entries = {
        "mean": {"where": {"method": "b"}, "path": ["error"], "reduce": "mean", "scale": 100, "format": ".1f"},
        "absent": {"where": {"method": "c"}, "path": ["error"], "format": ".1f"},
        "several": {"path": ["error"], "format": ".1f"},
    }
    entries = {name: entry | {"file": "lines.jsonl"} for name, entry in entries.items()}
    entries["second"] = {"file": "document.json", "path": ["x *", "y", "1"], "reduce": "max", "format": ",.0f"}
    monkeypatch.setattr(measured, "ROOT", tmp_path)
    monkeypatch.setattr(measured, "sources", lambda: entries)
    measured.records.cache_clear()
    try:
        assert measured.shown("mean") == "62.5"
        assert measured.shown("second") == "4"
        for name, message in (("absent", "finds no number"), ("several", "must have `reduce`"), ("x", "must have the")):
            with pytest.raises(ValueError, match=message):
                measured.shown(name)
    finally:
        measured.records.cache_clear()


def test_the_tables_of_scale_are_those_of_the_result_file():
    from benchmarks import scale_table

    assert scale_table.page() == (ROOT / "docs" / "internals" / "scale_tables.txt").read_text()


def test_the_table_and_the_picture_are_those_of_the_result_file():
    text = (ROOT / "README.md").read_text()
    assert scoreboard.filled(text) == text, "make numbers"
    pillow = pytest.importorskip("PIL.Image")
    assert pillow.open(scoreboard.PICTURE).text["Description"] == scoreboard.fingerprint(), "make numbers"


def test_the_scoreboard_shows_what_is_in_the_file(tmp_path, monkeypatch):
    costs = {"data": "mnist", "status": "finished", "threads": 1, "n_test": 10, "predict_cpu_seconds": 1e-3}
    records = [
        {"method": "craftmaps 512", "error": 0.02, "fit_cpu_seconds": 5, "model_bytes": 21_000},
        {"method": "craftmaps 512", "error": 0.04, "fit_cpu_seconds": 7, "model_bytes": 21_000},
        {"method": "craftmaps 1024", "error": 0.02, "fit_cpu_seconds": 9, "model_bytes": 42_000},
        {"method": "Nystroem 256", "error": 0.06, "fit_cpu_seconds": 9, "model_bytes": 1_000_000},
        {"method": "Nystroem 512", "error": 0.05, "fit_cpu_seconds": 8, "model_bytes": 2_000_000},
        {"method": "slow", "status": "timed out"},
    ]
    path = tmp_path / "scoreboard.jsonl"
    path.write_text("\n".join(json.dumps(costs | record) for record in records))
    monkeypatch.setattr(scoreboard, "result_file", lambda: path)
    assert scoreboard.table().splitlines()[2:] == [
        "| craftmaps, E = 1024 | 2.00 | 9 | 100 | 42 |",
        "| craftmaps, E = 512 | 3.00 | 6 | 100 | 21 |",
        "| Nystroem, E = 512 | 5.00 | 8 | 100 | 2,000 |",
    ]
    scoreboard.draw(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size < 200_000
    with pytest.raises(ValueError, match="must have the marks"):
        scoreboard.filled("no marks")
