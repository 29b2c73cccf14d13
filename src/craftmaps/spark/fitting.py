"""Fit an estimator to a DataFrame: survey all partitions, settle, tally all partitions, add up by key, finish."""

import math
import warnings
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from craftmaps._system.progress import shown
from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.parameters import checked_rows
from craftmaps.learners.partitions import finished, prepared, settled_on, survey_part
from craftmaps.learners.survey import Survey
from craftmaps.learners.tally import Tally
from craftmaps.least_squares.gram_tiles import GramOfTiles, n_tiles, tile_type, tiles, without_gram
from craftmaps.spark.columns import Columns, selected
from craftmaps.spark.messages import SCHEMA, Message, added_up, group, pickled, received
from craftmaps.spark.rows import blocks
from craftmaps.spark.workers import n_tasks_at_once, on_workers, task_number

_BLOCK_BYTES = 2**25  # of rows that are counted at once
_SURVEY_BYTES = 2**27  # sorting rows into a survey costs the same for few as for many
_TILES_A_REDUCER = 32  # 64 MB


def fit(
    estimator: Any,
    df: DataFrame,
    *,
    features: Columns,
    label: Columns,
    weight: str | None = None,
    n_tasks: int | None = None,
) -> Any:
    """Fit an estimator to the rows of a DataFrame, and return it.

    The model is that of `estimator.fit` on the same rows, up to rounding, whatever the partitions and the order of
    rows. The DataFrame is read twice: once to settle kernel, metric and map, and once to count rows. If its rows
    depend on chance or time, cache it or write it to a file first.

    Parameters
    ----------
    estimator : CraftClassifier or CraftRegressor
    df : DataFrame
        With classic Spark or Spark Connect.
    features : str or list of str
        A column of vectors, a column of arrays of numbers, or numeric columns. Features are float32 if all of them
        are floats, else float64.
    label : str or list of str
        A column of labels or numbers; for several targets an array, or several columns.
    weight : str, optional
        A column of weights of rows.
    n_tasks : int, optional
        The number of tasks, by default as many as the cluster runs at once. Every task holds one statistic and
        sends one triangle of it.

    Returns
    -------
    estimator
        The same object, fitted.

    Examples
    --------
    >>> from craftmaps import CraftClassifier
    >>> model = fit(CraftClassifier(), df, features="features", label="label")  # doctest: +SKIP
    """
    if not (estimator.cv is None or isinstance(estimator.cv, Integral)):
        raise TypeError(f"cv must be an int or None to learn from a DataFrame, got {type(estimator.cv).__name__}.")
    if n_tasks is not None and (not isinstance(n_tasks, Integral) or n_tasks < 1):
        raise ValueError(f"n_tasks must be an integer of at least 1, got {n_tasks!r}.")
    with shown(estimator.verbose):
        ready = prepared(estimator)
        rows = selected(df, features, label, weight)
        n_tasks = n_tasks_at_once(df.sparkSession) if n_tasks is None else int(n_tasks)
        partitions = _Partitions(rows.coalesce(n_tasks), n_tasks)
        survey = partitions.survey(ready)
        settled = settled_on(ready, survey)
        tally = partitions.tally(settled)
        n_rows = 0 if survey is None else survey.n_rows
        if tally.n_rows != n_rows:
            warnings.warn(
                f"df had {n_rows} rows when it was first read, and then {tally.n_rows}: cache it, or write it to a "
                "file, if its rows depend on chance or time.",
                stacklevel=2,
            )
        return finished(estimator, settled, tally)


class _Partitions(NamedTuple):
    """Rows, and in how many tasks they are read."""

    rows: DataFrame
    n_tasks: int

    @property
    def n_groups(self) -> int:
        """How many sums there are on the way from the tasks to the driver."""
        return math.isqrt(self.n_tasks - 1) + 1

    def survey(self, estimator: OnePassEstimator) -> Survey | None:
        """Survey all rows."""
        total: Survey | None = None
        for message in self._sums(self.n_groups, np.float64, _survey_rows, estimator):
            total = message.value if total is None else total + message.value
        return total

    def tally(self, settled: OnePassEstimator) -> Tally:
        """Tally all rows."""
        total = settled.tally_.emptied()
        gram, dtype = GramOfTiles(total.statistic), tile_type(total.statistic)
        width = total.statistic.cross.shape[0]
        total.statistic = without_gram(total.statistic)
        # All that workers need: the statistic and the rows that choices were made by stay here.
        bare = prepared(settled)
        bare.n_features_in_ = settled.n_features_in_
        n_reducers = max(min(n_tiles(width), self.n_tasks), n_tiles(width) // _TILES_A_REDUCER)
        for message in self._sums(n_reducers, dtype, _tally_rows, bare, total):
            if message.key < 0:
                total += message.value
            else:
                gram.put(message.key, np.frombuffer(message.data, dtype))
        total.statistic = gram.joined_to(total.statistic)
        return total

    def _sums(self, n_reducers: int, dtype: Any, step: Callable[..., Iterator], *arguments: Any) -> Iterator[Message]:
        """Take a step in every task; return the sums of its messages by key."""
        sent = self.rows.mapInArrow(on_workers(step, self.n_groups, *arguments), SCHEMA)
        sums = sent.repartition(n_reducers, "key").mapInArrow(on_workers(added_up, dtype), SCHEMA)
        # The driver reads a partition at a time. By way of one more shuffle, all sums are formed at once before that.
        return received(sums.repartition(n_reducers, "key").toLocalIterator())


def _survey_rows(batches: Iterator, n_groups: int, estimator: OnePassEstimator) -> Iterator[pa.RecordBatch]:
    """Survey the rows of a task."""
    total: Survey | None = None
    for block in blocks(batches, _SURVEY_BYTES):
        try:
            survey = survey_part(estimator, *block.values)
        except (ValueError, TypeError) as error:
            raise block.bad(error) from error
        total = survey if total is None or survey is None else total + survey
    if total is not None:
        yield from pickled(group(task_number(), n_groups), task_number(), total).batches()


def _tally_rows(
    batches: Iterator, n_groups: int, estimator: OnePassEstimator, empty: Tally
) -> Iterator[pa.RecordBatch]:
    """Tally the rows of a task; the Gram matrix goes in tiles, and everything else beside it."""
    tally = empty.emptied()
    for block in blocks(batches, _BLOCK_BYTES):
        try:
            rows = checked_rows(estimator, *block.values, reset=False)
            if rows.kept.size:
                tally.add(*rows.values)
        except (ValueError, TypeError) as error:
            raise block.bad(error) from error
    if not tally.n_rows:
        return
    for number, tile in enumerate(tiles(tally.statistic)):
        yield from Message(number, task_number(), tile).batches()
    tally.statistic = without_gram(tally.statistic)
    tally.held_out = None if tally.held_out is None else tally.held_out.copy()  # without rows that did not stay in it
    yield from pickled(group(task_number(), n_groups), task_number(), tally).batches()
