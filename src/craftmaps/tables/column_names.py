"""Column names in error messages, and the checks on them."""

from collections import Counter
from collections.abc import Sequence

_SHOWN_NAMES = 5
_SHOWN_CHARACTERS = 40


def listed(names: Sequence[str]) -> str:
    """Quote the first few names, and count the rest."""
    shown = ", ".join(map(shortened, names[:_SHOWN_NAMES]))
    return shown if len(names) <= _SHOWN_NAMES else f"{shown} and {len(names) - _SHOWN_NAMES} more"


def shortened(text: str) -> str:
    """Quote text from a file, cut to 40 characters."""
    return repr(text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 3]}...")


def check_unique(names: Sequence[str], file: str) -> None:
    """Refuse a table with two columns of the same name."""
    repeated = [name for name, n in Counter(names).items() if n > 1]
    if repeated:
        raise ValueError(f"The columns of {file} must have different names, got {listed(repeated)} more than once.")
