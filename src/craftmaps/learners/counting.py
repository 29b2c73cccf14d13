"""Counting the rows of a part on a worker: all columns of the statistic, or those that one of several owners keeps."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.held_out import ALL_ROWS, HeldOut
from craftmaps.learners.parameters import checked_rows
from craftmaps.learners.tally import Tally
from craftmaps.least_squares.gram_forms import empty_gram
from craftmaps.least_squares.panel_gram import PanelGram, most_owners


@dataclass(frozen=True, eq=False)
class Counting:
    """What a worker does with rows; it pickles, and is the same on every worker.

    Parameters
    ----------
    settled : OnePassEstimator
        Without rows and model, as `to_ship` returns it.
    theta : int
        The largest hash of rows to keep for the held-out sample: with the bound of a `Prepass` a part keeps its share
        of the sample of all parts, and not a whole sample of its own.
    owner, n_owners : int
        Where a whole statistic does not fit a worker, the owner of some columns. Features are computed again for every
        owner. Only the first one holds rows out. `assembled` makes a tally of what all owners return.
    """

    settled: OnePassEstimator
    theta: int = ALL_ROWS
    owner: int = 0
    n_owners: int = 1

    def owners(self, n_owners: int) -> "list[Counting]":
        """Return the same for each of several owners."""
        return [replace(self, owner=owner, n_owners=n_owners) for owner in range(n_owners)]

    def empty(self) -> Tally:
        """Return a tally of no rows."""
        settled = self.settled.tally_
        statistic, held_out = settled.statistic.emptied(), settled.held_out
        tally = Tally(settled.features, settled.layout, settled.targets, statistic, None, settled.batch_rows)
        tally.origin = settled.origin
        if held_out is not None and not self.owner:
            tally.held_out = HeldOut(held_out.size, held_out.seed, held_out.spent, theta=self.theta)
        if self.n_owners > 1:
            panels = PanelGram(statistic.cross.shape[0], self.owner, self.n_owners, statistic.packed)
            tally.statistic = statistic._with_gram(panels)  # type: ignore[arg-type]
        return tally

    def add(self, tally: Tally, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Add rows, perhaps none, to a tally in place."""
        if not n_rows_of(X):
            return
        rows = checked_rows(self.settled, X, y, sample_weight, reset=False)
        if rows.kept.size:
            tally.add(*rows.values)

    def tally(self, X: Any, y: Any, sample_weight: Any = None) -> Tally:
        """Return the tally of rows, perhaps of none."""
        tally = self.empty()
        self.add(tally, X, y, sample_weight)
        return tally

    def tally_of(self, blocks: Iterable[Any], name: str) -> Tally:
        """Return the tally of blocks (X, y, ...) that are read one at a time; an error about rows names their place."""
        tally = self.empty()
        for block in blocks:
            try:
                self.add(tally, *block[:3])
            except (ValueError, TypeError) as error:
                raise ValueError(f"{name}: {error}") from error
        return tally


def n_owners_for(estimator: OnePassEstimator, n_bytes: int, memory: float) -> int:
    """Return how many owners must share the columns of tallies of so many bytes, for one share to fit the memory."""
    width = estimator.tally_.statistic.cross.shape[0]
    fewest = n_bytes / most_owners(width)
    if memory < fewest:
        raise ValueError(f"Workers must have {fewest:,.0f} bytes for tallies of {width} features, got {memory:,.0f}.")
    return max(1, math.ceil(n_bytes / memory))


def assembled(parts: Iterable[Tally]) -> Tally:
    """Return the tally whose columns several owners have counted, the first one first."""
    parts = iter(parts)
    total = next(parts)
    statistic = total.statistic
    whole = empty_gram(statistic.cross.shape[0], statistic.packed)
    for part in chain([total], parts):
        part.statistic._gram.write_into(whole)  # type: ignore[union-attr]
    total.statistic = statistic._with_gram(whole)
    return total


def n_rows_of(X: Any) -> int:
    """Return the number of rows."""
    return X.shape[0] if hasattr(X, "shape") else len(X)
