"""Fit an estimator to a DataFrame: survey all partitions, settle, tally all partitions, add up by key, finish."""

import logging
import warnings
from numbers import Integral
from typing import Any

from pyspark.sql import DataFrame

from craftmaps._system.progress import shown
from craftmaps.learners.counting import Counting
from craftmaps.learners.partitions import finished, needs_survey, prepared, settled_on, to_ship
from craftmaps.spark.columns import Columns, selected
from craftmaps.spark.looks import DataFrameAgain
from craftmaps.spark.passes import Passes, survey_first_row
from craftmaps.spark.rows import blocks
from craftmaps.spark.workers import slots

_LOG = logging.getLogger("craftmaps.spark")


def fit(
    estimator: Any,
    df: DataFrame,
    *,
    features: Columns,
    label: Columns,
    weight: str | None = None,
    n_tasks: int | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Fit an estimator to the rows of a DataFrame, and return it.

    The model is that of `estimator.fit` on the same rows, up to rounding, whatever the partitions and the order of
    rows. The DataFrame is read twice: once to settle kernel, metric and map, and once to count rows. If its rows
    depend on chance or time, cache it or write it to a file first. With an explicit kernel and no metric it is read
    once. Where `fit` would try the logistic loss, it is read again at every look; `loss="squared"` avoids it.

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
    memory_limit : int, optional
        Bytes that the statistic of a task may take; by default its share of half of the memory that is free on its
        machine. Where the statistic does not fit, rows are passed once for each share of its columns that does.

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
    for name, value in (("n_tasks", n_tasks), ("memory_limit", memory_limit)):
        if value is not None and (not isinstance(value, Integral) or value < 1):
            raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")
    with shown(estimator.verbose):
        ready = prepared(estimator, has_rows=True)
        rows = selected(df, features, label, weight)
        there = slots(df.sparkSession)
        n_tasks = there.n_tasks if n_tasks is None else int(n_tasks)
        passes = Passes(rows.coalesce(n_tasks), n_tasks, blocks)
        surveys_all = needs_survey(ready)
        _LOG.info("Surveying %s in %d tasks.", "all rows" if surveys_all else "one row", n_tasks)
        found = passes.survey(ready) if surveys_all else survey_first_row(rows, blocks, ready)
        settled = settled_on(ready, found, has_rows=True)
        shipped = to_ship(settled)
        counting = Counting(shipped, found.theta)  # type: ignore[union-attr]
        tally = passes.tally(counting, there.memory if memory_limit is None else memory_limit)
        n_rows = found.n_rows  # type: ignore[union-attr]
        if surveys_all and tally.n_rows != n_rows:
            warnings.warn(
                f"df had {n_rows} rows when it was first read, and then {tally.n_rows}: cache it, or write it to a "
                "file, if its rows depend on chance or time.",
                stacklevel=2,
            )
        return finished(estimator, settled, tally, DataFrameAgain(passes, shipped))
