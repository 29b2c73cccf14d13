"""A share of the rows of a stream that is held out: tested on and never trained on."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.randomness import child_seed
from craftmaps._rows.sampling import row_hashes


class HeldOutShare:
    """Holds out rows by a hash of their features and a seed.

    Equal rows stay together, even with different labels. Neither the order of rows nor the format of the file matters.
    The share is met in expectation, and only roughly if rows repeat often.

    Parameters
    ----------
    share : float
        Between 0 and 1.
    seed : int
    """

    def __init__(self, share: float, seed: int):
        self.share, self._seed = share, child_seed(seed, "test share")
        self._limit = np.uint64(share * 2.0**64)

    def holds_out(self, X: Any) -> NDArray[np.bool_]:
        """Tell for each row whether it is held out."""
        return row_hashes(X, self._seed) < self._limit

    def for_training(self, blocks: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows to train on; refuse a share that holds out no row, or every row.

        Blocks are named tuples (X, ...) of arrays with a row for each row of X, or None.
        """
        n_rows = n_kept = 0
        for block in blocks:
            is_kept = ~self.holds_out(block.X)
            n_rows, n_kept = n_rows + is_kept.size, n_kept + int(is_kept.sum())
            if is_kept.any():
                yield _picked(block, is_kept)
        if n_kept in (0, n_rows):
            which = "none" if n_kept else "all"
            raise ValueError(
                f"A test share of {self.share:g} holds out {which} of {n_rows:,} rows: ask for another share."
            )

    def training_rows(self, blocks: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows to train on of a part of all blocks: it may have none, or no others."""
        for block in blocks:
            is_kept = ~self.holds_out(block.X)
            if is_kept.any():
                yield _picked(block, is_kept)

    def for_testing(self, blocks: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows that are held out."""
        for block in blocks:
            is_held_out = self.holds_out(block.X)
            if is_held_out.any():
                yield _picked(block, is_held_out)


def _picked(block: Any, mask: NDArray[np.bool_]) -> Any:
    """Return some rows of a block."""
    return block if mask.all() else type(block)(*(None if part is None else part[mask] for part in block))
