"""What a cell will cost: seconds and memory, from a calibration of a few seconds on this machine."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import blas, lapack

from craftmaps import Polynomial
from craftmaps._system.memory import available_memory
from reproduction.methods import OURS, PAPER_METHODS, make_map

# Of every entry of the Gram matrix, with the copies that the choice of a penalty needs.
SQUARE_BYTES, TRIANGLE_BYTES = 28, 4
_FOLD_BYTES = 40_000  # of every feature: those of the rows of a fold
_WIDTH, _ROWS = 512, 512
# Measured: steps of a quick solution; what ten columns cost in one, at the rate of wide products; E / 16 eigenvalues.
_STEPS, _FLOPS_OF_STEP, _FACTORS_OF_DEFLATION = 80, 40, 0.6
# Measured: steps over all rows for one penalty, and what a step costs for a row, a feature and a target.
_STEPS_OVER_ROWS, _FLOPS_OF_COLUMN = 10, 12


class Cost(NamedTuple):
    """Seconds and bytes."""

    seconds: float
    bytes: float


class Rates(NamedTuple):
    """Speed of this machine, now: it may be shared."""

    products: float  # of Gram matrices in single precision, flop/s
    factors: float  # of Cholesky decompositions in single precision, flop/s; in double it is half
    map_seconds: dict[str, float]  # a row and a component of the wider side of each map

    @classmethod
    def measure(cls) -> Self:
        """Time small products, decompositions and maps of degree 7."""
        rng = np.random.default_rng(0)
        Z = rng.random((1024, 2048), dtype=np.float32)
        products = Z.shape[0] * Z.shape[1] ** 2 / _shortest(lambda: blas.ssyrk(1.0, Z.T, lower=1))
        system = np.eye(2048, dtype=np.float32) * 2048 + 1
        factors = 2048**3 / 3 / _shortest(lambda: lapack.spotrf(system, lower=1))
        X = rng.random((_ROWS, 784), dtype=np.float32)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        seconds = {}
        for method in PAPER_METHODS:
            feature_map = make_map(method, Polynomial(7, 1.0), _WIDTH, 8 * _WIDTH, False, 0).fit(X)
            wide = 8 * _WIDTH if method.startswith("CM") else _WIDTH
            seconds[method] = _shortest(lambda m=feature_map: m.transform(X)) / (_ROWS * wide)
        seconds[OURS] = 2 * seconds["CM RFM"]  # complex weights are two transforms
        return cls(products, factors, seconds)

    def mapping(self, method: str, n_rows: int, components: int, up_components: int, degree: int) -> float:
        """Return the seconds of mapping rows."""
        wide = components if method in ("RFM", "TS") else up_components
        sketched = degree / 7 if method.endswith("TS") else 1.0
        return self.map_seconds[method] * n_rows * wide * sketched

    def learning(self, n_rows: int, components: int, n_solutions: int) -> float:
        """Return the seconds of a Gram matrix and of solving with it so many times, as in the learner."""
        seconds, n_factors = n_rows * components**2 / self.products, float(n_solutions)
        if _is_packed(components):  # all solutions but the last are by conjugate gradients
            seconds += (n_solutions - 1) * _STEPS * _FLOPS_OF_STEP * components**2 / self.products
            n_factors = 1 + _FACTORS_OF_DEFLATION
        return seconds + n_factors * components**3 / 3 / self.factors

    def learning_by_steps(self, n_rows: int, components: int, n_targets: int, n_solutions: int) -> float:
        """Return the seconds of solving so many times by steps over stored features."""
        step = _FLOPS_OF_COLUMN * n_targets * n_rows * components / self.products
        return n_solutions * _STEPS_OVER_ROWS * step

    def learning_in_rows(self, n_rows: int, components: int, n_solutions: int) -> float:
        """Return the seconds of the same in the space of rows, in double precision."""
        products = 2 * n_rows**2 * components / self.products
        return 2 * (products + n_solutions * n_rows**3 / 3 / self.factors)


def learning_bytes(components: int) -> float:
    """Return the memory of learning: a square where that fits, else a packed triangle, as in the learner."""
    n_bytes = TRIANGLE_BYTES if _is_packed(components) else SQUARE_BYTES
    return 2**30 + _FOLD_BYTES * components + n_bytes * float(components) ** 2


def stored_bytes(n_rows: int, components: int) -> float:
    """Return the memory of learning by steps over stored features: these, a sample of rows, and columns in work."""
    return 2**30 + components * (2.0 * n_rows + 50_000.0)


def row_space_bytes(n_rows: int) -> float:
    """Return the memory of learning in the space of rows: three squares in double precision, and the features."""
    return 24.0 * n_rows**2 + 2**31


def _is_packed(components: int) -> bool:
    """Tell whether the learner will keep a packed triangle."""
    return SQUARE_BYTES * float(components) ** 2 >= (available_memory() or np.inf)


def _shortest(task: Callable[[], Any]) -> float:
    """Return the shortest of three runs, after one that compiles and warms up."""
    task()
    times = []
    for _ in range(3):
        started = time.perf_counter()
        task()
        times.append(time.perf_counter() - started)
    return min(times)
