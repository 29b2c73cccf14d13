"""A plot as inline SVG: two axes, and marks in the units of the data.

Colours come from the style sheet by class, so that dark mode and print need no code.
"""

from collections.abc import Iterable, Sequence

from craftmaps.report.charts.axes import Axis
from craftmaps.report.html.markup import Markup, escape, join, tag

_WIDTH, _HEIGHT = 420, 280
_RIGHT, _TOP, _BOTTOM = 14, 12, 46
_DIGIT = 7.2  # approximate width of a digit, to leave room for the ticks on the left

Point = Sequence[float]


class Plot:
    """A drawing of marks between two axes.

    Parameters
    ----------
    description : str
        Text alternative, for readers who cannot see the plot.
    x, y : Axis
    is_square : bool
        Whether both axes have the same length, as for predictions against targets.
    """

    def __init__(self, description: str, x: Axis, y: Axis, *, is_square: bool = False):
        self.description, self.x, self.y = description, x, y
        self.left = round(34 + _DIGIT * max((len(text) for _, text in y.ticks()), default=1))
        self.height = _WIDTH - self.left - _RIGHT + _TOP + _BOTTOM if is_square else _HEIGHT
        self.marks: list[Markup] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point on the drawing."""
        across = self.left + self.x.place(x) * (_WIDTH - self.left - _RIGHT)
        up = self.height - _BOTTOM - self.y.place(y) * (self.height - _TOP - _BOTTOM)
        return round(across, 1), round(up, 1)

    def line(self, points: Iterable[Point], kind: str = "accent") -> None:
        """Draw a line through points."""
        places = " ".join(f"{x},{y}" for x, y in (self.at(*point) for point in points))
        self.marks.append(tag("polyline", points=places, class_=f"line {kind}"))

    def dot(self, x: float, y: float, tooltip: str, *, kind: str = "accent", radius: float = 3.5) -> None:
        """Draw a point."""
        cx, cy = self.at(x, y)
        self.marks.append(tag("circle", tag("title", tooltip), cx=cx, cy=cy, r=round(radius, 1), class_=f"dot {kind}"))

    def cloud(self, points: Iterable[Point]) -> None:
        """Draw many points as one path of round dots, which is small and fast to render."""
        path = "".join(f"M{x} {y}h0" for x, y in (self.at(*point) for point in points))
        self.marks.append(tag("path", d=path, class_="cloud"))

    def whisker(self, x: float, low: float, high: float) -> None:
        """Draw an error bar."""
        (left, bottom), (_, top) = self.at(x, low), self.at(x, high)
        path = f"M{left} {bottom}V{top}M{left - 3} {bottom}h6M{left - 3} {top}h6"
        self.marks.append(tag("path", d=path, class_="whisker"))

    def bar(self, left: float, right: float, height: float, tooltip: str, *, kind: str = "accent") -> None:
        """Draw a bar of a histogram."""
        (x0, y0), (x1, y1) = self.at(left, self.y.low), self.at(right, height)
        size = {"x": x0, "y": y1, "width": max(round(x1 - x0 - 0.6, 1), 0.6), "height": round(y0 - y1, 1)}
        self.marks.append(tag("rect", tag("title", tooltip), **size, class_=f"bar {kind}"))

    def rule(self, x: float) -> None:
        """Draw a vertical line through a value."""
        left, bottom = self.at(x, self.y.low)
        self.marks.append(tag("line", x1=left, x2=left, y1=bottom, y2=_TOP, class_="rule"))

    def note(self, x: float, y: float, text: str, *, kind: str = "", dx: float = 0, dy: float = 0) -> None:
        """Write beside a point, on the side that has room."""
        left, top = self.at(x, y)
        is_right = left + dx > _WIDTH * 0.62
        left += -dx if is_right else dx
        anchor = "end" if is_right else "start"
        top = max(top + dy, _TOP + 10)
        self.marks.append(tag("text", text, x=round(left, 1), y=top, text_anchor=anchor, class_=f"note {kind}"))

    def svg(self) -> Markup:
        """Return the drawing."""
        return tag(
            "svg",
            self._grid(),
            join(self.marks),
            viewBox=f"0 0 {_WIDTH} {self.height}",
            role="img",
            aria_label=self.description,
        )

    def _grid(self) -> Markup:
        """Return lines, ticks and labels of the axes."""
        left, right, top, bottom = self.left, _WIDTH - _RIGHT, _TOP, self.height - _BOTTOM
        parts = []
        for value, text in self.y.ticks():
            _, y = self.at(self.x.low, value)
            parts.append(tag("line", x1=left, x2=right, y1=y, y2=y, class_="grid"))
            parts.append(tag("text", text, x=left - 8, y=y + 4, text_anchor="end", class_="tick"))
        for value, text in self.x.ticks():
            x, _ = self.at(value, self.y.low)
            parts.append(tag("line", x1=x, x2=x, y1=bottom, y2=bottom + 5, class_="axis"))
            parts.append(tag("text", text, x=x, y=bottom + 19, text_anchor="middle", class_="tick"))
        parts.append(tag("line", x1=left, x2=right, y1=bottom, y2=bottom, class_="axis"))
        middle = (left + right) / 2
        parts.append(tag("text", self.x.label, x=middle, y=self.height - 7, text_anchor="middle", class_="name"))
        turned = f"rotate(-90 13 {(top + bottom) / 2})"
        place = {"x": 13, "y": (top + bottom) / 2, "transform": turned}
        parts.append(tag("text", self.y.label, **place, text_anchor="middle", class_="name"))
        return join(parts)


def figure(title: str, plot: Plot, caption: object) -> Markup:
    """Return a plot with a title and a caption."""
    return tag("figure", tag("h3", title), plot.svg(), tag("figcaption", escape(caption)))
