"""Automatic choices: how to treat rows and which kernel, by held-out error on some rows.

Candidates are compared at a small width. First the treatment of rows is chosen with one
kernel, then the degree of the kernel with that treatment.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.extmath import row_norms

from craftmaps.craft import CraftMap
from craftmaps.kernels import DotProductKernel, Polynomial
from craftmaps.lift import Lift
from craftmaps.metric import CovarianceMetric
from craftmaps.normal_equations import NormalEquations
from craftmaps.sampling import bottom_rows

_FIRST_DEGREE = 3
_DEGREES = (2, 4, 5, 7, 9)
_ALPHAS = (1e-6, 1e-4, 1e-2)
_WIDTH = 1024
_MOST_ROWS = 8192
_FEWEST_ROWS = 40
_WIDEST_COVARIANCE = 2048


class Treatment(NamedTuple):
    """How rows are shaped: a metric (None, a name or a transformer) and whether to unit length."""

    metric: Any
    normalize: bool

    def lift(self, X: Any, obey: bool = False) -> Lift:
        """Fit the treatment on rows; what the user gave is obeyed, else rows get one common scale."""
        metric = fitted_metric(self.metric, X)
        if self.normalize:
            return Lift(metric, None)
        return Lift(metric, 1.0 if obey else _common_scale(Lift(metric, 1.0).shape_rows(X)))


class Choices(NamedTuple):
    """What was chosen, and the held-out errors it was chosen by."""

    treatment: Treatment
    kernel: DotProductKernel
    errors: dict[str, float]


def is_auto(value: Any) -> bool:
    """Tell whether a parameter is left to the library."""
    return isinstance(value, str) and value == "auto"


def choose(
    X: Any,
    y: NDArray,
    kernel: Any,
    metric: Any,
    normalize: Any,
    n_components: int,
    seed: int,
    errors_of: Callable[[NDArray, NDArray], NDArray],
    targets_of: Callable[[NDArray], NDArray],
) -> Choices:
    """Choose whatever of kernel, metric and normalize is "auto".

    `errors_of(outputs, y)` gives the errors of rows, and `targets_of(y)` what outputs should be.
    """
    lengths = (True, False) if is_auto(normalize) else (normalize,)
    candidates = [Treatment(m, n) for m in _metrics(X, metric) for n in lengths]
    kernels = [Polynomial(_FIRST_DEGREE)] if isinstance(kernel, str) else [kernel]
    if X.shape[0] < _FEWEST_ROWS:
        # Too few rows to tell: columns of unlike units are the commonest trap.
        usual = Treatment("standard", False) if is_auto(metric) and is_auto(normalize) else candidates[-1]
        return Choices(usual, kernels[0], {})
    rows = bottom_rows(X, _MOST_ROWS, seed)
    X, y = X[rows], y[rows]
    trial = _Trial(X, y, min(n_components, _WIDTH), seed, errors_of, targets_of)
    errors = {}
    best, lowest = candidates[0], np.inf
    for treatment in candidates:
        value = trial.error(treatment, kernels[0]) if len(candidates) > 1 else 0.0
        errors[_describe(treatment, kernels[0])] = value
        if value < lowest:
            best, lowest = treatment, value
    best_kernel = kernels[0]
    if isinstance(kernel, str):
        if len(candidates) == 1:
            lowest = errors[_describe(best, best_kernel)] = trial.error(best, best_kernel)
        for degree in _DEGREES:
            value = errors[_describe(best, Polynomial(degree))] = trial.error(best, Polynomial(degree))
            if value < lowest:
                best_kernel, lowest = Polynomial(degree), value
            elif degree > _FIRST_DEGREE:
                break  # errors fall with the degree and then rise
    return Choices(best, best_kernel, errors)


class _Trial:
    """Two halves of some rows; each is scored by a fit on the other."""

    def __init__(self, X: Any, y: NDArray, width: int, seed: int, errors_of: Callable, targets_of: Callable):
        self.X, self.y, self.width, self.seed = X, y, width, seed
        self.errors_of, self.targets_of = errors_of, targets_of
        self._last: tuple[Any, Any] = (None, None)
        # Rows come in the order of their hashes, so odd and even ones are random halves.
        self.halves = [np.arange(start, X.shape[0], 2) for start in (0, 1)]

    def _shaped(self, treatment: Treatment) -> Any:
        """Return the rows as a treatment shapes them; the last one is kept for the next kernel."""
        if self._last[0] != treatment:
            self._last = (treatment, treatment.lift(self.X).shape_rows(self.X))
        return self._last[1]

    def error(self, treatment: Treatment, kernel: DotProductKernel) -> float:
        """Return the mean held-out error at the best of a few alphas."""
        rows = self._shaped(treatment)
        Z = CraftMap(clone(kernel), self.width, random_state=self.seed).fit_transform(rows)
        Y = self.targets_of(self.y)
        errors = np.zeros(len(_ALPHAS))
        for train, test in (self.halves, self.halves[::-1]):
            statistic = NormalEquations.of(Z[train], Y[train])
            for i, alpha in enumerate(_ALPHAS):
                solution = statistic.solve(alpha * (statistic.scale() or 1.0))
                outputs = Z[test] @ solution.coef.T + solution.intercept
                errors[i] += np.mean(self.errors_of(outputs, self.y[test])) / 2
        return float(errors.min())


def fitted_metric(metric: Any, X: Any) -> Any:
    """Return the metric that a name or a transformer stands for, fitted on rows."""
    if metric is None:
        return None
    if not isinstance(metric, str):
        return clone(metric).fit(X)
    if metric == "standard":
        return StandardScaler(with_mean=not issparse(X)).fit(X)
    power = float(metric.split()[1]) if " " in metric else 1.0
    fitted = CovarianceMetric(power, normalize=False).fit(X)
    # As many axes as carry the shaped rows, rounded up to what a Hadamard block holds anyway.
    energy = np.cumsum(fitted.eigenvalues_ ** (1 + power))
    needed = int(np.searchsorted(energy, 0.9995 * energy[-1])) + 1
    return fitted.truncated(min(1 << (needed - 1).bit_length(), X.shape[1]))


def _metrics(X: Any, metric: Any) -> list[Any]:
    """Return the metrics to compare."""
    if not is_auto(metric):
        return [metric]
    if issparse(X) or X.shape[1] > _WIDEST_COVARIANCE:
        return [None, "standard"]
    return [None, "standard", "covariance 0.5", "covariance 1"]


def _common_scale(rows: Any) -> float:
    """Return the factor that brings the mean squared length of rows to 1."""
    mean = float(np.mean(row_norms(rows, squared=True), dtype=np.float64))
    return 1 / np.sqrt(mean) if mean > 0 else 1.0


def _describe(treatment: Treatment, kernel: DotProductKernel) -> str:
    """Name a candidate."""
    length = "unit length" if treatment.normalize else "common scale"
    return f"{treatment.metric or 'rows as they are'}, {length}, {kernel!r}"
