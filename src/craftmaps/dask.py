"""Learning from the partitions of a Dask cluster, and predicting them.

Every worker adds up its own partitions, one after another, and the sums of the workers are added up in a tree. So one
tally a worker is moved, and rows stay where they are read. All tasks are functional: if a worker is lost, Dask runs
its tasks again elsewhere, and no row counts twice.
"""

import logging
import pickle
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Self
from uuid import uuid4

import numpy as np

try:
    import cloudpickle
    import dask
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd
    from dask.core import get_dependencies, toposort
    from dask.delayed import Delayed, delayed
    from dask.highlevelgraph import HighLevelGraph
    from dask.sizeof import sizeof
    from dask.utils import parse_bytes
    from distributed import Client, get_client
except ImportError as error:
    raise ImportError(f"craftmaps.dask needs Dask: pip install 'craftmaps[dask]' ({error}).") from error

from craftmaps import __version__
from craftmaps._system.progress import shown
from craftmaps._system.threads import n_threads, threads
from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.partitions import (
    added,
    finished,
    needs_survey,
    of_block,
    prepared,
    settled_on,
    survey_part,
    tally_part,
    without_tally,
)
from craftmaps.learners.survey import Survey

_LOG = logging.getLogger(__name__)
_LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"


def fit(
    estimator: OnePassEstimator, X: Any, y: Any = None, *, sample_weight: Any = None, client: Client | None = None
) -> OnePassEstimator:
    """Fit an estimator to the rows of all partitions: the model is the one that a local `fit` on them gives.

    Rows are read twice, first for a survey that kernel, metric and landmarks are settled on; persist them if they fit
    the cluster. With an explicit kernel and no metric one partition is surveyed.

    Parameters
    ----------
    estimator : CraftClassifier or CraftRegressor
        `cv` must be an int or None.
    X : dask array, dask dataframe or list
        The items of a list are blocks (X, y) or (X, y, sample_weight): delayed, or tuples with delayed parts.
    y : dask array, dask series or column name, optional
        With a column name all other columns of the dataframe are features.
    sample_weight : dask array, dask series or column name, optional
    client : distributed.Client, optional
        By default the current one; if there is none, partitions go to threads of this process.

    Returns
    -------
    estimator
        The given estimator with its model.

    Examples
    --------
    >>> import dask.array as da
    >>> import craftmaps.dask
    >>> from craftmaps import CraftClassifier, datasets
    >>> digits = datasets.load("digits")
    >>> X, y = da.from_array(digits.X_train, chunks=(400, -1)), da.from_array(digits.y_train, chunks=400)
    >>> model = craftmaps.dask.fit(CraftClassifier(n_components=64, random_state=0), X, y)
    >>> labels = craftmaps.dask.predict(model, da.from_array(digits.X_test))
    >>> bool((labels.compute() == digits.y_test).mean() > 0.9)
    True
    """
    blocks, ready, cluster = _blocks(X, y, sample_weight), prepared(estimator), _Cluster.of(client)
    with shown(estimator.verbose) as progress:
        survey = None
        for some in [blocks] if needs_survey(ready) else [[block] for block in blocks]:
            if survey is None:
                _LOG.info("Surveying %d of %d partitions.", len(some), len(blocks))
                survey = cluster.added_up(survey_part, ready, some)
        settled = settled_on(ready, survey)
        _LOG.info("Tallying %d partitions on %d workers.", len(blocks), len(cluster.workers))
        tally = cluster.added_up(tally_part, settled, blocks)
        progress.show(tally.n_rows, 1.0)
        return finished(estimator, settled, tally)


def predict(estimator: Any, X: Any) -> Any:
    """Predict lazily, block by block: an array for an array, a series for a dataframe, a list for a list."""
    return _by_block(estimator, X, "predict")


def predict_proba(estimator: Any, X: Any) -> Any:
    """Return probabilities of the classes lazily; those of a dataframe in columns named by the classes."""
    return _by_block(estimator, X, "predict_proba")


def decision_function(estimator: Any, X: Any) -> Any:
    """Return scores of the classes lazily."""
    return _by_block(estimator, X, "decision_function")


def transform(feature_map: Any, X: Any) -> Any:
    """Map rows lazily, block by block."""
    return _by_block(feature_map, X, "transform")


