"""A share of the rows of a stream that is held out: tested on and never trained on."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.randomness import child_seed
from craftmaps._rows.sampling import row_hashes
from craftmaps.streams import Block


class HeldOutShare:
    """Holds out rows by a hash of their features and a seed.

    Equal rows are on the same side, whatever their labels, and the side of a row depends neither on the rows around it
    nor on the format of the file. So the share holds in expectation, and roughly where rows are repeated often.

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

    def for_training(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the other rows; refuse to hold out none or all of them."""
        n_rows = n_kept = 0
        for block in blocks:
            kept = ~self.holds_out(block.X)
            n_rows, n_kept = n_rows + kept.size, n_kept + int(kept.sum())
            if kept.any():
                yield _picked(block, kept)
        if n_kept in (0, n_rows):
            which = "all" if not n_kept else "none"
            raise ValueError(
                f"--test-share {self.share:g} holds out {which} of {n_rows:,} rows: ask for another share."
            )

    def for_testing(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the rows that are held out."""
        for block in blocks:
            held_out = self.holds_out(block.X)
            if held_out.any():
                yield _picked(block, held_out)


class PartOfStream:
    """How far a pass over some rows of a stream is, for a progress bar."""

    def __init__(self, stream: Any, share: float):
        self._stream, self._share = stream, share

    @property
    def n_rows(self) -> int | None:
        """About how many rows there are, where that is known."""
        n_rows = self._stream.n_rows
        return None if n_rows is None else round(self._share * n_rows)

    @property
    def total_bytes(self) -> int | None:
        """Bytes of all files, where that is known."""
        return self._stream.total_bytes

    @property
    def bytes_read(self) -> int:
        """Bytes of the files behind the blocks so far."""
        return self._stream.bytes_read


def _picked(block: Block, mask: NDArray[np.bool_]) -> Block:
    """Return some rows of a block."""
    if mask.all():
        return block
    return Block(block.X[mask], *(None if part is None else part[mask] for part in block[1:]))
