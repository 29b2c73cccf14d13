"""Write labels beside points of a plot, clear of each other and of all that is drawn."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.path import Path
from matplotlib.transforms import Bbox

GAP = 5.0  # points that stay free around a mark, a line or a label
NEAR = 12.0  # points from a mark beyond which a thin line leads to the label
FAR = 60.0  # points from a mark beyond which no place is tried
START = 4.0  # points from a mark to the beginning of that line
TURNS = 24  # directions to try at every distance


class Label(NamedTuple):
    """A text for one point, in the coordinates of the data."""

    text: str
    point: tuple[float, float]
    style: dict[str, Any]  # of `Axes.annotate`; `color` is that of the leader, too
    toward: float = 0.0  # the direction to try first, in degrees from the right


def write_labels(ax: Axes, labels: Iterable[Label]) -> list[str]:
    """Write every label in the nearest place that is free, and return the texts for which there is none.

    No line, mark or label lies between a label and its point. A thin line leads to a label that is far from its point,
    or as near to another one. The layout of the figure must be final: places are those of a drawn figure.
    """
    marks, lines = drawn(ax)
    taken, left_out = [text.get_window_extent() for text in ax.texts], []
    for label in labels:
        others = [mark for mark in marks if not mark.contains(*ax.transData.transform(label.point))]
        for dx, dy in _places(label.toward):
            text = _written(ax, label, dx, dy)
            box = text.get_window_extent()
            leader = _leader(ax, label, box)
            around = [other.padded(_pixels(ax, GAP)) for other in taken]
            if _is_free(ax, box, [*marks, *taken], lines) and _is_clear(leader, [*others, *around], lines):
                break
            text.remove()
        else:
            left_out.append(label.text)
            continue
        taken.append(box)
        if math.hypot(dx, dy) > NEAR or _is_near_another(ax, label, box, others):
            style = {"color": label.style.get("color", "black"), "linewidth": 0.6, "zorder": 2}
            ends = ax.transAxes.inverted().transform(leader)
            ax.plot(*ends.T, transform=ax.transAxes, scalex=False, scaley=False, **style)
            lines.append(Path(leader))
    return left_out


def drawn(ax: Axes) -> tuple[list[Bbox], list[Path]]:
    """Return the boxes of all marks and the paths of all lines and bars of a plot, in pixels."""
    marks, lines = [], []
    for line in ax.lines:
        points = line.get_transform().transform(line.get_xydata())
        if line.get_marker() not in ("", "None", " ", None):
            half = _pixels(ax, line.get_markersize() + line.get_markeredgewidth()) / 2
            marks += [Bbox.from_extents(x - half, y - half, x + half, y + half) for x, y in points]
        if line.get_linestyle() not in ("", "None", " ") and line.get_linewidth() > 0 and len(points) > 1:
            lines.append(Path(points))
    for bars in (found for found in ax.collections if isinstance(found, LineCollection)):
        lines += [Path(ax.transData.transform(bar)) for bar in bars.get_segments() if np.isfinite(bar).all()]
    return marks, lines


def _places(toward: float) -> Iterable[tuple[float, float]]:
    """Return offsets in points, the nearest first, and at one distance those toward a direction."""
    turns = sorted((360 * i / TURNS for i in range(TURNS)), key=lambda turn: abs((turn + 180) % 360 - 180))
    for distance in np.arange(8.0, FAR + 1, 4.0):
        for turn in turns:
            angle = math.radians(toward + turn)
            yield distance * math.cos(angle), distance * math.sin(angle)


def _written(ax: Axes, label: Label, dx: float, dy: float) -> Any:
    """Write a label so that the edge of its box that faces the point is at an offset in points."""
    distance = math.hypot(dx, dy)
    across = "center" if abs(dx) < 0.5 * distance else "left" if dx > 0 else "right"
    upright = "center" if abs(dy) < 0.6 * distance else "bottom" if dy > 0 else "top"
    style = {"ha": across, "va": upright, "zorder": 5} | label.style
    return ax.annotate(label.text, label.point, (dx, dy), textcoords="offset points", **style)


def _leader(ax: Axes, label: Label, box: Bbox) -> np.ndarray:
    """Return the line from just outside a mark to just outside its label, in pixels."""
    start = ax.transData.transform(label.point)
    box = box.padded(_pixels(ax, GAP))
    end = np.array((min(max(start[0], box.x0), box.x1), min(max(start[1], box.y0), box.y1)))
    length = np.linalg.norm(end - start)
    return np.array([start + (end - start) * min(1.0, _pixels(ax, START) / max(length, 1e-9)), end])


def _is_free(ax: Axes, box: Bbox, boxes: list[Bbox], lines: list[Path]) -> bool:
    """Return whether a box lies inside the axes, with a gap to all other boxes and to all lines."""
    frame, wide = ax.bbox, box.padded(_pixels(ax, GAP))
    is_inside = frame.x0 <= wide.x0 and wide.x1 <= frame.x1 and frame.y0 <= wide.y0 and wide.y1 <= frame.y1
    return (
        is_inside
        and not any(wide.overlaps(other) for other in boxes)
        and not any(line.intersects_bbox(wide, filled=False) for line in lines)
    )


def _is_clear(leader: np.ndarray, boxes: list[Bbox], lines: list[Path]) -> bool:
    """Return whether a leader crosses no mark, label or line."""
    path = Path(leader)
    return not any(path.intersects_bbox(box, filled=False) for box in boxes) and not any(
        path.intersects_path(line, filled=False) for line in lines
    )


def _is_near_another(ax: Axes, label: Label, box: Bbox, others: list[Bbox]) -> bool:
    """Return whether another mark is about as near to a label as its own point."""
    own = _distance(ax.transData.transform(label.point), box)
    return any(_distance(((mark.x0 + mark.x1) / 2, (mark.y0 + mark.y1) / 2), box) < 1.3 * own for mark in others)


def _distance(point: Any, box: Bbox) -> float:
    """Return the distance of a point to a box."""
    x, y = point
    return math.hypot(max(box.x0 - x, 0, x - box.x1), max(box.y0 - y, 0, y - box.y1))


def _pixels(ax: Axes, points: float) -> float:
    """Return a length in pixels."""
    return points * ax.figure.dpi / 72
