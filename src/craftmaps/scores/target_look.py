"""A look at the first values of a target, to tell classes from numbers to predict."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_FEW_VALUES = 20
_ENOUGH_ROWS = 100


class TargetLook(NamedTuple):
    """Facts about the first values of a target.

    Attributes
    ----------
    kind : str or None
        Kind of the column: "text", "integer", "number" or "boolean".
    n_rows, n_values : int
        Number of rows and of different values.
    fraction : float or None
        A value that is not a whole number.
    is_nearly_unique : bool
        Whether there are more values than classes usually have: over 20, and over half of the rows.
    """

    kind: str | None
    n_rows: int
    n_values: int
    fraction: float | None
    is_nearly_unique: bool

    @property
    def looks_like_a_number(self) -> bool:
        """Whether the values are numbers that are too many to be classes."""
        return self.is_nearly_unique and self.kind in ("integer", "number")

    @property
    def looks_like_a_name(self) -> bool:
        """Whether the values are text that differs from row to row."""
        return self.is_nearly_unique and self.kind == "text" and self.n_rows >= _ENOUGH_ROWS


def look_at_target(kind: str | None, y: NDArray) -> TargetLook:
    """Return facts about the values of the first rows.

    Examples
    --------
    >>> look_at_target("number", np.array([1.0, 2.5, 1.0])).fraction
    2.5
    >>> look_at_target("integer", np.arange(60)).looks_like_a_number
    True
    """
    fractions = y[y != np.trunc(y)] if kind == "number" else y[:0]
    n_values = np.unique(y).size
    is_nearly_unique = n_values > max(_FEW_VALUES, y.size / 2)
    return TargetLook(kind, y.size, n_values, float(fractions[0]) if fractions.size else None, is_nearly_unique)
