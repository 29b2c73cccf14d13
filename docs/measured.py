"""Fill the measured numbers of README.md and of these pages in from committed result files.

    python docs/measured.py            # list the numbers that differ from their result files
    python docs/measured.py --write    # write what the result files say

A measured number carries its name: `25<!--name-->` in Markdown, ``:measured:`25 <name>` `` in reStructuredText.
`measured.toml` says for each name where the value is: a result file (JSON or JSON lines), for JSON lines the fields of
the lines to take (`where`), the `path` of keys, in which `*` stands for any text, how several values become one
(`reduce`), a factor (`scale`) and the format in which it is shown.
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from statistics import mean, median
from typing import Any

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
REDUCTIONS: dict[str, Callable[[list[float]], float]] = {
    "min": min,
    "max": max,
    "mean": mean,
    "median": median,
    "sum": sum,
    "last": lambda values: values[-1],
}
# The groups are what stands before the number, the number, what stands after it, and around the name.
IN_MARKDOWN = re.compile(r"()([\d.,e-]*\d)(<!--)([a-z]\w*)(-->)")
IN_TEXT = re.compile(r"(:measured:`)([^`<]+?)( <)([a-z]\w*)(>`)")
MARKS = {".md": IN_MARKDOWN, ".rst": IN_TEXT}


def pages() -> list[Path]:
    """Return README.md and the sources of the documentation, without what is generated."""
    found = (path for path in sorted(FOLDER.rglob("*.rst")) if not {"_build", "generated", "gallery"} & {*path.parts})
    return [ROOT / "README.md", *found]


@lru_cache
def sources() -> dict[str, dict[str, Any]]:
    """Return the entries of measured.toml by name."""
    return tomllib.loads((FOLDER / "measured.toml").read_text())["measured"]


@lru_cache
def records(file: str) -> Any:
    """Return the content of a result file: a document, or the list of its lines."""
    text = (ROOT / file).read_text()
    return [json.loads(line) for line in text.splitlines()] if file.endswith(".jsonl") else json.loads(text)


def found(document: Any, path: list[str]) -> Iterator[float]:
    """Yield the numbers at a path, those of lists one by one."""
    if path and isinstance(document, dict):
        for key, value in document.items():
            if fnmatchcase(key, path[0]):
                yield from found(value, path[1:])
    elif path and isinstance(document, list) and path[0].isdecimal():
        yield from found(document[int(path[0])], path[1:])
    elif isinstance(document, list):
        for value in document:
            yield from found(value, path)
    elif not path and isinstance(document, int | float):
        yield float(document)


def shown(name: str) -> str:
    """Return a measured number as the pages show it."""
    if name not in sources():
        raise ValueError(f"docs/measured.toml must have the entry [measured.{name}], which a page names.")
    entry = sources()[name]
    document, where = records(entry["file"]), entry.get("where", {})
    if isinstance(document, list):
        document = [line for line in document if all(line.get(key) == value for key, value in where.items())]
    values = list(found(document, entry["path"]))
    if not values:
        raise ValueError(f"[measured.{name}] finds no number in {entry['file']}.")
    if len(values) > 1 and "reduce" not in entry:
        raise ValueError(f"[measured.{name}] finds {len(values)} numbers and must have `reduce`.")
    value = REDUCTIONS[entry.get("reduce", "last")](values) * entry.get("scale", 1)
    return format(value, entry["format"])


def filled(text: str, suffix: str) -> str:
    """Return a page with the numbers of the result files."""
    return MARKS[suffix].sub(lambda mark: f"{mark[1]}{shown(mark[4])}{mark[3]}{mark[4]}{mark[5]}", text)


def names_in(text: str, suffix: str) -> set[str]:
    """Return the names of the measured numbers of a page."""
    return {mark[4] for mark in MARKS[suffix].finditer(text)}


def main() -> int:
    """Compare or write all pages; return 1 if numbers differ and are not written."""
    differs = False
    for path in pages():
        text = path.read_text()
        new = filled(text, path.suffix)
        if new == text:
            continue
        for old_line, new_line in zip(text.splitlines(), new.splitlines(), strict=True):
            if old_line != new_line:
                print(f"{path.relative_to(ROOT)}:\n- {old_line}\n+ {new_line}")
        if "--write" in sys.argv[1:]:
            path.write_text(new)
        else:
            differs = True
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
