"""Learning from rows in many places: survey every part, settle once, tally every part, add up, finish.

An engine calls these functions on its workers and adds up the results. All of them are functional: a
part that is computed twice, because a worker was lost, gives the same value again and counts once.
"""

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from functools import partial, reduce
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from craftmaps._system.threads import n_threads, threads
from craftmaps.kernels import Rows
from craftmaps.learners.blocks import where
from craftmaps.learners.counting import Counting, n_rows_of
from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.held_out import ALL_ROWS
from craftmaps.learners.logistic_search import refuse_logistic, refuse_one_look
from craftmaps.learners.parameters import checked_rows
from craftmaps.learners.prepass import LowestHashes, Prepass
from craftmaps.learners.rows_again import RowsAgain
from craftmaps.learners.survey import Survey
from craftmaps.learners.tally import Tally
from craftmaps.learners.waiting_rows import WaitingRows

Sum = TypeVar("Sum", Prepass, Tally)


def prepared(estimator: OnePassEstimator, has_rows: bool = False) -> OnePassEstimator:
    """Return an estimator of the same parameters with its seed drawn, to be sent to workers.

    `has_rows` if all parts can be looked at again after they were tallied.
    """
    ready = estimator._fresh()
    if not (estimator.cv is None or isinstance(estimator.cv, Integral)):
        raise TypeError(f"cv must be an int or None to learn part by part, got {type(estimator.cv).__name__}.")
    if not has_rows:
        refuse_logistic(ready._new_targets())
    return ready


def needs_survey(estimator: OnePassEstimator) -> bool:
    """Tell whether all rows must be surveyed; if not, the survey of any part that has rows will do."""
    any_width = copy(estimator)
    any_width.n_features_in_ = 1
    begun = any_width._begin()
    return begun.settings.recipe.needs_rows or begun.targets.needs_class_sums


