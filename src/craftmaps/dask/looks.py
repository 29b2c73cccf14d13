"""Looks at the rows of all partitions again, after the tally: one job each."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from dask.delayed import Delayed

from craftmaps.dask.cluster import Cluster
from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.looking import Looking
from craftmaps.learners.partitions import of_block
from craftmaps.learners.rows_again import MEMORY_SHARE, feature_bytes, look_at
from craftmaps.learners.tally import Tally
from craftmaps.least_squares.row_looks import Look, WeightedRows

_LOG = logging.getLogger("craftmaps.dask")


@dataclass(frozen=True, eq=False)
class PartitionsAgain:
    """The rows of all partitions.

    Parameters
    ----------
    cluster : Cluster
    blocks : dict of Delayed
    settled : OnePassEstimator
        As `to_ship` returns it.
    dtype : dtype
        Of the rows.
    """

    cluster: Cluster
    blocks: dict[int, Delayed]
    settled: OnePassEstimator
    dtype: np.dtype

    def through(self, tally: Tally) -> "PartitionLooks":
        """Return the rows with features that workers keep, if they fit, or else map at every look."""
        looking = Looking.of(self.settled, tally)
        n_bytes = feature_bytes(tally, tally.n_rows, self.dtype)
        # Tallies may take half of the memory of the workers.
        is_kept = n_bytes <= 2 * MEMORY_SHARE * self.cluster.memory
        _LOG.info("Features take %d bytes, %s.", n_bytes, "kept between looks" if is_kept else "mapped at every look")
        if is_kept:
            kept = self.cluster.kept("features", partial(of_block, looking.mapped), self.blocks)
            return PartitionLooks(self.cluster, kept, _look_at_features)
        return PartitionLooks(self.cluster, self.blocks, partial(_look_at_rows, looking))


@dataclass(frozen=True, eq=False)
class PartitionLooks:
    """Partitions, and how one of them is looked at: `work(look, block, name)`."""

    cluster: Cluster
    blocks: dict[int, Delayed]
    work: Callable[[Look, Any, str], Any]

    def added_up(self, look: Look) -> Any:
        """Return the sum of a look over all partitions."""
        return self.cluster.added_up("look", partial(self.work, look), self.blocks)


def _look_at_features(look: Look, mapped: WeightedRows | None, name: str) -> Any:
    """Return what the rows of a partition come to, whose features were kept."""
    return look_at(mapped, look)


def _look_at_rows(looking: Looking, look: Look, block: tuple, name: str) -> Any:
    """Return what the rows of a partition come to."""
    return of_block(partial(looking.look, look), block, name)
