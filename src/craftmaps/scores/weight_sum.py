"""Sums of the weights of rows."""

import numpy as np
from numpy.typing import NDArray


class WeightSum:
    """The number of rows and the sums of their weights, which are 1 if none are given."""

    def __init__(self) -> None:
        self.n_rows, self.total = 0, 0.0
        self.is_given = False
        self._of_squares = 0.0

    def add(self, weight: NDArray[np.float64] | None, n_rows: int) -> NDArray[np.float64]:
        """Add rows; return their weights."""
        self.is_given = self.is_given or weight is not None
        weight = np.ones(n_rows) if weight is None else weight
        self.n_rows += n_rows
        self.total += float(weight.sum())
        self._of_squares += float(weight @ weight)
        return weight

    @property
    def n_effective(self) -> int:
        """Kish's effective sample size: the number of rows of equal weight that are worth as much."""
        return max(round(self.total**2 / self._of_squares), 1)

    def to_plain(self) -> dict[str, float]:
        """Return the total weight, if weights were given."""
        return {"weight": self.total} if self.is_given else {}