def survey_part(estimator: OnePassEstimator, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Prepass | None:
    """Return what a prepared estimator finds out of a part of the rows; None if no row counts."""
    if not n_rows_of(X):
        return None
    local = copy(estimator)
    rows = checked_rows(local, X, y, sample_weight, reset=True)
    if not rows.kept.size:
        return None
    begun = local._begin()
    targets, y = begun.targets.taking(rows.y)
    class_sums = targets.class_sums(y, rows.weight) if targets.needs_class_sums else None
    if not begun.settings.recipe.needs_rows:
        # Columns, precision and labels are enough: no other row need be sent.
        one_row = begun.survey(rows.X[:1], y[:1], None, targets)
        return Prepass(replace(one_row, n_rows=rows.X.shape[0]), None, class_sums)
    held_out, lowest = begun._held_out(rows.X[:0], y[:0], targets), None
    if held_out is not None:
        hashes = held_out.hashes(rows.X, targets.hashes(y))
        lowest = LowestHashes.of(hashes, held_out.size + begun.settings.recipe.n_first_rows)
    return Prepass(begun.survey(rows.X, y, rows.weight, targets), lowest, class_sums)


def settled_on(estimator: OnePassEstimator, prepass: Prepass | None, has_rows: bool = False) -> OnePassEstimator:
    """Return a prepared estimator settled on the survey of all rows; it has counted none."""
    if prepass is None:
        raise ValueError("There must be at least one row with a positive weight, got none.")
    if needs_survey(estimator):  # else it may be the survey of one part, and other parts have other labels
        prepass.survey.targets.check_solvable()
    return _settled(estimator, prepass.known_survey, has_rows)


def settled_on_first(estimator: OnePassEstimator, blocks: Iterable[Any]) -> OnePassEstimator:
    """Return an estimator settled on the first rows of blocks, as `fit_stream` settles it; it has counted none."""
    ready, waiting, begun, targets = prepared(estimator), WaitingRows(), None, None
    refuse_one_look(ready._new_targets())
    for X, y, *weight in blocks:
        rows = checked_rows(ready, X, y, weight[0] if weight else None, reset=begun is None)
        if not rows.kept.size:
            continue
        begun = ready._begin() if begun is None else begun
        targets, y = (targets or begun.targets).taking(rows.y)
        waiting = waiting.with_copies(rows.X, y, rows.weight)
        if not begun.settings.recipe.needs_rows or waiting.n_rows >= begun.settings.recipe.n_first_rows:
            break
    if begun is None or targets is None:
        raise ValueError("There must be at least one row with a positive weight, got none.")
    return _settled(ready, begun.survey(*waiting.first(begun.settings.recipe.n_first_rows), targets))


def _settled(estimator: OnePassEstimator, survey: Survey, has_rows: bool = False) -> OnePassEstimator:
    """Return a prepared estimator settled on a survey."""
    settled = copy(estimator)
    settled.n_features_in_ = survey.layout.n_features
    if survey.layout.names is not None:
        settled.feature_names_in_ = survey.layout.names
    settled._pass = settled._begin()
    settled._pass.settle(survey, has_rows)
    if settled._pass.untallied is not None:
        raise ValueError(
            f"A linear model of sparse rows of {survey.layout.n_features} columns is learned from all rows at once, "
            "not part by part: use fit, or give a feature_map and linear_columns=False."
        )
    del settled._pass._spent  # rows of which the hashes are enough to hold others out
    return settled


def tally_part(estimator: OnePassEstimator, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Tally:
    """Return the tally of a part of the rows, perhaps of none, by a settled estimator."""
    return Counting(estimator).tally(X, y, sample_weight)


def added(part: Sum | None, total: Sum | None) -> Sum | None:
    """Return the sum of a part and the parts before it, in the memory of the part; `total` does not change."""
    if part is None or total is None:
        return total if part is None else part
    part += total
    return part


def finished(
    estimator: OnePassEstimator, settled: OnePassEstimator, tally: Tally, rows: RowsAgain | None = None
) -> OnePassEstimator:
    """Give an estimator the model of a tally by a settled one; its rows may be looked at again."""
    estimator._become(settled)
    estimator._going_on().replace_tally(tally, is_shared=True)
    return estimator._solve(rows=rows)


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
    `estimator.finish(tally)` makes the model that `fit` with the squared loss makes of the rows of all blocks.

    Parameters
    ----------
    estimator : CraftClassifier or CraftRegressor
    blocks : iterable
        Blocks (X, y) or (X, y, sample_weight), or functions that return one: these are called by the workers, which
        then read their own rows, once for the survey and once for the tally.
    executor : object with a method `map`, or a function such as `map`, default=map
        Executors of `concurrent.futures` and pools of `multiprocessing` and Ray have one; for joblib see
        :doc:`/guide/cluster`.
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
    theta = ALL_ROWS
    if not hasattr(estimator, "n_rows_seen_"):
        ready = prepared(estimator)
        found = _sum(spread(partial(_of_share, partial(survey_part, ready)), shares))
        estimator._become(settled_on(ready, found))
        theta = found.theta  # type: ignore[union-attr]
    counting = Counting(to_ship(estimator), theta)
    return _sum(spread(partial(_of_share, counting.tally), shares)) or counting.empty()


def of_block(work: Callable, block: Any, name: str) -> Any:
    """Return the survey or tally of a block (X, y) or (X, y, sample_weight); an error names block and row."""
    if not isinstance(block, tuple | list) or not 2 <= len(block) <= 3:
        got = f"{len(block)} parts" if isinstance(block, tuple | list) else type(block).__name__
        raise ValueError(f"{name} must be (X, y) or (X, y, sample_weight), got {got}.")
    try:
        return work(*block)
    except (ValueError, TypeError) as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name}{_where(block)}: {error}") from error


def _of_share(work: Callable, share: list[tuple[int, Any]]) -> Any:
    """Return the sum over some numbered blocks, on one thread: other tasks have the other cores."""
    total = None
    with threads(1):
        for number, block in share:
            block = block() if callable(block) else block
            total = added(of_block(work, block, f"Block {number}"), total)
    return total


def _sum(parts: Iterable[Sum | None]) -> Sum | None:
    """Add up parts that nobody else holds."""
    return reduce(lambda total, part: added(part, total), parts, None)


def _where(block: tuple | list) -> str:
    """Name the first row with a number that is not finite, if there is one."""
    X, *others = block
    columns = (np.reshape(values, (n_rows_of(values), -1)) for values in others if np.ndim(values))
    return next(filter(None, (where((part,)) for part in (X, *columns))), "")
