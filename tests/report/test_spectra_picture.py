"""Labels of the log-scree plot lie on no line."""

import re

import numpy as np
import pytest

from craftmaps.report.charts.figures import scree

CHARACTER = 8.0  # pixels, generously


def crossings(markup):
    """Return the labels that a line goes through."""
    points = [
        np.array([pair.split(",") for pair in line.split()], float) for line in re.findall(r'points="([^"]*)"', markup)
    ]
    notes = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="end" class="note[^"]*">([^<]*)<', markup)
    found = []
    for x, y, text in notes:
        right, bottom = float(x), float(y)
        for line in points:
            across = np.linspace(right - CHARACTER * len(text), right, 50)
            across = across[(across >= line[0, 0]) & (across <= line[-1, 0])]
            up = np.interp(across, line[:, 0], line[:, 1])
            found += [text] if ((up > bottom - 12) & (up < bottom + 4)).any() else []
    return len(notes), found


def falling(n, last):
    """Return logarithms that fall, fast at first."""
    return list(3 + (last - 3) * np.linspace(0, 1, n) ** 0.4)


@pytest.mark.parametrize("n_map", [40, 256, 500])
def test_labels_are_clear_of_lines(n_map):
    markup = str(scree({"exact": falling(500, -3), "map": falling(n_map, -4)}))
    assert crossings(markup) == (2, [])


def test_a_line_through_a_label_is_found():
    markup = str(scree({"exact": falling(500, -3), "map": falling(500, -4)}))
    assert crossings(re.sub(r' y="[\d.]+" text-anchor="end"', ' y="200" text-anchor="end"', markup))[1]


def test_a_map_without_a_spectrum_has_no_label():
    assert crossings(str(scree({"exact": falling(500, -3), "map": []}))) == (1, [])
