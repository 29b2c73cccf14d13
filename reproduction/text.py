"""Numbers as the page writes them."""

import tomllib
from collections.abc import Collection
from typing import Any

import numpy as np

from reproduction.cells import HERE


def paper_numbers() -> dict[str, Any]:
    """Return what the paper has."""
    return tomllib.loads((HERE / "paper.toml").read_text())


def mean_and_deviation(group: dict[int, float]) -> str:
    """Write mean and standard deviation over the seeds, and how many there are where they are fewer than three."""
    values = list(group.values())
    if len(values) == 1:
        return f"{values[0]:.2f} (1 seed)"
    told = f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"
    return told if len(values) > 2 else f"{told} (2 seeds)"


def width_text(width: int) -> str:
    """Write a width as the paper does."""
    power = width.bit_length() - 1
    return f"2^{power}" if width == 1 << power and width > 512 else f"{width:,}"


def listed(things: Collection[str]) -> str:
    """Join things as a sentence does."""
    *others, last = things
    return f"{', '.join(others)} and {last}" if others else last


def signed(value: float) -> str:
    """Write a difference; what is rounded to nothing has no sign of its own."""
    return f"{round(value, 2) + 0.0:+.2f}"


def span(values: Collection[float], form: str = ".2f") -> str:
    """Write the range of some numbers."""
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"
