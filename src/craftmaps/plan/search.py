"""Choose a map: predicted error and cost of many candidates, the best first."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import check_array

from craftmaps._rows.randomness import seed_of
from craftmaps._rows.sampling import SampledRows, bottom_rows
from craftmaps.kernels import DotProductKernel, Rows, check_kernel
from craftmaps.maps.catalogue import CATALOGUE, MapEntry
from craftmaps.plan.predicted_error import predicted_error

_SAMPLE_ROWS = 256
_ROWS_TO_HOLD = 2**12
_WIDTHS = tuple(2**k for k in range(6, 15))


@dataclass(frozen=True)
class Choice:
    """A map, ready to be fitted, with its predicted error and cost.

    `seconds` is the time to map `n_rows` rows and add them to a Gram matrix, the two costs of
    a pass, on the threads in use when the plan was made.
    """

    feature_map: Any
    predicted_error: float
    operations: float
    bytes_per_row: int
    seconds: float
    within: bool


class Plan(Sequence[Choice]):
    """The choices of a plan, best first; prints as a table."""

    def __init__(self, choices: Sequence[Choice], n_rows: int, goal: str):
        self.choices = list(choices)
        self.n_rows = n_rows
        self.goal = goal

    def __getitem__(self, index):
        return self.choices[index]

    def __len__(self) -> int:
        return len(self.choices)

    def __str__(self) -> str:
        lines = [
            f"{self.goal}; {self.n_rows:,} rows",
            f"{'map':<34} {'up':>7} {'width':>6} {'error':>7} {'op/row':>9} {'byte/row':>9} {'seconds':>9}",
        ]
        for choice in self.choices:
            title, up = _title(choice.feature_map), getattr(choice.feature_map, "up_components", "-")
            lines.append(
                f"{title:<34} {up:>7} {choice.feature_map.n_components:>6} {choice.predicted_error:>7.3f} "
                f"{choice.operations:>9.2e} {choice.bytes_per_row:>9} {choice.seconds:>9.3g}"
                f"{'' if choice.within else '  (misses)'}"
            )
        return "\n".join(lines)


def plan(
    X: Rows,
    kernel: DotProductKernel,
    target_error: float | None = None,
    seconds: float | None = None,
    *,
    n_rows: int | None = None,
    landmarks: bool = True,
    random_state: int = 0,
) -> Plan:
    """Predict error and cost of many maps on a sample of rows; return them best first.

    With `target_error` the best is the fastest map whose predicted relative kernel error is at most
    that; with `seconds` it is the most accurate map that maps `n_rows` rows and
    adds them to a Gram matrix in that time. Choices that miss the goal come last and are marked.

    Parameters
    ----------
    X : rows, dense or CSR
        Representative of the data, with its final scaling; a sample of the rows is used.
    kernel : Polynomial, Exponential or another kernel
    target_error : float, optional
        Largest relative kernel error wanted, in the sense of `predicted_error`.
    seconds : float, optional
        Longest time wanted. Exactly one of the two goals must be given.
    n_rows : int, optional
        Number of rows of the data; by default that of X.
    landmarks : bool, default=True
        Whether to consider landmark maps, which must be fitted on representative rows.
    random_state : int, default=0
        Seed for the sample and the candidates.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from craftmaps import Polynomial
    >>> from craftmaps.plan import plan
    >>> best = plan(normalize(load_digits().data), Polynomial(degree=3), target_error=0.2)[0]
    >>> best.predicted_error <= 0.2
    True
    """
    X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), input_name="X")
    check_kernel(kernel)
    _check_goal(target_error, seconds, n_rows)
    seed = seed_of(random_state)
    n_total = X.shape[0] if n_rows is None else int(n_rows)
    rows = bottom_rows(X, _SAMPLE_ROWS + _ROWS_TO_HOLD, seed)
    # The error of a map that holds rows is measured on other rows.
    sample, to_hold = SampledRows(X[rows[:_SAMPLE_ROWS]]), SampledRows(X[rows[_SAMPLE_ROWS:]])
    left, right = sample.halves(seed)
    gram_rate, choices = _gram_rate(), []
    for entry in CATALOGUE.values():
        most = (to_hold.X.shape[0] if landmarks else 0) if entry.holds_rows else _WIDTHS[-1]
        candidates = [c for width in _WIDTHS if width <= most for c in entry.candidates(kernel, width, seed)]
        rate = _rate(entry, kernel, sample.X, seed) if candidates else np.nan
        for candidate in candidates:
            fitted = _fitted_for_prediction(candidate, to_hold if entry.holds_rows else sample, entry.holds_rows)
            if getattr(candidate, "up_components", None) == "auto" and not fitted.up_.shares_.n_quadratic:
                continue  # other candidates have the same columns
            error, cost = predicted_error(fitted, left, right), fitted._operations(_density(X))
            E = candidate.n_components
            total = n_total * (cost / rate + E * (E + 1.0) / gram_rate)
            within = error <= target_error if target_error is not None else total <= seconds  # type: ignore[operator]
            choices.append(Choice(candidate, error, cost, E * X.dtype.itemsize, total, bool(within)))
    good = [choice for choice in choices if choice.within]
    missed = [choice for choice in choices if not choice.within]
    if target_error is not None:
        return Plan(sorted(good, key=_time) + sorted(missed, key=_error), n_total, f"error <= {target_error:g}")
    return Plan(sorted(good, key=_error) + sorted(missed, key=_time), n_total, f"seconds <= {seconds:g}")


def _time(choice: Choice) -> tuple[float, float]:
    """Order by time, then by error."""
    return choice.seconds, choice.predicted_error


def _error(choice: Choice) -> tuple[float, float]:
    """Order by error, then by time."""
    return choice.predicted_error, choice.seconds


def _fitted_for_prediction(candidate: Any, rows: SampledRows, is_drawn: bool) -> Any:
    """Return a copy of a map, fitted as far as predictions need it: most maps need no draw."""
    copy = clone(candidate)
    copy._prepare(rows)
    if is_drawn:
        copy._draw()
    return copy


def _title(feature_map: Any) -> str:
    """Return the name of a map in a table."""
    return next(entry.title for entry in CATALOGUE.values() if entry.map_class is type(feature_map))


def _rate(entry: MapEntry, kernel: Any, sample: Any, seed: int) -> float:
    """Measure the operations per second of a map, once warm."""
    width = min(512, max(1, sample.shape[0] // 2)) if entry.holds_rows else 1024
    feature_map = entry.make(kernel, width, 4096, seed).fit(sample)
    seconds = _shortest(lambda: feature_map.transform(sample))
    return feature_map._operations(_density(sample)) * sample.shape[0] / seconds


def _gram_rate() -> float:
    """Measure the operations per second of float32 matrix products."""
    square = np.ones((768, 768), np.float32)
    return 2.0 * 768**3 / _shortest(lambda: np.matmul(square, square))


def _shortest(task: Callable[[], Any]) -> float:
    """Return the shortest time of several runs, once warm: other load only adds to a time."""
    task()
    seconds = []
    while len(seconds) < 5 or (sum(seconds) < 0.05 and len(seconds) < 100):
        started = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def _density(X: Any) -> float:
    """Return the fraction of entries that are stored."""
    return X.nnz / (X.shape[0] * X.shape[1]) if issparse(X) else 1.0


def _check_goal(target_error: float | None, seconds: float | None, n_rows: int | None) -> None:
    """Refuse a plan without exactly one goal."""
    if (target_error is None) == (seconds is None):
        raise ValueError(f"Exactly one of target_error and seconds must be given, got {target_error} and {seconds}.")
    for name, value in (("target_error", target_error), ("seconds", seconds), ("n_rows", n_rows)):
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be more than 0, got {value}.")
