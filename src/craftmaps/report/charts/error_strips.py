"""Errors with their standard errors along one axis, a strip for each candidate.

Strips are elements that are placed in percent of their width, so that text beside them keeps its size on any screen.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from craftmaps.report.charts.axes import Axis
from craftmaps.report.html.markup import Markup, join, tag

_LOG_RATIOS = 4.0, 1e12
_ROOM = 0.6  # share of the axis that the first candidates have at least


class ErrorStrips:
    """Strips of candidates on a common axis.

    The axis is made for the first candidates, which are close to each other; errors far beyond them are arrows.

    Parameters
    ----------
    lines : sequence of dict
        Candidates with `error` and `standard_error`, lowest error first. An error of None overflowed.
    kinds : sequence of str
        "taken", "on" for one that went on to another round, or "".
    n_first : int
        How many of them the axis is made for.
    unit : float
        What errors are multiplied by.
    """

    def __init__(self, lines: Sequence[dict[str, Any]], kinds: Sequence[str], n_first: int, unit: float):
        self.kinds = kinds
        errors = [None if line["error"] is None else unit * line["error"] for line in lines]
        # Without the errors that overflowed.
        self._spans = [
            None if error is None else (error, unit * (line["standard_error"] or 0.0))
            for error, line in zip(errors, lines, strict=True)
        ]
        known = [span for span in self._spans[:n_first] if span is not None]
        all_errors = [error for error in errors if error is not None]
        self.axis = _axis_around(known, max(all_errors, default=0.0))
        self.has_beyond = any(map(self._is_beyond, self._spans))
        self._rule = next(
            (span for span, kind in zip(self._spans, kinds, strict=True) if kind == "taken" and span is not None), None
        )

    def ticks(self) -> str:
        """Return the lines behind all strips, as a background."""
        lines = [_upright(self._at(value), "var(--hair)") for value, _ in self.axis.ticks()]
        if self._rule is not None:
            lines.insert(0, _upright(self._at(self._rule[0]), "rgb(var(--accent-rgb) / .55)"))
        return ",".join(lines)

    def axis_labels(self, unit: str) -> Markup:
        """Return the ticks of the axis; the last one has the unit."""
        *texts, (last, text) = self.axis.ticks()
        labels = [tag("span", text, style=self._left(value)) for value, text in [*texts, (last, f"{text}{unit}")]]
        return tag("span", join(labels), class_="strip")

    def strip(self, i: int) -> Markup:
        """Return the strip of a candidate."""
        return _strip([self._bar(i), self._dot(i)])

    def together(self, first: int) -> Markup:
        """Return one strip of all candidates from a place on."""
        rest = range(first, len(self._spans))
        beyond = [i for i in rest if self._is_beyond(self._spans[i])]
        return _strip(map(self._dot, [i for i in rest if i not in beyond] + beyond[:1]))

    def _bar(self, i: int) -> Markup | None:
        """Return a bar of one standard error to either side of an error."""
        span = self._spans[i]
        if span is None or self._is_beyond(span) or not span[1]:
            return None
        low, high = span[0] - span[1], span[0] + span[1]
        return tag("i", class_="bar", style=f"{self._left(low)};width:{self._at(high) - self._at(low):.2f}%")

    def _dot(self, i: int) -> Markup:
        """Return the dot of an error, or an arrow if it is beyond the axis."""
        span, kind = self._spans[i], self.kinds[i]
        if span is None or self._is_beyond(span):
            return tag("i", class_="beyond", style="left:100%")
        return tag("i", class_=f"dot {kind}".strip(), style=self._left(span[0]))

    def _is_beyond(self, span: tuple[float, float] | None) -> bool:
        """Tell whether an error has no place on the axis."""
        return span is None or span[0] > self.axis.high

    def _left(self, value: float) -> str:
        """Return the place of a value as a style."""
        return f"left:{self._at(value):.2f}%"

    def _at(self, value: float) -> float:
        """Return the place of a value on the axis, in percent."""
        return 100 * self.axis.place(value)


def _axis_around(spans: Sequence[tuple[float, float]], most: float) -> Axis:
    """Return an axis for errors and their bars, and for others as far as there is room for them."""
    errors = [error for error, _ in spans]
    least, greatest = _LOG_RATIOS
    is_log = bool(errors) and 0 < least * min(errors) < max(errors) < greatest * min(errors)
    # A bar may reach zero, where a logarithmic axis has no place: there it is cut off.
    lows = [max(error - deviation, error / 2 if is_log else 0.0) for error, deviation in spans]
    highs = [error + deviation for error, deviation in spans]
    if not errors:
        return Axis.around([], "")
    low, high = min(lows), max(highs)
    room = high * (high / low) ** (1 / _ROOM - 1) if is_log else low + (high - low) / _ROOM
    high = max(high, min(most, room))
    return Axis.around([low, high], "", is_log=is_log, from_zero=not is_log and 5 * low < high)


def _strip(marks: Iterable[Markup | None]) -> Markup:
    """Return marks along the axis, for eyes alone: the numbers stand beside them."""
    return tag("span", join(marks), class_="strip", aria_hidden="true")


def _upright(at: float, colour: str) -> str:
    """Return a background that is one vertical line."""
    ends = f"calc({at:.2f}% - .5px)", f"calc({at:.2f}% + .5px)"
    return f"linear-gradient(to right,transparent {ends[0]},{colour} {ends[0]} {ends[1]},transparent {ends[1]})"
