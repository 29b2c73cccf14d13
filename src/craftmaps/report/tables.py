"""Sections, tables and labels, as the page uses them."""

from collections.abc import Iterable, Sequence
from typing import Any

from craftmaps.report.markup import Markup, join, tag
from craftmaps.report.wording import shortened

_LONGEST_LABEL = 60


def section(title: str, *content: Any) -> Markup:
    """Return a part of the page under a heading."""
    return tag("section", tag("h2", title), join(content, "\n"))


def grid(*parts: Any) -> Markup:
    """Return figures, or what stands beside them, in as many columns as there is room for."""
    return tag("div", join(parts, "\n"), class_="figures")


def labelled(text: Any, most: int = _LONGEST_LABEL) -> Markup:
    """Return text from the data, kept from running into what is around it."""
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
    """Return a table, in a box that scrolls where it is too wide.

    The first cell of a row is its heading; others are numbers, or elements made by `track`.
    """
    head = tag("tr", join(tag("th", name, scope="col", class_="number" if i else None) for i, name in enumerate(heads)))
    lines = []
    for i, (first, *rest) in enumerate(rows):
        cells = [cell if isinstance(cell, Cell) else tag("td", cell, class_="number") for cell in rest]
        line = tag("th", first, scope="row", class_="wide")
        lines.append(tag("tr", line, join(cells), class_="chosen" if i == chosen else None))
    return scrolling(title, tag("table", tag("thead", head), tag("tbody", join(lines, "\n"))), is_tall=is_tall)


def scrolling(title: str, content: Markup, *, is_tall: bool = False) -> Markup:
    """Return a title, and below it a box that scrolls by itself, with the keyboard too."""
    # The title is not a caption of the table: that would be as wide as the table, and scroll with it.
    kind = "scroll tall" if is_tall else "scroll"
    box = tag("div", content, class_=kind, tabindex=0, role="region", aria_label=title)
    return join([tag("p", title, class_="muted"), box])


class Cell(Markup):
    """A cell of a table that is an element already."""

    __slots__ = ()


def track(share: float) -> Cell:
    """Return a cell with a bar of some length."""
    return Cell(tag("td", tag("i", style=f"width:{100 * share:.1f}%"), class_="track"))
