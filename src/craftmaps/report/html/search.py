"""The search as a picture: a row for each candidate, with its error on the axis of its round, and its time."""

from typing import Any

from craftmaps.report.charts.error_strips import ErrorStrips
from craftmaps.report.html.markup import Markup, join, tag
from craftmaps.report.html.reason import LONGEST_NAME, reason
from craftmaps.report.html.tables import labelled, pairs, section
from craftmaps.report.html.wording import count, duration, number, percent, uncertain

_MOST_SHOWN, _FEWEST_FOLDED = 10, 3  # candidates below the first ones fold into one line, which opens
_LONGEST_PART = 28
_NO_BREAK = "\N{NO-BREAK SPACE}"


def search_section(numbers: dict[str, Any]) -> Markup:
    """Return what was chosen and why, and every candidate with its error and its time."""
    choices, is_share = numbers["choices"], numbers["task"] == "classification"
    chosen = {
        # A linear model compares kernels to choose its metric, and then uses none.
        "kernel": choices["kernel"] if numbers["run"]["map"] else "none, the model is linear",
        "metric": choices["metric"] or "rows as they are",
        "length of rows": "unit length" if choices["normalize"] else "one common scale",
    }
    if choices["categories"]:
        chosen["categories"] = ", ".join(choices["categories"])
    rounds = choices["rounds"]
    if not rounds:
        why = "No candidates are known: nothing was left to choose, or the model came from a file."
        return section("Choices", tag("p", why), pairs(chosen))
    drawn = [_Round(rounds, place, is_share) for place in range(len(rounds))]
    caption = tag("p", _caption(drawn, is_share), class_="muted")
    # The last round, which decides, comes first.
    pictures = [found.markup() for found in reversed(drawn)]
    return section("Choices", reason(rounds, is_share), pairs(chosen), *pictures, caption)


def _caption(drawn: list["_Round"], is_share: bool) -> str:
    """Explain the picture."""
    what = "error" if is_share else "squared error"
    parts = [
        f"Dots are the {what} on rows that a candidate was not fitted to, bars and ± one standard error, "
        "the line that of the candidate that was taken."
    ]
    if any(found.strips.has_beyond for found in drawn):
        parts.append("Arrows are errors beyond the axis.")
    if len(drawn) > 1:
        parts.append("Filled dots went on to another round. Errors of different rounds cannot be compared.")
    return " ".join(parts)


class _Round:
    """A round of the search, as rows of a picture."""

    def __init__(self, rounds: list[dict[str, Any]], place: int, is_share: bool):
        found = rounds[place]
        self.lines, self.taken, self.is_share = found["candidates"], found["taken"], is_share
        self.title = _title(found, place, len(rounds))
        later = {line["name"] for other in rounds[place + 1 :] for line in other["candidates"]}
        final = {other["candidates"][other["taken"]]["name"] for other in rounds if other["taken"] is not None}
        self.kinds = ["on" if line["name"] in later else "" for line in self.lines]
        for i, line in enumerate(self.lines):
            if line["name"] in final if self.taken is None else i == self.taken:
                self.kinds[i] = "taken"
        n_shown = max(_MOST_SHOWN, 1 + (self.taken or 0))
        self.n_shown = n_shown if len(self.lines) >= n_shown + _FEWEST_FOLDED else len(self.lines)
        self.strips = ErrorStrips(self.lines, self.kinds, self.n_shown, 100.0 if is_share else 1.0)

    def markup(self) -> Markup:
        """Return the title, the axis and all rows."""
        items, n_shown = [self._item(i) for i in range(len(self.lines))], self.n_shown
        title = tag("h3", self.title, tag("span", f" {_seconds(self.lines)}", class_="muted"))
        shown, rest = tag("ol", join(items[:n_shown], "\n")), None
        if items[n_shown:]:
            rest = tag("details", self._summary(), tag("ol", join(items[n_shown:], "\n"), start=n_shown + 1))
        return tag("div", title, self._head(), shown, rest, class_="round", style=f"--ticks:{self.strips.ticks()}")

    def _head(self) -> Markup:
        """Return the names of the columns, and the axis."""
        name = "error" if self.is_share else "squared error"
        axis = self.strips.axis_labels(f"{_NO_BREAK}%" if self.is_share else "")
        return _row("div", tag("span", "candidate", class_="name"), axis, name, "time", class_="head")

    def _item(self, i: int) -> Markup:
        """Return the row of a candidate."""
        line, kind = self.lines[i], self.kinds[i]
        written = "overflow"
        if line["error"] is not None:
            written = uncertain(line["error"], line["standard_error"], self.is_share)
        badge = join([" ", tag("b", "taken")]) if i == self.taken else None
        name = tag("span", labelled(_breakable(line["name"]), LONGEST_NAME), badge, class_="name")
        return _row("li", name, self.strips.strip(i), written, _seconds([line]), class_=kind or None)

    def _summary(self) -> Markup:
        """Return one row for the candidates that are hidden until it is opened."""
        lines, write = self.lines[self.n_shown :], percent if self.is_share else number
        errors = [line["error"] for line in lines if line["error"] is not None]
        name = tag("span", f"{count(len(lines))} more candidates", class_="name")
        ends = f"{write(min(errors))} to {write(max(errors))}" if errors else "overflow"
        return _row("summary", name, self.strips.together(self.n_shown), ends, _seconds(lines))


def _title(found: dict[str, Any], place: int, n_rounds: int) -> str:
    """Name a round, with the number of its candidates, its rows and its width."""
    n = len(found["candidates"])
    text = f"Round {place + 1} of {n_rounds}: " if n_rounds > 1 else ""
    text += f"{count(n)} candidate{'s' if n > 1 else ''}"
    if not found["rows"]:
        return text
    text += f" on {count(found['rows'])} rows"
    return f"{text} at E = {count(found['width'])}" if found["width"] else f"{text} with the exact kernel"


def _row(element: str, name: Markup, strip: Markup, error: str, time: str, **attributes: Any) -> Markup:
    """Return a row of four columns."""
    return tag(element, name, strip, tag("span", error, class_="error"), tag("span", time, class_="time"), **attributes)


def _seconds(lines: list[dict[str, Any]]) -> str:
    """Return the time of candidates, added up."""
    return duration(sum(line["seconds"] for line in lines))


def _breakable(name: str) -> str:
    """Let a name break after its commas, but not between "degree" and 2."""
    parts = [part.replace(" ", _NO_BREAK) if len(part) <= _LONGEST_PART else part for part in name.split(", ")]
    return ", ".join(parts)
