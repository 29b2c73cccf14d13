"""Numbers as text, rounded to the digits that can be trusted."""

import math
from collections.abc import Sequence

_SPACE = "\N{NO-BREAK SPACE}"
_MOST_DECIMALS = 8
_LARGEST_WHOLE = 2.0**53
NOTHING = "\N{EN DASH}"


def count(value: int) -> str:
    """Format a count, with commas."""
    return f"{value:,}"


def percent(share: float | None) -> str:
    """Format a share in percent, with a no-break space.

    Examples
    --------
    >>> [percent(share).split() for share in (0.01949, 0.2, 1.0, 0.0000123)]
    [['1.95', '%'], ['20.0', '%'], ['100', '%'], ['0.0012', '%']]
    """
    if share is None:
        return NOTHING
    value = 100 * share
    decimals = 0 if value in (0, 100) else 2 if value < 10 else 1
    if 0 < value < 0.1:
        decimals = min(1 - math.floor(math.log10(value)), _MOST_DECIMALS)  # few errors are not none
    return f"{value:.{decimals}f}{_SPACE}%"


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with a few significant digits.

    Examples
    --------
    >>> number(0.052075), number(123456.7), number(-1e-9)
    ('0.0521', '123,000', '-1e-9')
    """
    if value is None:
        return NOTHING
    rounded = float(f"{value:.{digits}g}")
    if value and not 1e-4 <= abs(value) < 1e7:
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
        return f"{float(mantissa):g}e{int(power)}"
    return f"{rounded:,.0f}" if abs(rounded) >= 10**digits else f"{rounded:.{digits}g}"


def resolved(value: float, deviation: float | None, is_share: bool = False) -> str:
    """Format a number to two digits of its standard error, a share in percent.

    Examples
    --------
    >>> resolved(0.13232, 0.0053, is_share=True).split(), resolved(3313.7, 334.6)
    (['13.23', '%'], '3,314')
    """
    shown = uncertain(value, deviation, is_share).split(f"{_SPACE}±")[0]
    return shown if shown.endswith("%") or not is_share else f"{shown}{_SPACE}%"


def uncertain(value: float, deviation: float | None, is_share: bool = False) -> str:
    """Format a number with its standard error, both to two digits of that error, a share in percent.

    Examples
    --------
    >>> uncertain(0.13232, 0.0053, is_share=True).split(), uncertain(3313.7, 334.6).split()
    (['13.23', '±', '0.53', '%'], ['3,314', '±', '335'])
    """
    if not deviation:
        return percent(value) if is_share else number(value)
    value, deviation, unit = (100 * value, 100 * deviation, f"{_SPACE}%") if is_share else (value, deviation, "")
    if not (1e-4 <= deviation and max(deviation, abs(value)) < 1e7):
        return f"{number(value)}{_SPACE}±{_SPACE}{number(deviation, 2)}{unit}"
    decimals = max(0, 1 - math.floor(math.log10(deviation)))
    return f"{value:,.{decimals}f}{_SPACE}±{_SPACE}{deviation:,.{decimals}f}{unit}"


def as_given(value: float) -> str:
    """Format a number of the data, which may be a code: whole numbers in full, others to the precision of float32.

    Examples
    --------
    >>> as_given(10039.0), as_given(0.10000000149), as_given(-2.0)
    ('10039', '0.1', '-2')
    """
    return f"{value:.0f}" if value.is_integer() and abs(value) < _LARGEST_WHOLE else f"{value:.7g}"


def decimal(value: float | None) -> str:
    """Format a number near 1 with three decimals."""
    return NOTHING if value is None else f"{value:.3f}" if abs(value) < 1000 else number(value)


def interval(ends: Sequence[float] | None, write=percent) -> str:
    """Format an interval."""
    return "" if ends is None else f"{write(ends[0])} to {write(ends[1])}"


def duration(seconds: float) -> str:
    """Format a duration, with no-break spaces.

    Examples
    --------
    >>> [duration(seconds).split() for seconds in (0.0123, 75, 7261)]
    [['12', 'ms'], ['1', 'min', '15', 's'], ['2', 'h', '1', 'min']]
    """
    minutes, rest = divmod(round(seconds), 60)
    if seconds < 1:
        parts = [f"{1000 * seconds:.0f}" if seconds >= 0.001 else number(1000 * seconds, 2), "ms"]
    elif seconds < 59.95:
        parts = [f"{seconds:.1f}", "s"]
    elif minutes < 60:
        parts = [f"{minutes}", "min", f"{rest}", "s"]
    else:
        parts = [count(minutes // 60), "h", f"{minutes % 60}", "min"]
    return _SPACE.join(parts)


def memory(n_bytes: float) -> str:
    """Format a number of bytes, with a no-break space.

    Examples
    --------
    >>> [memory(n_bytes).split() for n_bytes in (1_500_000_000, 12)]
    [['1.5', 'GB'], ['12', 'bytes']]
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.{0 if n_bytes >= 100 * unit else 1}f}{_SPACE}{name}"
    return f"{n_bytes:.0f}{_SPACE}bytes"


def shortened(text: str, most: int) -> str:
    """Cut a text to a length, with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
