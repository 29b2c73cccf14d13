"""A metric that was chosen with the help of targets, to be given to a learner again."""

from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin, clone


class ChosenMetric(TransformerMixin, BaseEstimator):
    """A metric that an automatic choice has taken; `Choices.parameters` returns it.

    A learner that is given one fits it to the rows that the choice was made by, and holds none of them out: an error on
    them would flatter. So it learns the same model again, without the search.

    Parameters
    ----------
    metric : transformer or None
    """

    def __init__(self, metric: Any = None):
        self.metric = metric

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the metric."""
        self.metric_ = None if self.metric is None else clone(self.metric).fit(X, y)
        return self

    def transform(self, X: Any) -> Any:
        """Transform rows by the metric."""
        return X if self.metric_ is None else self.metric_.transform(X)


def taken(metric: Any) -> Any:
    """Return the metric itself, chosen or given."""
    return metric.metric if isinstance(metric, ChosenMetric) else metric
