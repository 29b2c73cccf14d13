"""Sections, tables and labels of the page."""

from collections.abc import Iterable, Sequence
from typing import Any

from craftmaps.report.html.markup import Markup, join, tag
from craftmaps.report.html.wording import shortened

_LONGEST_LABEL = 60


def section(title: str, *content: Any) -> Markup:
    """Return a section with a heading."""
    return tag("section", tag("h2", title), join(content, "\n"))


def grid(*parts: Any) -> Markup:
    """Arrange figures and text in as many columns as fit."""
    return tag("div", join(parts, "\n"), class_="figures")


def labelled(text: Any, most: int = _LONGEST_LABEL) -> Markup:
    """Return text from the data, shortened, whose direction does not affect the text around it."""
    text = str(text)
    full = text if len(text) > most else None
    return tag("span", shortened(text, most), class_="label", title=full)


def table(
    title: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    chosen: int | None = None,
    is_tall: bool = False,
) -> Markup:
    """Return a table, in a box that scrolls if the table is too wide.

    The first cell of a row is its heading. Other cells are numbers, or elements made by `track`.
    """
    head = tag("tr", join(tag("th", name, scope="col", class_="number" if i else None) for i, name in enumerate(heads)))
    lines = []
    for i, (first, *rest) in enumerate(rows):
        cells = [cell if isinstance(cell, Cell) else tag("td", cell, class_="number") for cell in rest]
        line = tag("th", first, scope="row", class_="wide")
        lines.append(tag("tr", line, join(cells), class_="chosen" if i == chosen else None))
    return scrolling(title, tag("table", tag("thead", head), tag("tbody", join(lines, "\n"))), is_tall=is_tall)


def scrolling(title: str, content: Markup, *, is_tall: bool = False) -> Markup:
    """Return a title, and below it a box that scrolls on its own, also with the keyboard."""
    # Not a caption of the table, which would be as wide as the table and scroll with it.
    kind = "scroll tall" if is_tall else "scroll"
    box = tag("div", content, class_=kind, tabindex=0, role="region", aria_label=title)
    return join([tag("p", title, class_="muted"), box])


class Cell(Markup):
    """A cell of a table that is an element already."""

    __slots__ = ()


def track(share: float) -> Cell:
    """Return a cell with a bar that fills a share of it."""
    return Cell(tag("td", tag("i", style=f"width:{100 * share:.1f}%"), class_="track"))


def pairs(values: dict[str, Any]) -> Markup:
    """Return a list of names and values."""
    return tag("dl", join(join([tag("dt", name), tag("dd", value)]) for name, value in values.items()))
