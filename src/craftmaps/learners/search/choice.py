"""The search itself: from many candidates on few rows to a few on many."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from craftmaps._system.progress import Phase, tell
from craftmaps._system.threads import for_each
from craftmaps.kernels import DotProductKernel, Polynomial
from craftmaps.learners.search.scoring import ALPHAS, Judge, Score
from craftmaps.learners.search.shapings import ShapedRows, Shaping
from craftmaps.learners.targets import Targets
from craftmaps.maps.feature_map import fit_in_order

_DEGREES = (2, 3, 4, 5, 7, 9)
_FIRST_DEGREE = 3
_ROW_DEGREES = (2, 3, 5, 9)
FEWEST_ROWS = 24
MOST_ROWS = 12288
_FEW_ROWS = 1024  # up to here every row is left out in closed form
_FEW_FIRST_ROWS = 512
# Rows that columns and axes are fitted to: gradients in many columns need many.
_FEWEST_FIT_ROWS, _FIT_ROWS_A_COLUMN, _MOST_FIT_ROWS = 2560, 4, 6144
_FIRST_SCORED_ROWS = 2048
_LINEAR_HANDICAP = 0.1  # of linear models where there are more rows than are compared: richer ones gain more by them
_FIRST_WIDTH, _WIDTH, _GREAT_WIDTH = 512, 1024, 2048
_FINALISTS = 3
_WIDEST_LINEAR = 2048
_FEWEST_AXES = 16
_IN_REACH = 0.5  # of the best value in the first round: from there linear models and columns can still win
_COLUMNS_HANDICAP = 0.03  # more columns must be worth their time
_MOST_LOGISTIC_CLASSES = 32
_MOST_FIRST_LOGISTIC_CLASSES = 12  # steps take as long as all the rest of a trial

_polynomial = cache(Polynomial)  # equal kernels are one, so that candidates can be looked up


@dataclass(frozen=True)
class SearchSpec:
    """What is given and what is left to the search.

    `make_map(kernel, width)` returns a feature map that is not yet fitted, or None for the rows themselves.
    `kernel`, `metric` and `normalize` are "auto" or what was given. `is_kernel_map` says whether maps
    approximate the kernel that they are given. `n_rows` is the number of rows that the model will be fitted to.
    """

    make_map: Callable[[DotProductKernel, int], Any]
    n_components: int
    kernel: Any = "auto"
    metric: Any = "auto"
    normalize: Any = "auto"
    n_rows: int | None = None
    is_kernel_map: bool = True
    is_classification: bool = True
    allow_linear: bool = True
    allow_logistic: bool = True


class Candidate(NamedTuple):
    """A shaping with a kernel; None for a linear model of the shaped rows. `linear` adds their columns to the map."""

    shaping: Shaping
    kernel: DotProductKernel | None
    linear: bool = False

    def __str__(self) -> str:
        kernel = self.kernel
        name = f"degree {kernel.degree}" if isinstance(kernel, Polynomial) else repr(kernel)
        return f"{self.shaping}, {'linear' if kernel is None else name}{' and linear columns' if self.linear else ''}"


class Trial(NamedTuple):
    """What was tried, on how many rows and at which width (0 for the kernel itself), and how it did.

    `value` is what decided, see `Score.value`; it is comparable among trials of the same rows and width.
    """

    description: str
    error: float
    standard_error: float
    seconds: float
    n_rows: int
    width: int
    loss: str
    value: float


@dataclass(frozen=True)
class Found:
    """What the search has chosen.

    `columns` and `metric` are transformers that are not yet fitted, or None: one follows the other, and a
    `GradientMetric` is fitted to encoded targets. `kernel` None stands for a linear model of the shaped rows,
    `linear` for their columns beside the map. `alpha` is the best relative penalty on the rows of the search.
    """

    columns: Any
    metric: Any
    normalize: bool
    kernel: DotProductKernel | None
    linear: bool
    loss: str
    alpha: float
    trials: tuple[Trial, ...]
    description: str


def search(
    X: Any, y: NDArray, targets: Targets, spec: SearchSpec, sample_weight: NDArray[np.float64] | None = None
) -> Found:
    """Choose what is "auto" in a specification, by rows in random order and their labels.

    The result depends on the rows, on the specification and on the seed of its maps, but not on the number of threads.
    """
    X, y = X[:MOST_ROWS], y[:MOST_ROWS]
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)[: len(y)]
    usual = _first_shapings(spec, issparse(X))[0]
    if len(y) < FEWEST_ROWS:
        # Too few rows to tell: columns of unlike units are the commonest trap.
        kernel = _polynomial(_FIRST_DEGREE) if isinstance(spec.kernel, str) else spec.kernel
        found = Candidate(usual, kernel)
        return _found(found, None, ShapedRows(X, targets.encoded(y), 0), ())
    return (_FewRows if len(y) <= _FEW_ROWS else _ManyRows)(X, y, targets, spec, weight).run()


class _Search:
    """Candidates, their scores and all trials."""

    def __init__(self, X: Any, y: NDArray, targets: Targets, spec: SearchSpec, weight: NDArray, n_train: int):
        self.X, self.spec = X, spec
        encoded = targets.encoded(y)
        self.judge = Judge(encoded, targets.errors, y, weight, n_train, spec.is_classification)
        self.rows = ShapedRows(X, encoded, n_train)
        self.trials: list[Trial] = []
        self.logistic = spec.allow_logistic and spec.is_classification and encoded.shape[1] <= _MOST_LOGISTIC_CLASSES
        self._lock = threading.Lock()
        self._best = ""

    @property
    def first_kernel(self) -> DotProductKernel:
        """The kernel to compare shapings with."""
        return _polynomial(_FIRST_DEGREE) if isinstance(self.spec.kernel, str) else self.spec.kernel

    @property
    def lengths(self) -> tuple[bool, ...]:
        """The lengths to try."""
        return (False, True) if isinstance(self.spec.normalize, str) else (bool(self.spec.normalize),)

    def compare(
        self, candidates: Sequence[Candidate], score: Callable[[Candidate], Score], n_rows: int, width: int
    ) -> dict[Candidate, Score]:
        """Score candidates side by side."""
        if not candidates:
            return {}
        for candidate in candidates:
            self.rows.prepare(candidate.shaping, n_rows)
        scores: dict[Candidate, Score] = {}
        places: dict[Candidate, Trial] = {}

        def work(item: tuple[int, Candidate]) -> None:
            i, candidate = item
            tell(Phase.CHOICES, f"{candidate} ({len(candidates) - i} left in this round{self._best})")
            started = time.perf_counter()
            found = score(candidate)
            seconds = time.perf_counter() - started
            trial = Trial(
                str(candidate), found.error, found.standard_error, seconds, n_rows, width, found.loss, found.value
            )
            with self._lock:
                scores[candidate], places[candidate] = found, trial

        for_each(work, enumerate(candidates))
        self.trials += [places[candidate] for candidate in candidates]
        scores = {c: scores[c]._replace(handicap=self.handicap(c)) for c in candidates}
        best = best_first(scores)[0]
        self._best = f"; best so far: {best} with {scores[best].error:.4g}"
        return scores

    def handicap(self, candidate: Candidate) -> float:
        """Return by how much a candidate must be better than others."""
        if candidate.kernel is None:
            return _LINEAR_HANDICAP if self.judge.n_rows == MOST_ROWS < (self.spec.n_rows or 0) else 0.0
        return _COLUMNS_HANDICAP if candidate.linear else 0.0

    def plain_candidates(self, degrees: Sequence[int]) -> list[Candidate]:
        """Return shapings without axes, with kernels of some degrees."""
        shapings = [
            replace(shaping, normalize=n)
            for shaping in _first_shapings(self.spec, issparse(self.X))
            for n in self.lengths
        ]
        kernels = [_polynomial(d) for d in degrees] if isinstance(self.spec.kernel, str) else [self.spec.kernel]
        candidates = [Candidate(shaping, kernel) for shaping in shapings for kernel in kernels]
        if isinstance(self.spec.kernel, str) and self.spec.allow_linear and self.X.shape[1] <= _WIDEST_LINEAR:
            candidates += [
                Candidate(shaping, None) for shaping in shapings if not shaping.normalize or self.rows.is_sparse
            ]
        return candidates

    def axis_candidates(self, scores: dict[Candidate, Score], axes: str, powers: Sequence[float]) -> list[Candidate]:
        """Return the columns that did best, for a covariance without scores, with axes."""
        if not isinstance(self.spec.metric, str) or not self.rows.has_axes:
            return []
        allowed = (None, "standard") if axes == "covariance" else (None, "standard", "normal", "uniform")
        best = next(c for c in best_first(scores) if c.kernel is not None and c.shaping.columns in allowed)
        kernel = best.kernel
        return [Candidate(best.shaping.with_axes(axes, p, n), kernel) for p in powers for n in self.lengths]

    def features(self, candidate: Candidate, width: int, n_rows: int) -> NDArray:
        """Return the features of the first rows at a width."""
        rows = self.rows(candidate.shaping, n_rows)
        feature_map = None if candidate.kernel is None else self.spec.make_map(candidate.kernel, width)
        if feature_map is None:
            return rows.toarray() if issparse(rows) else rows
        Z = fit_in_order(feature_map, rows).transform(rows)
        if not candidate.linear:
            return Z
        plain = self.rows(replace(candidate.shaping, axes=None, normalize=False, n_axes=None), n_rows)
        return np.hstack([Z, plain.toarray() if issparse(plain) else plain])

    def found(self, candidate: Candidate, score: Score) -> Found:
        """Return the result."""
        return _found(candidate, score, self.rows, tuple(self.trials))


class _FewRows(_Search):
    """Every row is left out once, in closed form: with the kernel itself, and of the best with maps."""

    def __init__(self, X: Any, y: NDArray, targets: Targets, spec: SearchSpec, weight: NDArray):
        super().__init__(X, y, targets, spec, weight, len(y))

    def run(self) -> Found:
        """Search."""
        n_first = min(len(self.judge.y), _FEW_FIRST_ROWS)
        few = self.judge.first(n_first, n_first)

        def by_kernel(candidate: Candidate) -> Score:
            return few.left_out_of_kernel(candidate.kernel, self.rows(candidate.shaping, n_first))

        scores = self.compare(self.plain_candidates(_ROW_DEGREES), by_kernel, n_first, 0)
        more = self.axis_candidates(scores, "covariance", (0.5, 1.0))
        scores |= self.compare(more, by_kernel, n_first, 0)
        finalists = best_first(scores)[: 2 * _FINALISTS]
        width = min(self.spec.n_components, 4 * _WIDTH)
        n_rows = self.judge.n_rows

        def by_map(candidate: Candidate) -> Score:
            return self.judge.left_out_of_features(self.features(candidate, width, n_rows))

        scores = self.compare(finalists, by_map, n_rows, width)
        best = best_first(scores)[0]
        return self.found(best, scores[best])


class _ManyRows(_Search):
    """Some rows are left out: of few rows and at a small width first, and of the best few of many rows."""

    def __init__(self, X: Any, y: NDArray, targets: Targets, spec: SearchSpec, weight: NDArray):
        n_fit = min(len(y) * 2 // 3, max(_FEWEST_FIT_ROWS, min(_FIT_ROWS_A_COLUMN * X.shape[1], _MOST_FIT_ROWS)))
        super().__init__(X, y, targets, spec, weight, n_fit)
        self.n_first = min(len(y), n_fit + _FIRST_SCORED_ROWS)
        self.alphas = ALPHAS

    def run(self) -> Found:
        """Search."""
        scores = self._first_round()
        self.rows.forget(self.n_first)
        self.judge.n_train = self.judge.n_rows - self.judge.n_rows // 3
        self.width = min(self.spec.n_components, _WIDTH)
        first = scores
        scores = self._last_round(self._finalists(first))
        best = best_first(scores)[0]
        if best.kernel is not None:
            for climb in (self._columns, self._degrees, self._axes):
                best, scores = climb(best, scores)
            best, scores = self._at_the_end(best, scores, first)
        return self.found(best, scores[best])

    @staticmethod
    def _finalists(scores: dict[Candidate, Score]) -> list[Candidate]:
        """Return the best of every kind of axes and the best of the others; few rows do not tell for sure."""
        ordered = [c for c in best_first(scores) if c.kernel is not None] or best_first(scores)[:1]
        kinds = dict.fromkeys(candidate.shaping.axes for candidate in ordered)
        finalists = [next(c for c in ordered if c.shaping.axes == kind) for kind in kinds]
        return finalists + [c for c in ordered if c not in finalists][: _FINALISTS - len(finalists)]

    def _at_the_end(self, best: Candidate, scores: dict, first: dict) -> tuple[Candidate, dict]:
        """Compare the best with a linear model, with linear columns, and with what a small width does not favour."""
        challengers = []
        linear = [c for c in best_first(first) if c.kernel is None]
        if linear and first[linear[0]].value < min(score.value for score in first.values()) + _IN_REACH:
            challengers += [linear[0], best._replace(linear=True)]
        if self.spec.n_components < _GREAT_WIDTH:
            return self._challenge(best, challengers, scores)
        if isinstance(self.spec.kernel, str) and isinstance(best.kernel, Polynomial):
            higher = [d for d in _DEGREES if d > best.kernel.degree][:1]
            challengers += [best._replace(kernel=_polynomial(d)) for d in higher]
        if best.shaping.axes is not None:
            challengers.append(self._of_axes(best, 2.0))
        self.width = _GREAT_WIDTH
        at = ALPHAS.index(min(ALPHAS, key=lambda alpha: abs(np.log(alpha / scores[best].alpha))))
        self.alphas = ALPHAS[max(at - 1, 0) : at + 2]
        return self._challenge(best, challengers, self._last_round([best]))

    def _first_round(self) -> dict[Candidate, Score]:
        """Compare all shapings at a small width."""
        width = min(self.spec.n_components, _FIRST_WIDTH)
        few = self.judge.first(self.n_first, self.judge.n_train)
        logistic = self.logistic and few.targets.shape[1] <= _MOST_FIRST_LOGISTIC_CLASSES

        def score(candidate: Candidate) -> Score:
            return few.split(self.features(candidate, width, self.n_first), logistic)

        scores = self.compare(self.plain_candidates((_FIRST_DEGREE,)), score, self.n_first, width)
        more = self.axis_candidates(scores, "covariance", (0.5, 1.0)) + self.axis_candidates(scores, "gradient", (1.0,))
        scores |= self.compare(more, score, self.n_first, width)
        if isinstance(self.spec.kernel, str):
            best = [c for c in best_first(scores) if c.kernel is not None][:_FINALISTS]
            near = [c._replace(kernel=_polynomial(d)) for c in best for d in (2, 5)]
            near += [self._of_axes(c, 0.5) for c in best if c.shaping.axes is not None]
            scores |= self.compare([c for c in near if c not in scores], score, self.n_first, width)
        return scores

    def _last_round(self, candidates: Sequence[Candidate]) -> dict[Candidate, Score]:
        """Compare a few candidates on all rows."""
        n_rows = self.judge.n_rows

        def score(candidate: Candidate) -> Score:
            return self.judge.split(self.features(candidate, self.width, n_rows), self.logistic, self.alphas)

        return self.compare(candidates, score, n_rows, self.width)

    def _columns(self, best: Candidate, scores: dict) -> tuple[Candidate, dict]:
        """Try other columns, if there are no axes that were found for these."""
        if best.shaping.axes is not None or not isinstance(self.spec.metric, str):
            return best, scores
        columns = [shaping.columns for shaping in _first_shapings(self.spec, self.rows.is_sparse)]
        others = [best._replace(shaping=replace(best.shaping, columns=name)) for name in columns]
        return self._challenge(best, others, scores)

    def _degrees(self, best: Candidate, scores: dict) -> tuple[Candidate, dict]:
        """Try the next degrees: errors fall with the degree and then rise."""
        while isinstance(self.spec.kernel, str) and isinstance(best.kernel, Polynomial):
            at = _DEGREES.index(best.kernel.degree)
            near = [
                best._replace(kernel=_polynomial(d))
                for d in (*_DEGREES[max(at - 1, 0) : at], *_DEGREES[at + 1 : at + 2])
            ]
            before = best
            best, scores = self._challenge(best, near, scores)
            if best == before:
                break
        return best, scores

    def _axes(self, best: Candidate, scores: dict) -> tuple[Candidate, dict]:
        """Try half of the axes, or twice as many."""
        if best.shaping.axes is None:
            return best, scores
        tried = [self._of_axes(best, factor) for factor in (0.5, 2.0)]
        return self._challenge(best, tried, scores)

    def _of_axes(self, candidate: Candidate, factor: float) -> Candidate:
        """Return the candidate with fewer or more axes."""
        shaping, most = candidate.shaping, self.X.shape[1]
        n_axes = int(factor * (shaping.n_axes or self.rows.usual_axes(shaping)))
        n_axes = min(max(n_axes, _FEWEST_AXES), most)
        return candidate._replace(shaping=replace(shaping, n_axes=n_axes))

    def _challenge(self, best: Candidate, others: Sequence[Candidate], scores: dict) -> tuple[Candidate, dict]:
        """Let candidates compete with the best so far."""
        scores = scores | self._last_round([other for other in others if other not in scores])
        return min((best, *others), key=lambda candidate: scores[candidate].value), scores


def best_first(scores: dict[Candidate, Score]) -> list[Candidate]:
    """Order candidates by their scores."""
    return sorted(scores, key=lambda candidate: scores[candidate].value)


def _first_shapings(spec: SearchSpec, is_sparse: bool) -> list[Shaping]:
    """Return the shapings without axes, the safest first."""
    normalize = False if isinstance(spec.normalize, str) else bool(spec.normalize)
    if not (isinstance(spec.metric, str) and spec.metric == "auto"):
        name, *_ = spec.metric.split() if isinstance(spec.metric, str) else ("",)
        axes = name if name in ("covariance", "gradient") else None
        return [Shaping(None if axes else spec.metric, axes, normalize=normalize)]
    names = ("standard", None) if is_sparse else ("standard", None, "uniform", "normal")
    return [Shaping(name, normalize=normalize) for name in names]


def _found(candidate: Candidate, score: Score | None, rows: ShapedRows, trials: tuple[Trial, ...]) -> Found:
    """Return the transformers of a candidate."""
    shaping = candidate.shaping
    n_axes = None
    if shaping.axes is not None:
        rows.prepare(shaping, 1)
        n_axes = shaping.n_axes or rows.usual_axes(shaping)
    return Found(
        shaping.column_transformer(rows.is_sparse),
        shaping.metric(n_axes),
        shaping.normalize,
        candidate.kernel,
        candidate.linear,
        "squared" if score is None else score.loss,
        0.0 if score is None else score.alpha,
        trials,
        str(candidate),
    )
