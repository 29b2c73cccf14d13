"""Axes hold their values and have a few round ticks, whatever the values are."""

import itertools
import math

import pytest

from craftmaps.report.charts.axes import Axis

NUMBERS = [0.0, 1e-320, 1e-30, 0.07, 1.0, 1.0 + 1e-15, 3.0, 99.5, 12345.678, 1e9, 1e300, 1.7e308]
PAIRS = list(itertools.combinations_with_replacement([*NUMBERS, *(-x for x in NUMBERS[1:])], 2))


@pytest.mark.parametrize("is_log", [False, True])
def test_every_value_has_its_place_and_ticks_are_few(is_log):
    for one, two in PAIRS:
        if is_log and min(one, two) <= 0:
            continue
        axis = Axis.around([one, two], "x", is_log=is_log)
        places = [axis.place(min(one, two)), axis.place(max(one, two))]
        assert 0 <= places[0] <= places[1] <= 1, (one, two)
        ticks = axis.ticks()
        assert 1 <= len(ticks) <= 8, (one, two, ticks)
        assert all(math.isfinite(value) for value, _ in ticks)


def test_ticks_are_round_and_told_apart():
    for low, high in ((0, 1), (0, 100), (-7, 13), (1e6, 1.00005e6), (2e-5, 9e-5), (0.3, 0.31), (-1, 1)):
        ticks = Axis(low, high, "x").ticks()
        texts = [text for _, text in ticks]
        assert len(set(texts)) == len(texts) >= 3
        for value, text in ticks:
            assert float(text.replace(",", "").replace("\N{MINUS SIGN}", "-")) == pytest.approx(value, abs=1e-12)


def test_log_ticks():
    assert [text for _, text in Axis(1e-9, 30, "x", True).ticks()] == ["10⁻⁹", "10⁻⁷", "10⁻⁵", "10⁻³", "10⁻¹", "10¹"]
    assert [text for _, text in Axis(0.9, 6, "x", True).ticks()] == ["1", "2", "5"]


def test_no_values_and_equal_ones():
    assert Axis.around([], "x").ticks()
    assert Axis.around([5.0, 5.0], "x").place(5.0) == pytest.approx(0.5)
