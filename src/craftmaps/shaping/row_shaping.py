"""How rows are shaped before they are mapped: a metric and a length."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.extmath import row_norms

from craftmaps._system.threads import serial_blas
from craftmaps.shaping.covariance_metric import CovarianceMetric
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.row_features import Lift

# Widest rows whose axes are looked for: eigenvectors cost the cube of the width.
WIDEST = 2048
_CARRIED = 0.985


class Treatment(NamedTuple):
    """A metric, whether rows are then brought to unit length, and how many axes are kept.

    `metric` is None, a transformer, or a name: "standard" for columns of unit variance,
    "covariance" or "gradient" with a power, as in "covariance 0.5", and "gradient 1 standard" for
    the gradient metric of standardised columns. `n_axes` None leaves their number to the metric.
    """

    metric: Any
    normalize: bool
    n_axes: int | None = None

    def lift(self, X: Any, targets: NDArray[np.float64], obey: bool = False) -> Lift:
        """Fit the treatment on rows; what the user gave is obeyed, else rows get one common scale."""
        return self.lift_with(self.fitted(X, targets), X, obey)

    def lift_with(self, metric: Any, X: Any, obey: bool = False) -> Lift:
        """Return the treatment with a metric that has been fitted."""
        if isinstance(self.metric, str) and isinstance(metric, (CovarianceMetric, GradientMetric)):
            metric = metric.truncated(min(self.n_axes or _usual_axes(metric, X), X.shape[1]))
        if self.normalize:
            return Lift(metric, None)
        return Lift(metric, 1.0 if obey else _common_scale(Lift(metric, 1.0).shape_rows(X)))

    def fitted(self, X: Any, targets: NDArray[np.float64]) -> Any:
        """Return the metric, fitted on rows."""
        if self.metric is None:
            return None
        if not isinstance(self.metric, str):
            return clone(self.metric).fit(X)
        name, *words = self.metric.split()
        power = float(words[0]) if words else 1.0
        if name == "standard":
            return StandardScaler(with_mean=not issparse(X)).fit(X)
        if name == "gradient":
            metric = GradientMetric(power, standardize="standard" in words, normalize=self.normalize).fit(X, targets)
            metric.normalize = False  # the lift sees to it
            return metric
        with serial_blas:  # as when choices are made: the axes do not depend on the number of threads
            return CovarianceMetric(power, normalize=False).fit(X)

    def __str__(self) -> str:
        axes = "" if self.n_axes is None else f", {self.n_axes} axes"
        return f"{self.metric or 'rows as they are'}{axes}, {'unit length' if self.normalize else 'common scale'}"


def _usual_axes(metric: Any, X: Any) -> int:
    """Return how many axes carry most of the shaped rows, rounded up to a power of two.

    Few are enough: features are better spent on products of the axes that matter.
    """
    energies = np.square(metric.transform(X), dtype=np.float64).sum(axis=0).cumsum()
    needed = int(np.searchsorted(energies, _CARRIED * energies[-1])) + 1
    return min(1 << (needed - 1).bit_length(), energies.size)


def _common_scale(rows: Any) -> float:
    """Return the factor that brings the mean squared length of rows to 1."""
    mean = float(np.mean(row_norms(rows, squared=True), dtype=np.float64))
    return 1 / np.sqrt(mean) if mean > 0 else 1.0
