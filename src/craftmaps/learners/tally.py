"""The rows seen so far: those that wait until everything is settled, and the statistic of the others."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.randomness import child_seed, seed_of
from craftmaps._system.memory import available_memory
from craftmaps._system.progress import Progress
from craftmaps.learners.automatic_choice import is_auto
from craftmaps.learners.feature_recipe import SettledLearner
from craftmaps.learners.held_out import HeldOut, stack_rows
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.shaping.row_features import Lift

_BLOCK_BYTES = 2**26
_FEWEST_ROWS = 1024
# Of every entry: the float64 square, its copies for solving, and float32 products of a block.
_SQUARE_BYTES = 28


class CountingLearner(SettledLearner):
    """Maps rows and adds them to a statistic and to the held-out sample, block by block."""

    def _start(self, seed: int | None = None) -> None:
        """Check the parameters and begin a pass."""
        self._check_parameters()
        self.__dict__.pop("notes_", None)  # they are about another model
        self.seed_ = seed_of(self.random_state) if seed is None else seed
        self._targets = self._new_targets()
        self.n_rows_seen_ = 0
        self._lift: Lift | None = None
        self._waiting: list[tuple] = []
        self._statistic: Any = None
        self._room: NDArray | None = None
        self._holdout = HeldOut(int(self.holdout_rows), child_seed(self.seed_, "holdout"))
        self._is_solved = False
        self.choices_ = {name: getattr(self, name) for name in ("kernel", "metric", "normalize")}

    def _forget(self) -> None:
        """Reset all state but the parameters."""
        for name in vars(self).keys() - self.get_params(deep=False).keys():
            delattr(self, name)

    def _refuse_loaded(self) -> None:
        """Refuse to go on where there is nothing to go on from."""
        if self._statistic is None and not self._waiting:
            raise ValueError("A model that was loaded from a file cannot go on learning: fit a new one.")

    def _spend(self, X: Any, target_bits: NDArray[np.uint64]) -> None:
        self._holdout = self._holdout.sparing(X, target_bits)

    def _end_waiting(self) -> None:
        """Settle what depends on rows, if that is still to be done, and count the rows that waited."""
        if self._waiting:
            if self._lift is None:
                self._settle_on_waiting()
            self._count_waiting()

    def _settle_on_waiting(self) -> None:
        """Settle what depends on rows on those that wait."""
        X, y = stack_rows([X for X, _, _ in self._waiting]), np.concatenate([y for _, y, _ in self._waiting])
        self._settle(X[: self._n_first_rows], y[: self._n_first_rows])

    def _count_waiting(self) -> None:
        """Count the rows that waited, all of them or, if that is interrupted, none."""
        if not self._waiting:
            return
        with self._unharmed():
            waiting, self._waiting = self._waiting, []
            self._holdout = self._holdout.emptied()
            self.n_rows_seen_ -= sum(X.shape[0] for X, _, _ in waiting)
            for X, y, weight in waiting:
                self._count_in_blocks(X, y, weight)

    def _count_in_blocks(self, X: Any, y: NDArray, weight: NDArray | None, progress: Progress | None = None) -> None:
        """Add rows to the statistic and the held-out sample, so many at a time that their features fit."""
        rows = self._rows_per_block(X)
        for start in range(0, X.shape[0], rows):
            part = slice(start, start + rows)
            w = None if weight is None else weight[part]
            Z, Y = self._features(X[part]), self._targets.encoded(y[part])
            if self._statistic is None:
                self._statistic = NormalEquations(Z.shape[1], Y.shape[1], self._is_packed(Z.shape[1]))
            self._statistic.add(Z, Y, w)
            if isinstance(self.cv, Integral):
                self._holdout.add(X[part], y[part], self._targets.hashes(y[part]), w)
            self.n_rows_seen_ += Z.shape[0]
            if progress is not None:
                progress.show(self.n_rows_seen_, min(1.0, (start + rows) / X.shape[0]), X.shape[0])

    def _features(self, X: Any) -> NDArray:
        """Return the features of a block of rows, which are good until those of the next block."""
        Z = self._lift(X, self._room)  # type: ignore[misc]
        if self._room is None or self._room.shape[0] < Z.shape[0]:
            self._room = Z
        return Z

    def _is_packed(self, width: int) -> bool:
        """Tell whether the statistic keeps one triangle in float32: as told, or if a float64 square does not fit."""
        if not is_auto(self.packed):
            return bool(self.packed)
        available = available_memory()
        return available is not None and _SQUARE_BYTES * width**2 > available

    def _rows_per_block(self, X: Any) -> int:
        """Return how many rows to map at a time."""
        if not is_auto(self.batch_rows):
            return int(self.batch_rows)
        return max(_FEWEST_ROWS, _BLOCK_BYTES // (X.dtype.itemsize * int(self.n_components)))
