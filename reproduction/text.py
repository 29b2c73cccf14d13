"""Numbers as the page writes them."""

import tomllib
from collections.abc import Collection
from typing import Any

import numpy as np

from reproduction.cells import HERE
from reproduction.methods import OURS, PAPER_METHODS


def paper_numbers() -> dict[str, Any]:
    """Return what the paper has."""
    return tomllib.loads((HERE / "paper.toml").read_text())


def paper_number(part: dict[str, Any], method: str, width: int) -> float:
    """Return the paper's number in a part of Table 1 at one of its widths, for *ours* the best of its four maps."""
    column = part["components"].index(width)
    return min(part[row][column] for row in (PAPER_METHODS if method == OURS else (method,)))


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


def counted(n: int, thing: str) -> str:
    """Write how many there are of a thing."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def signed(value: float) -> str:
    """Write a difference; what is rounded to nothing has no sign of its own."""
    return f"{round(value, 2) + 0.0:+.2f}"


def span(values: Collection[float], form: str = ".2f") -> str:
    """Write the range of some numbers."""
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"