@dataclass(frozen=True)
class _Cluster:
    """The workers of a client with their numbers of threads, or the threads of this process."""

    client: Client | None
    workers: dict[Any, int]

    @classmethod
    def of(cls, client: Client | None) -> Self:
        """Look at the workers of a client, and refuse those that cannot do the work."""
        try:
            client = get_client() if client is None else client
        except ValueError:
            return cls(None, dict.fromkeys(range(n_threads()), 1))
        for address, found in client.run(_version_finder()).items():
            if found != __version__:
                raise RuntimeError(f"Workers must have craftmaps {__version__} as here, but {address} has {found}.")
        workers = client.nthreads()
        if not workers:
            raise RuntimeError(f"client must have at least one worker, got none at {client.scheduler.address}.")
        return cls(client, dict(workers))

    def added_up(self, work: Callable, estimator: OnePassEstimator, blocks: list[Delayed]) -> Any:
        """Return the sum of the surveys or tallies of blocks: a chain for every thread, then a tree."""
        tasks = dict(HighLevelGraph.merge(*(block.__dask_graph__() for block in blocks)))
        owners = self._owners(tasks, [block.key for block in blocks])
        name, data, sums = f"{work.__name__}-{uuid4().hex}", cloudpickle.dumps((work, estimator)), []
        tasks[f"{name}-what"] = (pickle.loads, data)
        shares = defaultdict(list)
        for number, block in enumerate(blocks):
            shares[owners[block.key]].append(number)
        for worker, share in shares.items():
            ends: dict[int, str] = {}
            for i, number in enumerate(share):
                key, chain = f"{name}-{number}", i % self.workers[worker]
                tasks[key] = (_step, f"{name}-what", ends.get(chain), number, blocks[number].key)
                ends[chain], owners[key] = key, worker
            sums.append(_add_tree(tasks, f"{name}-of-worker-{len(sums)}", list(ends.values())))
        return self._computed(tasks, _add_tree(tasks, f"{name}-sum", sums), owners, len(data))

    def _owners(self, tasks: dict[Any, Any], blocks: list[Any]) -> dict[Any, Any]:
        """Return the workers of blocks and of what these alone need: where their parts are, else each in turn."""
        held = {} if self.client is None else {key: who[0] for key, who in self.client.who_has().items() if who}
        known = dict.fromkeys(held) | tasks
        needs = {key: get_dependencies(known, key) for key in known}
        order, homes, turns = toposort(known, needs), dict(held), cycle(self.workers)
        for key in order:
            homes.setdefault(key, next((homes[need] for need in needs[key] if need in homes), None))
        owners = {key: homes[key] if homes[key] in self.workers else next(turns) for key in blocks}
        for key in reversed(order):
            for need in needs[key]:
                is_shared = owners.setdefault(need, owners.get(key)) != owners.get(key)
                owners[need] = None if is_shared else owners[need]
        return owners

    def _computed(self, tasks: dict[Any, Any], key: str, owners: dict[Any, Any], n_bytes: int) -> Any:
        """Compute a task, each at its owner as long as there is one; so many bytes of the graph are ours."""
        total = Delayed(key, HighLevelGraph.from_collections(key, tasks, dependencies=()))
        if self.client is None:
            return total.compute()
        places = defaultdict(list, {key: [owner] for key, owner in owners.items() if owner is not None})
        # Estimators may be large for a graph, but only there they outlive workers.
        limit = parse_bytes(dask.config.get(_LARGE_GRAPH)) + n_bytes
        with (
            dask.config.set({_LARGE_GRAPH: limit}),
            dask.annotate(workers=places.__getitem__, allow_other_workers=True),
        ):
            return self.client.compute(total, optimize_graph=False).result()


def _step(what: tuple[Callable, OnePassEstimator], total: Any, number: int, block: tuple) -> Any:
    """Return the sum of a block and those before it; on one thread, as tasks on other threads do the same."""
    with threads(1):
        return added(of_block(*what, block, f"Partition {number}"), total)


def _add_tree(tasks: dict[Any, Any], name: str, keys: list[str]) -> str:
    """Add tasks that add up results two by two, and return the key of the sum."""
    while len(keys) > 1:
        pairs = [keys[i : i + 2] for i in range(0, len(keys), 2)]
        keys = [f"{name}-{len(keys)}-{i}" if pair[1:] else pair[0] for i, pair in enumerate(pairs)]
        tasks |= {key: (_plus, *pair) for key, pair in zip(keys, pairs, strict=True) if pair[1:]}
    return keys[0]


def _plus(one: Any, other: Any) -> Any:
    """Add surveys or tallies and leave them as they are: Dask may need them again."""
    return added(one, other) if one is None or other is None else one + other


def _version_finder() -> Callable[[], str]:
    """Return a function that tells which version is installed; it must not be imported from this library."""

    def find() -> str:
        try:
            import craftmaps
        except ImportError:
            return "none"
        try:
            import numba  # noqa: F401 - workers need it
        except ImportError as error:
            return f"no numba ({error})"
        return craftmaps.__version__

    return find


