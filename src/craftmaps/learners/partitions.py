"""Learning from rows in many places: survey every part, settle once, tally every part, add up, finish.

An engine calls these functions on its workers and adds up the results. All of them are functional: a
part that is computed twice, because a worker was lost, gives the same value again and counts once.
"""

import math
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from functools import partial, reduce
from itertools import chain
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from craftmaps._system.threads import n_threads, threads
from craftmaps.kernels import Rows
from craftmaps.learners.blocks import where
from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.parameters import checked_rows
from craftmaps.learners.survey import Survey
from craftmaps.learners.tally import Tally
from craftmaps.least_squares.gram_forms import empty_gram
from craftmaps.least_squares.panel_gram import PanelGram, most_owners

Sum = TypeVar("Sum", Survey, Tally)


def prepared(estimator: OnePassEstimator) -> OnePassEstimator:
    """Return an estimator of the same parameters with its seed drawn, to be sent to workers."""
    ready = estimator._fresh()
    if not (estimator.cv is None or isinstance(estimator.cv, Integral)):
        raise TypeError(f"cv must be an int or None to learn part by part, got {type(estimator.cv).__name__}.")
    return ready


def needs_survey(estimator: OnePassEstimator) -> bool:
    """Tell whether all rows must be surveyed; if not, the survey of any part that has rows will do."""
    any_width = copy(estimator)
    any_width.n_features_in_ = 1
    return any_width._begin().settings.recipe.needs_rows


