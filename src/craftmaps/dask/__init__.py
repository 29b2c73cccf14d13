"""Learning from the partitions of a Dask cluster, and predicting them."""

import logging
from functools import partial
from typing import Any

try:
    import distributed
    import pandas  # noqa: F401 - Dask does without it, dataframes do not
except ImportError as error:
    raise ImportError(f"craftmaps.dask needs Dask: pip install 'craftmaps[dask]' ({error}).") from error

from craftmaps._system.progress import shown
from craftmaps.dask.blocks import blocks_of
from craftmaps.dask.cluster import Cluster
from craftmaps.dask.looks import PartitionsAgain
from craftmaps.dask.prediction import decision_function, predict, predict_proba, transform
from craftmaps.learners.counting import Counting
from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.partitions import finished, needs_survey, of_block, prepared, settled_on, survey_part, to_ship
from craftmaps.learners.prepass import Prepass

__all__ = ["decision_function", "fit", "predict", "predict_proba", "transform"]

_LOG = logging.getLogger(__name__)


def fit(
    estimator: OnePassEstimator,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    client: distributed.Client | None = None,
    memory_limit: int | str | None = None,
) -> OnePassEstimator:
    """Fit an estimator to the rows of all partitions: the model is the one that a local `fit` on them gives.

    Rows are read twice, first for a survey that kernel, metric and landmarks are settled on; persist them if they fit
    the cluster. With an explicit kernel and no metric one partition is surveyed. Where `fit` would try the logistic
    loss, rows are read again: once if their features fit the cluster, else at every look; `loss="squared"` avoids it.

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
    memory_limit : int or str, optional
        Bytes that the tallies of a worker may take, such as "4GB"; by default half of the memory of the worker. Where
        a tally does not fit, rows are passed once for each share of its columns that does.

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
    blocks = dict(enumerate(blocks_of(X, y, sample_weight)))
    ready, cluster = prepared(estimator, has_rows=True), Cluster.of(client, memory_limit)
    with shown(estimator.verbose) as progress:
        found = _survey(cluster, ready, blocks)
        settled = settled_on(ready, found, has_rows=True)
        shipped = to_ship(settled)
        tally = cluster.tally(Counting(shipped, found.theta), blocks)  # type: ignore[union-attr]
        progress.show(tally.n_rows, 1.0)
        dtype = found.survey.entries.X.dtype  # type: ignore[union-attr]
        return finished(estimator, settled, tally, PartitionsAgain(cluster, blocks, shipped, dtype))


def _survey(cluster: Cluster, ready: OnePassEstimator, blocks: dict[int, Any]) -> Prepass | None:
    """Survey all partitions or, where nothing depends on rows, the first one that has any."""
    shares = [blocks] if needs_survey(ready) else ({number: block} for number, block in blocks.items())
    for share in shares:
        _LOG.info("Surveying %d of %d partitions.", len(share), len(blocks))
        survey = cluster.added_up("survey", partial(of_block, partial(survey_part, ready)), share)
        if survey is not None:
            return survey
    return None
