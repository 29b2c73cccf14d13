"""Choose a map: predicted error and cost of many candidates, the best first."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from craftmaps._rows.randomness import seed_of
from craftmaps._rows.sampling import bottom_rows, sample_halves
from craftmaps.kernels import DotProductKernel, Polynomial, Rows
from craftmaps.maps.craft import CraftMap
from craftmaps.maps.landmarks import LandmarkMap
from craftmaps.maps.maclaurin import RandomMaclaurin
from craftmaps.maps.tensor_sketch import TensorSketch
from craftmaps.plan.predicted_error import predicted_error

_SAMPLE_ROWS = 256
_WIDTHS = tuple(2**k for k in range(6, 15))
_UP_FACTORS = (2, 8, 32)
_WIDEST_UP = 2**17
_WIDEST_LANDMARKS = 2**10


@dataclass(frozen=True)
class Choice:
    """A map, ready to be fitted, with what it is predicted to do.

    `seconds` is for mapping `n_rows` rows and adding them to a Gram matrix, the two costs of
    a pass, on the threads in use when the plan was made.
    """

    feature_map: Any
    predicted_error: float
    operations: float
    bytes_per_row: int
    seconds: float
    within: bool


class Plan(Sequence[Choice]):
    """The choices of a plan, best first; printing it shows a table."""

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
            name, up = _describe(choice.feature_map)
            lines.append(
                f"{name:<34} {up:>7} {choice.feature_map.n_components:>6} {choice.predicted_error:>7.3f} "
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

    With `target_error` the best is the fastest map whose relative kernel error is predicted
    to be at most that; with `seconds` it is the most accurate one that maps `n_rows` rows and
    adds them to a Gram matrix in that time. Choices that miss the goal follow, marked as such.

    Parameters
    ----------
    X : rows, dense or CSR
        Representative of the data, and scaled as it will be; a sample of it is used.
    kernel : Polynomial, Exponential or MaclaurinSeries
    target_error : float, optional
        Largest relative kernel error wanted, in the sense of `predicted_error`.
    seconds : float, optional
        Longest time wanted; exactly one of the two goals must be given.
    n_rows : int, optional
        How many rows there will be; by default as many as X has.
    landmarks : bool, default=True
        Whether to consider landmark maps, which need representative rows to be fitted on.
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
    _check_goal(target_error, seconds, n_rows)
    random_state = seed_of(random_state)
    n_total = X.shape[0] if n_rows is None else int(n_rows)
    rows = bottom_rows(X, _SAMPLE_ROWS + 4 * _WIDEST_LANDMARKS, random_state)
    sample, rest = X[rows[:_SAMPLE_ROWS]], X[rows[_SAMPLE_ROWS:]]
    left, right = sample_halves(sample, random_state)
    rates: dict[type, float] = {}
    choices = []
    for candidate in _candidates(kernel, rest.shape[0] if landmarks else 0, random_state):
        # Landmarks come from other rows than those that their error is measured on.
        _fit_shape(candidate, rest if isinstance(candidate, LandmarkMap) else sample)
        error = predicted_error(candidate, left, right)
        cost = candidate._operations(_density(X))
        if type(candidate) not in rates:
            rates[type(candidate)] = _rate(kernel, type(candidate), sample, random_state)
        E = candidate.n_components
        total = n_total * (cost / rates[type(candidate)] + E * (E + 1.0) / _gram_rate(rates))
        within = error <= target_error if target_error is not None else total <= seconds  # type: ignore[operator]
        choices.append(Choice(_unfitted(candidate), error, cost, E * X.dtype.itemsize, total, bool(within)))
    by_time, by_error = (lambda c: c.seconds), (lambda c: c.predicted_error)
    first, then = (by_time, by_error) if target_error is not None else (by_error, by_time)
    goal = f"error <= {target_error:g}" if target_error is not None else f"seconds <= {seconds:g}"
    good = sorted((c for c in choices if c.within), key=first)
    return Plan(good + sorted((c for c in choices if not c.within), key=then), n_total, goal)


def _candidates(kernel: Any, n_landmarks: int, seed: int) -> Iterator[Any]:
    """Yield the maps to compare."""
    for width in _WIDTHS:
        yield RandomMaclaurin(kernel, width, complex_weights=True, random_state=seed)
        if isinstance(kernel, Polynomial):
            yield TensorSketch(kernel, width, random_state=seed)
        for factor in _UP_FACTORS:
            if factor * width <= _WIDEST_UP:
                yield CraftMap(kernel, width, up_components=factor * width, random_state=seed)
        if width <= min(n_landmarks, _WIDEST_LANDMARKS):
            yield LandmarkMap(kernel, width, random_state=seed)


def _fit_shape(candidate: Any, X: Any) -> None:
    """Fit as much of a candidate as prediction needs: shares and widths, but no draws."""
    if isinstance(candidate, LandmarkMap):
        candidate.fit(X)
        return
    candidate.n_features_in_ = X.shape[1]
    if isinstance(candidate, RandomMaclaurin):
        candidate._share(X)
    elif isinstance(candidate, TensorSketch):
        candidate._checked_kernel()
    elif isinstance(candidate, CraftMap):
        candidate.seed_ = seed_of(candidate.random_state)
        candidate.up_ = candidate._make_up()
        _fit_shape(candidate.up_, X)
        candidate.n_kept_ = candidate._choose_kept(X)
        candidate.down_ = candidate._make_down(candidate.n_kept_)
        candidate.down_.n_features_in_ = candidate.up_.n_components - candidate.n_kept_


def _unfitted(candidate: Any) -> Any:
    """Return the map as a user would write it."""
    return type(candidate)(**candidate.get_params(deep=False))


def _rate(kernel: Any, family: type, sample: Any, seed: int) -> float:
    """Measure how many operations a second a family of maps does here, once warm."""
    parameters: dict[str, Any] = {"up_components": 4096} if family is CraftMap else {}
    width = min(512, max(1, sample.shape[0] // 2)) if family is LandmarkMap else 1024
    feature_map = family(kernel, width, random_state=seed, **parameters).fit(sample)
    seconds = _shortest(lambda: feature_map.transform(sample))
    return feature_map._operations(_density(sample)) * sample.shape[0] / seconds


def _gram_rate(rates: dict[type, float]) -> float:
    """Measure the rate of float32 matrix products, once for a plan."""
    if np.ndarray not in rates:
        square = np.ones((768, 768), np.float32)
        rates[np.ndarray] = 2.0 * 768**3 / _shortest(lambda: np.matmul(square, square))
    return rates[np.ndarray]


def _shortest(task: Callable[[], Any]) -> float:
    """Return the shortest of some runs once warm: what else the machine does only adds to a time."""
    task()
    seconds = []
    while len(seconds) < 5 or (sum(seconds) < 0.05 and len(seconds) < 100):
        started = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def _density(X: Any) -> float:
    """Return the share of entries that are stored."""
    return X.nnz / (X.shape[0] * X.shape[1]) if issparse(X) else 1.0


def _describe(feature_map: Any) -> tuple[str, str]:
    """Return a short name for a table and the width of the up-projection."""
    if isinstance(feature_map, CraftMap):
        return "CraftMap", str(feature_map.up_components)
    if isinstance(feature_map, RandomMaclaurin):
        return "RandomMaclaurin, complex weights", "-"
    return type(feature_map).__name__, "-"


def _check_goal(target_error: float | None, seconds: float | None, n_rows: int | None) -> None:
    """Refuse a plan without a goal, or with two."""
    if (target_error is None) == (seconds is None):
        raise ValueError(f"Exactly one of target_error and seconds must be given, got {target_error} and {seconds}.")
    for name, value in (("target_error", target_error), ("seconds", seconds), ("n_rows", n_rows)):
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be more than 0, got {value}.")
