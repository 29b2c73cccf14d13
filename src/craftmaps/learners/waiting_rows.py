"""Rows that wait until everything that depends on rows is settled."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps.learners.held_out import stack_rows


class Block(NamedTuple):
    """Rows, targets and perhaps weights."""

    X: Any
    y: NDArray
    weight: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class WaitingRows:
    """Blocks of rows in the order they came."""

    blocks: tuple[Block, ...] = ()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(block.X.shape[0] for block in self.blocks)

    def with_copies(self, X: Any, y: NDArray, weight: NDArray[np.float64] | None) -> "WaitingRows":
        """Return these rows and copies of others: the caller may reuse the memory of its rows."""
        block = Block(X.copy(), y.copy(), None if weight is None else weight.copy())
        return WaitingRows((*self.blocks, block))

    def __add__(self, other: "WaitingRows") -> "WaitingRows":
        return WaitingRows(self.blocks + other.blocks)

    def first(self, n_rows: int) -> Block:
        """Return the first rows with their targets and weights."""
        X, y = stack_rows([block.X for block in self.blocks]), np.concatenate([block.y for block in self.blocks])
        if all(block.weight is None for block in self.blocks):
            return Block(X[:n_rows], y[:n_rows], None)
        weights = [np.ones(len(block.y)) if block.weight is None else block.weight for block in self.blocks]
        return Block(X[:n_rows], y[:n_rows], np.concatenate(weights)[:n_rows])
