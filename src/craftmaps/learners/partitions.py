"""Learning from rows in many places: survey every part, settle once, tally every part, add up, finish.

An engine is whoever calls these functions on its workers and adds up what they return. All of them are functional: a
part that is computed twice, because a worker was lost, gives the same value again and counts once.
"""

from copy import copy
from typing import Any

from craftmaps.kernels import Rows
from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.parameters import checked_rows
from craftmaps.learners.survey import Survey
from craftmaps.learners.tally import Tally


def prepared(estimator: OnePassEstimator) -> OnePassEstimator:
    """Return an estimator of the same parameters with its seed drawn, to be sent to workers."""
    return estimator._fresh()


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
    return begun.survey(rows.X, y, targets)


def settled_on(estimator: OnePassEstimator, survey: Survey | None) -> OnePassEstimator:
    """Return a prepared estimator settled on the survey of all rows; it has counted none."""
    if survey is None:
        raise ValueError("There must be at least one row with a positive weight, got none.")
    survey.targets.check_solvable()
    settled = copy(estimator)
    settled.n_features_in_ = survey.layout.n_features
    if survey.layout.names is not None:
        settled.feature_names_in_ = survey.layout.names
    settled._pass = settled._begin()
    settled._pass.settle(survey)
    return settled


def tally_part(estimator: OnePassEstimator, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Tally:
    """Return the tally of a part of the rows, perhaps of none, by a settled estimator."""
    return estimator.tally(X, y, sample_weight) if _n_rows(X) else estimator.tally_.emptied()


def finished(estimator: OnePassEstimator, settled: OnePassEstimator, tally: Tally) -> OnePassEstimator:
    """Give an estimator the model of a tally by a settled one."""
    estimator._become(settled)
    return estimator.finish(tally)


def _n_rows(X: Any) -> int:
    """Return the number of rows."""
    return X.shape[0] if hasattr(X, "shape") else len(X)
