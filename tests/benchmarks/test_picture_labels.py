"""Labels of the committed pictures lie on no other label, mark or line."""

import itertools
import math
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

from benchmarks.labels import Label, write_labels

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
sys.path.insert(0, str(ROOT / "docs"))

import scoreboard  # noqa: E402


def collisions(ax):
    """Return what labels collide with, by a way of its own: distances of boxes to points along everything drawn."""
    dots = ax.figure.dpi / 72
    boxes = {text: text.get_window_extent() for text in ax.texts if text.get_text()}
    found = [
        (one.get_text(), two.get_text())
        for (one, box), (two, other) in itertools.combinations(boxes.items(), 2)
        if box.x0 < other.x1 and other.x0 < box.x1 and box.y0 < other.y1 and other.y0 < box.y1
    ]
    for text, box in boxes.items():
        frame = ax.bbox
        if box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 or box.y1 > frame.y1:
            found.append((text.get_text(), "edge"))
        for points, radius in drawn(ax):
            if min(distance(point, box) for point in points) < radius * dots:
                found.append((text.get_text(), "mark" if len(points) == 1 else "line"))
    return found


def drawn(ax):
    """Return points along lines and bars, and marks, each with its radius."""
    for line in ax.lines:
        points = line.get_transform().transform(line.get_xydata())
        if line.get_marker() not in ("None", ""):
            yield from (([point], line.get_markersize() / 2) for point in points)
        if line.get_linestyle() not in ("None", "") and line.get_linewidth():
            yield from ((along(*ends), line.get_linewidth() / 2) for ends in itertools.pairwise(points))
    for bars in ax.collections:
        yield from ((along(*ax.transData.transform(bar)), 0.5) for bar in bars.get_segments())


def along(begin, end):
    return begin + np.linspace(0, 1, 400)[:, None] * (end - begin)


def distance(point, box):
    x, y = point
    return math.hypot(max(box.x0 - x, 0, x - box.x1), max(box.y0 - y, 0, y - box.y1))


def texts(figure):
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def test_the_picture_of_the_front_page_has_all_names_and_no_collision():
    figure = scoreboard.picture()
    found = scoreboard.families()
    ours = [line.method.replace("craftmaps", "E =") for line in found.pop(scoreboard.OURS)]
    assert sorted(texts(figure)) == sorted([*ours, *found])
    assert collisions(figure.axes[0]) == []


@pytest.mark.parametrize("dpi", [60, 260])
def test_names_stay_clear_at_other_resolutions(dpi):
    figure = scoreboard.picture()
    figure.dpi = dpi
    figure.draw_without_rendering()
    assert collisions(figure.axes[0]) == []


def test_fronts_of_the_scoreboard_have_no_collision():
    from benchmarks.panel import records
    from benchmarks.scoreboard.board import FILE, read_board
    from benchmarks.scoreboard.plotting import COSTS, fronts
    from benchmarks.scoreboard.scores import finished, scores

    board = read_board(FILE)
    groups = {
        data: finished(own)
        for data, own in scores(records.read(RESULTS / "scoreboard.jsonl"), board).items()
        if finished(own)
    }
    figure = fronts(groups, board)
    widest = max(int(name.split()[1]) for name in groups["mnist"] if name.startswith("craftmaps "))
    assert texts(figure).count(f"E = {widest}") == len(COSTS)
    assert [collisions(ax) for ax in figure.axes if collisions(ax)] == []


def test_panels_have_no_collision():
    from benchmarks.panel.plotting import panels

    figure = panels(RESULTS / "panel.jsonl")
    assert len(texts(figure)) > 10
    assert [collisions(ax) for ax in figure.axes if collisions(ax)] == []


def plotted(**style):
    figure = Figure(figsize=(4, 3), dpi=100)
    ax = figure.subplots()
    ax.plot([0, 1, 2], [0, 1, 2], "o-", **style)
    figure.draw_without_rendering()
    return ax


def test_collisions_are_found():
    ax = plotted()
    ax.annotate("on the line", (1, 1), (-8, 0), textcoords="offset points", ha="right", va="center")
    ax.annotate("on a mark", (2, 2), ha="center", va="center")
    ax.annotate("outside", (0, 2), ha="right")
    assert {("on the line", "line"), ("on a mark", "mark"), ("outside", "edge")} <= set(collisions(ax))
    ax.annotate("one", (0.2, 1.6))
    ax.annotate("two", (0.25, 1.6))
    assert ("one", "two") in collisions(ax)


def test_a_label_without_room_is_returned():
    ax = plotted()
    wide = Label("wide " * 40, (1, 1), {"fontsize": 9})
    assert write_labels(ax, [wide, Label("short", (1, 1), {"fontsize": 9})]) == [wide.text]
    assert [text.get_text() for text in ax.texts] == ["short"]
    assert collisions(ax) == []


def test_a_line_leads_to_a_label_as_near_to_another_point():
    figure = Figure(figsize=(4, 3), dpi=100)
    ax = figure.subplots()
    ax.plot([0, 0.05, 2], [1, 1, 1], "o", linestyle="none")
    figure.draw_without_rendering()
    n_lines = len(ax.lines)
    assert write_labels(ax, [Label("first of two", (0, 1), {}), Label("alone", (2, 1), {}, 180)]) == []
    assert len(ax.lines) == n_lines + 1
    assert collisions(ax) == []
