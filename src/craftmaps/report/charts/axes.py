"""Axes: places of numbers on a drawing, and ticks at round numbers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MOST_TICKS = 6
_LARGEST = 1e250  # on a drawing, so that no difference or ratio of two numbers overflows


@dataclass(frozen=True)
class Axis:
    """A range of numbers, linear or logarithmic, with a label."""

    low: float
    high: float
    label: str
    is_log: bool = False

    @classmethod
    def around(cls, values: Iterable[float], label: str, *, is_log: bool = False, from_zero: bool = False) -> "Axis":
        """Return an axis that spans all values, with a margin at both ends."""
        values = [0.0, *values] if from_zero else list(values)
        if not values:
            return cls(0.0, 1.0, label)
        low, high = (min(max(value, -_LARGEST), _LARGEST) for value in (min(values), max(values)))
        if is_log:
            low, high = max(low, 1 / _LARGEST), max(high, 1 / _LARGEST)
            decades = math.log10(high) - math.log10(low)
            # At least 0.45 decades in all, which hold a tick at 1, 2 or 5.
            room = 10 ** max(0.06 * decades, 0.1, (0.45 - decades) / 2)
            return cls(low / room, high * room, label, True)
        room = next(room for room in (0.06 * (high - low), 0.1 * abs(high), 1.0) if room > 1 / _LARGEST)
        return cls(low if from_zero and low == 0 else low - room, high + room, label)

    def place(self, value: float) -> float:
        """Return the place of a value, as a share of the length of the axis; values beyond an end are clipped."""
        value = min(max(value, self.low), self.high)
        if self.is_log:
            return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """Return round numbers on the axis and their text."""
        return self._log_ticks() if self.is_log else self._linear_ticks()

    def _linear_ticks(self) -> list[tuple[float, str]]:
        rough = (self.high - self.low) / _MOST_TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(i * step, _written(i * step, step)) for i in range(first, last + 1)]

    def _log_ticks(self) -> list[tuple[float, str]]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        decades = [(10.0**k, k) for k in range(first, last + 1) if self.low <= 10.0**k <= self.high]
        if len(decades) > 2:
            stride = -(-len(decades) // _MOST_TICKS)
            return [(value, power_of_ten(k)) for value, k in decades[::stride]]
        fine = [m * 10.0**k for k in range(first, last + 1) for m in (1, 2, 5)]
        return [(value, f"{value:.10g}") for value in fine if self.low <= value <= self.high]


def power_of_ten(k: int) -> str:
    """Format a power of ten.

    Examples
    --------
    >>> power_of_ten(-8)
    '10⁻⁸'
    """
    return f"10{str(k).translate(_SUPERSCRIPTS)}"


def _written(value: float, step: float) -> str:
    """Format a tick with as many digits as distinguish it from its neighbours."""
    if value == 0:
        return "0"
    digits = max(1, math.floor(math.log10(abs(value))) - math.floor(math.log10(step)) + 1)
    if 1e-3 <= abs(value) < 1e6 and step >= 1e-4:
        return f"{value:,.{max(0, -math.floor(math.log10(step)))}f}".replace("-", "\N{MINUS SIGN}")
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(power)}".replace("-", "\N{MINUS SIGN}")
