"""Markup: all text is escaped unless it is markup already, so that no content can break it."""

import html
import re
from typing import Any

# Control characters and lone surrogates, which no HTML file may contain, and characters that reverse the direction of
# the text around them. Labels are data and may hold either.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


class Markup(str):
    """Text that is HTML or SVG already."""

    __slots__ = ()


def escape(value: Any) -> Markup:
    """Return a value as markup that displays it."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(_UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(value))))


def tag(name: str, /, *content: Any, **attributes: Any) -> Markup:
    """Return an element. Trailing underscores of attributes are dropped, others become hyphens.

    Examples
    --------
    >>> tag("b", "a < b", class_="label")
    '<b class="label">a &lt; b</b>'
    """
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{pairs}>")
    return Markup(f"<{name}{pairs}>{join(content)}</{name}>")


def join(parts: Any, between: str = "") -> Markup:
    """Concatenate parts; None is skipped."""
    return Markup(between.join(escape(part) for part in parts if part is not None))


_VOID = ("img", "meta", "link", "br")
