"""Passes over the rows of a DataFrame: every task surveys, tallies or looks at its rows; sums are formed by key."""

import logging
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everywhere in PySpark
from pyspark.sql.pandas.types import to_arrow_schema

from craftmaps.learners.counting import Counting, n_owners_for
from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.looking import Looking
from craftmaps.learners.partitions import added, survey_part
from craftmaps.learners.prepass import Prepass
from craftmaps.learners.tally import Tally
from craftmaps.least_squares.gram_tiles import GramOfTiles, n_tiles, tile_type, tiles, without_gram
from craftmaps.least_squares.row_looks import Look
from craftmaps.spark.messages import SCHEMA, Message, added_up, group, pickled, received
from craftmaps.spark.workers import on_workers, task_number

_LOG = logging.getLogger("craftmaps.spark")
_BLOCK_BYTES = 2**25  # of rows that are counted at once
_SURVEY_BYTES = 2**27  # sorting rows into a survey costs the same for few as for many
_TILES_A_REDUCER = 32  # 64 MB


class Block(Protocol):
    """Rows that can be learned from, or that can be named if they cannot."""

    @property
    def values(self) -> tuple[Any, ...]:
        """Rows, labels and perhaps weights."""
        ...

    def bad(self, error: Exception) -> Exception:
        """Return an error that says where the rows are."""
        ...


Reader = Callable[[Iterable[pa.RecordBatch], int], Iterator[Block]]


class Passes(NamedTuple):
    """Rows of a DataFrame, in how many tasks they are read, and how its batches become blocks of so many bytes."""

    rows: DataFrame
    n_tasks: int
    read: Reader

    @property
    def n_groups(self) -> int:
        """How many sums there are on the way from the tasks to the driver."""
        return math.isqrt(self.n_tasks - 1) + 1

    def survey(self, estimator: OnePassEstimator) -> Prepass | None:
        """Survey all rows."""
        return _total(self._sums(self.n_groups, np.float64, survey_rows, estimator))

    def look(self, looking: Looking, look: Look) -> Any:
        """Return the sum of a look at all rows. It is small, and the driver reads all partitions at once."""
        return _total(received(self._summed(self.n_groups, np.float64, look_at_rows, looking, look).collect()))

    def tally(self, counting: Counting, memory: float) -> Tally:
        """Tally all rows, in several passes where a task may not take the memory for all columns.

        A task holds one statistic, to which it adds block by block.
        """
        settled = counting.settled
        n_owners = n_owners_for(settled, sys.getsizeof(settled.tally_), memory)
        _LOG.info("Tallying in %d tasks, in %d passes.", self.n_tasks, n_owners)
        total = settled.tally_.emptied()
        gram, dtype = GramOfTiles(total.statistic), tile_type(total.statistic)
        total.statistic = without_gram(total.statistic)
        for owner in counting.owners(n_owners):
            n = math.ceil(n_tiles(total.statistic.cross.shape[0]) / n_owners)
            for message in self._sums(max(min(n, self.n_tasks), n // _TILES_A_REDUCER), dtype, tally_rows, owner):
                if message.key >= 0:
                    gram.put(message.key, np.frombuffer(message.data, dtype))
                elif owner.owner:
                    _ = message.value  # an error is raised; the other sums are those of the first owner
                else:
                    total += message.value
        total.statistic = gram.joined_to(total.statistic)
        return total

    def _sums(self, n_reducers: int, dtype: Any, step: Callable[..., Iterator], *arguments: Any) -> Iterator[Message]:
        """Take a step in every task; return the sums of its messages by key."""
        sums = self._summed(n_reducers, dtype, step, *arguments)
        # The driver reads a partition at a time. By way of one more shuffle, all sums are formed at once before that.
        return received(sums.repartition(n_reducers, "key").toLocalIterator())

    def _summed(self, n_reducers: int, dtype: Any, step: Callable[..., Iterator], *arguments: Any) -> DataFrame:
        """Return the rows of messages: the sums by key of what a step in every task sends."""
        sent = self.rows.mapInArrow(on_workers(step, self.n_groups, self.read, *arguments), SCHEMA)
        return sent.repartition(n_reducers, "key").mapInArrow(on_workers(added_up, dtype), SCHEMA)


def survey_first_row(rows: DataFrame, read: Reader, estimator: OnePassEstimator) -> Prepass | None:
    """Survey the first row that counts, here: where nothing depends on rows, it tells all there is to know of columns.

    Partitions after it are not read.
    """
    rows = rows.where(F.col("weight") != 0) if "weight" in rows.columns else rows
    found = [row.asDict() for row in rows.take(1)]
    batch = pa.RecordBatch.from_pylist(found, schema=to_arrow_schema(rows.schema))
    total: Prepass | None = None
    for block in read([batch], _SURVEY_BYTES):
        total = _surveyed(estimator, block, total)
    return total


def survey_rows(batches: Iterator, n_groups: int, read: Reader, estimator: OnePassEstimator) -> Iterator:
    """Survey the rows of a task."""
    total: Prepass | None = None
    for block in read(batches, _SURVEY_BYTES):
        total = _surveyed(estimator, block, total)
    if total is not None:
        yield from pickled(group(task_number(), n_groups), task_number(), total).batches()


def tally_rows(batches: Iterator, n_groups: int, read: Reader, counting: Counting) -> Iterator:
    """Tally the rows of a task; the Gram matrix goes in tiles, and everything else beside it."""
    tally = counting.empty()
    for block in read(batches, _BLOCK_BYTES):
        try:
            counting.add(tally, *block.values)
        except (ValueError, TypeError) as error:
            raise block.bad(error) from error
    if not tally.n_rows:
        return
    for number, tile in tiles(tally.statistic):
        yield from Message(number, task_number(), tile).batches()
    if counting.owner:
        return
    tally.statistic = without_gram(tally.statistic)
    tally.held_out = None if tally.held_out is None else tally.held_out.copy()  # without rows that did not stay in it
    yield from pickled(group(task_number(), n_groups), task_number(), tally).batches()


def look_at_rows(batches: Iterator, n_groups: int, read: Reader, looking: Looking, look: Look) -> Iterator:
    """Look at the rows of a task."""
    total: Any = None
    for block in read(batches, _BLOCK_BYTES):
        try:
            total = added(looking.look(look, *block.values), total)
        except (ValueError, TypeError) as error:
            raise block.bad(error) from error
    if total is not None:
        yield from pickled(group(task_number(), n_groups), task_number(), total).batches()


def _total(messages: Iterable[Message]) -> Any:
    """Return the sum of the values of messages, None if there are none."""
    total = None
    for message in messages:
        total = message.value if total is None else total + message.value
    return total


def _surveyed(estimator: OnePassEstimator, block: Block, total: Prepass | None) -> Prepass | None:
    """Add the survey of a block."""
    try:
        return added(survey_part(estimator, *block.values), total)
    except (ValueError, TypeError) as error:
        raise block.bad(error) from error