def survey_part(estimator: OnePassEstimator, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Survey | None:
    """Return the survey of a part of the rows by a prepared estimator; None if no row counts."""
    if not _n_rows(X):
        return None
    local = copy(estimator)
    rows = checked_rows(local, X, y, sample_weight, reset=True)
    if not rows.kept.size:
        return None
    begun = local._begin()
    targets, y = begun.targets.taking(rows.y)
    if begun.settings.recipe.needs_rows:
        return begun.survey(rows.X, y, targets)
    # Columns, precision and labels are enough: no other row need be sent.
    return replace(begun.survey(rows.X[:1], y[:1], targets), n_rows=rows.X.shape[0])


def settled_on(estimator: OnePassEstimator, survey: Survey | None) -> OnePassEstimator:
    """Return a prepared estimator settled on the survey of all rows; it has counted none."""
    if survey is None:
        raise ValueError("There must be at least one row with a positive weight, got none.")
    if needs_survey(estimator):  # else it may be the survey of one part, and other parts have other labels
        survey.targets.check_solvable()
    settled = copy(estimator)
    settled.n_features_in_ = survey.layout.n_features
    if survey.layout.names is not None:
        settled.feature_names_in_ = survey.layout.names
    settled._pass = settled._begin()
    settled._pass.settle(survey)
    del settled._pass._spent  # rows of which the hashes are enough to hold others out
    return settled


def tally_part(estimator: OnePassEstimator, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Tally:
    """Return the tally of a part of the rows, perhaps of none, by a settled estimator."""
    return estimator.tally(X, y, sample_weight) if _n_rows(X) else estimator.tally_.emptied()


def n_owners_for(estimator: OnePassEstimator, n_bytes: int, memory: float) -> int:
    """Return how many owners must share the columns of tallies of so many bytes, for one share to fit the memory."""
    width = estimator.tally_.statistic.cross.shape[0]
    fewest = n_bytes / most_owners(width)
    if memory < fewest:
        raise ValueError(f"Workers must have {fewest:,.0f} bytes for tallies of {width} features, got {memory:,.0f}.")
    return max(1, math.ceil(n_bytes / memory))


def tally_columns(
    owner: int, n_owners: int, estimator: OnePassEstimator, X: Rows, y: Rows, sample_weight: Rows | None = None
) -> Tally:
    """Return the tally of a part of the rows with the columns of the Gram matrix that one of several owners keeps.

    Only the first owner holds rows out. `assembled` makes a tally of what all owners return.
    """
    tally = estimator.tally_.emptied()
    statistic = tally.statistic
    panels = PanelGram(statistic.cross.shape[0], owner, n_owners, statistic.packed)
    tally.statistic = statistic._with_gram(panels)  # type: ignore[arg-type]
    tally.held_out = None if owner else tally.held_out
    rows = checked_rows(estimator, X, y, sample_weight, reset=False) if _n_rows(X) else None
    if rows is not None and rows.kept.size:
        tally.add(*rows.values)
    return tally


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


def added(part: Sum | None, total: Sum | None) -> Sum | None:
    """Return the sum of a part and the parts before it, in the memory of the part; `total` does not change."""
    if part is None or total is None:
        return total if part is None else part
    part += total
    return part


def finished(estimator: OnePassEstimator, settled: OnePassEstimator, tally: Tally) -> OnePassEstimator:
    """Give an estimator the model of a tally by a settled one."""
    estimator._become(settled)
    return estimator.finish(tally)


def to_ship(estimator: OnePassEstimator) -> OnePassEstimator:
    """Return a settled estimator for workers that tally: without its own tally and model, and without rows."""
    light = copy(estimator)
    light._model = light._results = None
    light._pass = copy(estimator._going_on())
    light._pass.replace_tally(estimator.tally_.emptied())
    vars(light._pass).pop("_spent", None)
    return light


def without_tally(estimator: Any) -> Any:
    """Return an estimator for workers that predict: a learner without its tally, or a map as it is."""
    if not isinstance(estimator, OnePassEstimator):
        return estimator
    light = copy(estimator)
    light._model, light._pass = estimator._solved, None
    return light


def tally_blocks(
    estimator: OnePassEstimator, blocks: Iterable[Any], executor: Any = map, *, n_tasks: int | None = None
) -> Tally:
    """Return the tally of blocks of rows, added up by the workers of an executor.

    An estimator that has seen no rows is settled first, on a survey of all blocks; then
    `estimator.finish(tally)` makes the model that `fit` on the rows of all blocks makes.

    Parameters
    ----------
    estimator : CraftClassifier or CraftRegressor
    blocks : iterable
        Blocks (X, y) or (X, y, sample_weight), or functions that return one: these are called by the workers, which
        then read their own rows, once for the survey and once for the tally.
    executor : object with a method `map`, or a function such as `map`, default=map
        Executors of `concurrent.futures` and pools of `multiprocessing` and Ray have one; for joblib see
        :doc:`/cluster`.
    n_tasks : int, optional
        The number of tasks, each of which returns one tally; by default as many as this process may use threads.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import craftmaps
    >>> digits = craftmaps.datasets.load("digits")
    >>> blocks = [(digits.X_train[:700], digits.y_train[:700]), (digits.X_train[700:], digits.y_train[700:])]
    >>> model = craftmaps.CraftClassifier(n_components=64, random_state=0)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     tally = craftmaps.tally_blocks(model, blocks, pool)
    >>> tally.n_rows, model.finish(tally).n_rows_seen_
    (1438, 1438)
    """
    blocks = list(enumerate(blocks))
    n_tasks = min(n_tasks or n_threads(), len(blocks))
    shares = [blocks[task::n_tasks] for task in range(n_tasks)]
    spread: Callable = getattr(executor, "map", executor)
    if not hasattr(estimator, "n_rows_seen_"):
        ready = prepared(estimator)
        estimator._become(settled_on(ready, _sum(spread(partial(_of_share, survey_part, ready), shares))))
    settled = to_ship(estimator)
    return _sum(spread(partial(_of_share, tally_part, settled), shares)) or settled.tally_


def of_block(work: Callable, estimator: OnePassEstimator, block: Any, name: str) -> Any:
    """Return the survey or tally of a block (X, y) or (X, y, sample_weight); an error names block and row."""
    if not isinstance(block, tuple | list) or not 2 <= len(block) <= 3:
        got = f"{len(block)} parts" if isinstance(block, tuple | list) else type(block).__name__
        raise ValueError(f"{name} must be (X, y) or (X, y, sample_weight), got {got}.")
    try:
        return work(estimator, *block)
    except (ValueError, TypeError) as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name}{_where(block)}: {error}") from error


def _of_share(work: Callable, estimator: OnePassEstimator, share: list[tuple[int, Any]]) -> Any:
    """Return the sum over some numbered blocks, on one thread: other tasks have the other cores."""
    total = None
    with threads(1):
        for number, block in share:
            block = block() if callable(block) else block
            total = added(of_block(work, estimator, block, f"Block {number}"), total)
    return total


def _sum(parts: Iterable[Sum | None]) -> Sum | None:
    """Add up parts that nobody else holds."""
    return reduce(lambda total, part: added(part, total), parts, None)


def _where(block: tuple | list) -> str:
    """Name the first row with a number that is not finite, if there is one."""
    X, *others = block
    columns = (np.reshape(values, (_n_rows(values), -1)) for values in others if np.ndim(values))
    return next(filter(None, (where((part,)) for part in (X, *columns))), "")


def _n_rows(X: Any) -> int:
    """Return the number of rows."""
    return X.shape[0] if hasattr(X, "shape") else len(X)