def _blocks(X: Any, y: Any, sample_weight: Any) -> list[Delayed]:
    """Return the partitions as delayed blocks (X, y) or (X, y, sample_weight)."""
    if isinstance(X, list | tuple):
        if y is not None or sample_weight is not None:
            raise ValueError("y and sample_weight must be parts of the blocks if X is a list of them.")
        blocks = [block if isinstance(block, Delayed) else delayed(tuple(block)) for block in X]
    elif isinstance(X, dd.DataFrame):
        columns = [_column(X, values, name) for values, name in ((y, "y"), (sample_weight, "sample_weight"))]
        blocks = [delayed(_split)(*parts) for parts in zip(X.to_delayed(), *columns, strict=True)]
    elif isinstance(X, da.Array):
        X = X.rechunk({1: -1})
        columns = [_chunks(X, values, name) for values, name in ((y, "y"), (sample_weight, "sample_weight"))]
        parts = [chunks for chunks in (X.to_delayed().ravel(), *columns) if chunks is not None]
        blocks = [delayed(block) for block in zip(*parts, strict=True)]
    else:
        raise TypeError(f"X must be a dask array, a dask dataframe or a list of blocks, got {type(X).__name__}.")
    if not blocks:
        raise ValueError("X must have at least one partition, got none.")
    return blocks


def _column(X: Any, values: Any, name: str) -> list[Any]:
    """Return the name of a column for every partition of a dataframe, or the partitions of a series."""
    if values is None or not isinstance(values, dd.Series | dd.DataFrame):
        if (values is None and name == "y") or (values is not None and values not in X.columns):
            raise ValueError(f"{name} must be a column of X or a dask series, got {values!r}.")
        return [values] * X.npartitions
    if values.npartitions != X.npartitions or (values.known_divisions and values.divisions != X.divisions):
        raise ValueError(f"{name} must have the partitions of X, {X.npartitions}, got {values.npartitions} or others.")
    return values.to_delayed()


def _split(frame: Any, y: Any, weight: Any) -> tuple:
    """Cut a partition into rows, targets and weights, where these are columns of it."""
    names = [values for values in (y, weight) if values is not None and np.ndim(values) == 0]
    columns = [frame[values] if np.ndim(values) == 0 else values for values in (y, weight) if values is not None]
    return frame.drop(columns=names), *columns


def _chunks(X: Any, values: Any, name: str) -> Any:
    """Return the chunks of targets or weights that belong to those of an array, if there are any."""
    if values is None:
        return None
    values = values.to_dask_array() if isinstance(values, dd.Series | dd.DataFrame) else da.asarray(values)
    values = values.rechunk({1: -1}) if values.ndim > 1 else values
    if np.isnan([*X.chunks[0], *values.chunks[0]]).any():
        if values.numblocks[0] != X.numblocks[0]:
            raise ValueError(f"{name} must have {X.numblocks[0]} chunks as X, got {values.numblocks[0]}.")
        return values.to_delayed().ravel()
    if values.shape[0] != X.shape[0]:
        raise ValueError(f"{name} must have {X.shape[0]} rows as X, got {values.shape[0]}.")
    return values.rechunk({0: X.chunks[0]}).to_delayed().ravel()


def _by_block(estimator: Any, X: Any, method: str) -> Any:
    """Apply a method to every block of X when it is computed."""
    model = delayed(without_tally(estimator))
    if isinstance(X, list | tuple):
        return [delayed(_applied)(block, model, method) for block in X]
    if isinstance(X, dd.DataFrame):
        names = getattr(estimator, "feature_names_in_", None)
        X = X if names is None else X[list(names)]
        meta = _applied(X._meta_nonempty, estimator, method).iloc[:0]
        return X.map_partitions(_applied, model=model, method=method, empty=meta, meta=meta)
    if isinstance(X, da.Array):
        meta = _applied(np.ones((1, X.shape[1]), X.dtype), estimator, method)[:0]
        shape = {"drop_axis": 1} if meta.ndim == 1 else {"chunks": (X.chunks[0], (meta.shape[1],))}
        return X.rechunk({1: -1}).map_blocks(_applied, model=model, method=method, empty=meta, meta=meta, **shape)
    raise TypeError(f"X must be a dask array, a dask dataframe or a list of blocks, got {type(X).__name__}.")


def _applied(X: Any, model: Any, method: str, empty: Any = None) -> Any:
    """Apply a method to a block; of a data frame the result is one with the same index."""
    if empty is not None and not X.shape[0]:
        return empty
    with threads(1):
        values = getattr(model, method)(X)
    if not isinstance(X, pd.DataFrame):
        return values
    if values.ndim == 1:
        return pd.Series(values, X.index)
    columns = model.get_feature_names_out() if method == "transform" else getattr(model, "classes_", None)
    return pd.DataFrame(values, X.index, columns)


@sizeof.register(Survey)
def _size_of_survey(survey: Survey) -> int:
    """Return the bytes of the rows that are kept."""
    return sizeof(tuple(survey.entries))
