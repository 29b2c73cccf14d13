"""A bound on the number of classes, so that a column of names does not fill the memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ClassLimit:
    """Lets blocks (X, y, ...) pass as long as there are not too many classes.

    Parameters
    ----------
    target : object
        The name or position of the column, for messages.
    most : int
        As many as fit in `n_bytes`.
    n_bytes : int
    fewest : int
        The least number at the end.
    """

    target: Any
    most: int
    n_bytes: int
    fewest: int = 0

    def __call__(self, blocks: Iterable[Any]) -> Iterator[Any]:
        """Yield blocks; refuse more classes than fit, before the learner allocates them, and at the end too few."""
        labels: set[Any] = set()
        n_rows = 0
        for block in blocks:
            labels.update(np.unique(block.y).tolist())
            n_rows += block.y.size
            if len(labels) > self.most:
                raise ValueError(
                    f"The target {self.target!r} has more than {self.most:,} classes in {n_rows:,} rows, which is "
                    f"what fits in {self.n_bytes / 1e9:.1f} GB: ask for fewer --components, or predict a number with "
                    "--regression."
                )
            yield block
        if len(labels) < self.fewest:
            got = f"only {labels.pop()!r}" if labels else "none"
            raise ValueError(f"The target {self.target!r} must have at least {self.fewest} classes, got {got}.")
