"""Rounds of the search: candidates that are scored side by side."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from craftmaps._system.memory_budget import SETTLE_ROWS
from craftmaps._system.progress import Phase, tell
from craftmaps._system.threads import for_each
from craftmaps.kernels import Polynomial
from craftmaps.learners.choices import is_auto
from craftmaps.learners.search.candidates import WIDEST, Candidate, Found, SearchSpec, Trial
from craftmaps.learners.search.scoring import Judge, Score
from craftmaps.learners.search.shapings import ShapedRows
from craftmaps.learners.targets import Targets
from craftmaps.maps.feature_map import fit_in_order

# Of linear models where there are more rows than are compared: richer ones gain more by them.
_LINEAR_HANDICAP = 0.1
_COLUMNS_HANDICAP = 0.03  # more columns must be worth their time
_CATEGORIES_HANDICAP = 0.03  # the same, unless there are more rows than are compared: rare levels gain by them
_STANDARD_HANDICAP = 0.5  # of very many sparse columns, such as text, which are weighted as they should be
_CHEAP_COLUMNS = 128  # up to here gradients are quick, and so are taken for more than one kind of columns and lengths
_ROWS_OF_PAIRS = 128

Scores = dict[Candidate, Score]


class Rounds:
    """The rows of a search, its judge and all trials so far.

    Parameters
    ----------
    X, y : rows in random order and their labels
    targets : Targets
    spec : SearchSpec
    weight : ndarray of shape (n_rows,)
    n_fit : int
        How many rows, the first ones, shapings are fitted to.
    """

    def __init__(self, X: Any, y: NDArray, targets: Targets, spec: SearchSpec, weight: NDArray, n_fit: int):
        self.X, self.spec, self.trials = X, spec, []
        encoded = targets.encoded(y)
        self.judge = Judge(encoded, targets.errors, y, weight, n_fit, spec.is_classification)
        self.rows = ShapedRows(X, encoded, n_fit)
        self._best = ""

    @property
    def is_wide_and_sparse(self) -> bool:
        """Whether there are so many columns that a linear model of them is the first thing to try."""
        return self.rows.is_sparse and self.X.shape[1] > WIDEST

    def compare(
        self,
        candidates: Sequence[Candidate],
        score: Callable[[Candidate], Score],
        n_rows: int,
        width: int,
        note: str = "",
    ) -> Scores:
        """Score candidates side by side; a note follows their names."""
        self.rows.prepare_all([candidate.shaping for candidate in candidates], n_rows)
        scores: Scores = {}
        seconds: dict[Candidate, float] = {}
        lock = threading.Lock()

        def work(item: tuple[int, Candidate]) -> None:
            i, candidate = item
            tell(Phase.CHOICES, f"{candidate}{note} ({len(candidates) - i} left in this round{self._best})")
            started = time.perf_counter()
            found = score(candidate)
            found = found._replace(handicap=found.handicap + self._handicap(candidate))
            with lock:
                scores[candidate], seconds[candidate] = found, time.perf_counter() - started

        for_each(work, enumerate(candidates))
        ordered = {candidate: scores[candidate] for candidate in candidates}
        for c, s in ordered.items():
            told = s.error, s.standard_error, seconds[c], n_rows, width, s.loss, s.value
            self.trials.append(Trial(f"{c}{note}", *told))
        if ordered:
            best = best_first(ordered)[0]
            self._best = f"; best so far: {best}, error {ordered[best].error:.4g}"
        return ordered

    def _handicap(self, candidate: Candidate) -> float:
        """Return by how much a candidate must be better than others."""
        if self.is_wide_and_sparse:
            return _STANDARD_HANDICAP if candidate.shaping.columns is not None else 0.0
        has_more_rows = self.judge.n_rows == SETTLE_ROWS < (self.spec.n_rows or 0)
        handicap = _COLUMNS_HANDICAP if candidate.linear else 0.0
        if candidate.kernel is None:
            handicap = _LINEAR_HANDICAP if has_more_rows else 0.0
        is_chosen = is_auto(self.spec.categories) and candidate.shaping.categories is not None
        return handicap + (_CATEGORIES_HANDICAP if is_chosen and not has_more_rows else 0.0)

    def plain_candidates(self, degrees: Sequence[int]) -> list[Candidate]:
        """Return shapings without axes, with kernels of some degrees and with none."""
        shapings, is_sparse = self.spec.shapings(self.rows.is_sparse), self.rows.is_sparse
        is_linear_tried = self.spec.is_linear_open and (is_sparse or self.X.shape[1] <= WIDEST)
        # A map of many sparse columns is slow, and seldom better than the columns themselves.
        mapped = shapings[-1:] if is_linear_tried and self.is_wide_and_sparse else shapings
        candidates = [Candidate(shaping, kernel) for shaping in mapped for kernel in self.spec.kernels(degrees)]
        if is_linear_tried:
            candidates += [Candidate(shaping, None) for shaping in shapings if is_sparse or not shaping.normalize]
        return candidates

    def are_gradients_cheap(self, axes: str) -> bool:
        """Tell whether axes are those of gradients, and quickly found for more than one kind of columns."""
        return axes == "gradient" and self.X.shape[1] <= _CHEAP_COLUMNS

    def axis_candidates(self, scores: Scores, axes: str, powers: Sequence[float]) -> list[Candidate]:
        """Return axes for the columns that did best; a covariance looks at columns themselves alone."""
        if not is_auto(self.spec.metric) or not self.rows.has_axes:
            return []
        is_cheap = self.are_gradients_cheap(axes)
        allowed = (None, "standard") if axes == "covariance" else (None, "standard", "normal", "uniform")
        best: dict[Any, Candidate] = {}
        for candidate in best_first(scores):
            if candidate.kernel is not None and candidate.shaping.columns in allowed:
                best.setdefault(candidate.shaping.columns, candidate)
        found = []
        for candidate in list(best.values())[: 2 if is_cheap else 1]:
            for normalize in self.spec.lengths:
                shapings = [candidate.shaping.with_axes(axes, power, normalize) for power in powers]
                shapings = [replace(s, unit_gradient=normalize) for s in shapings] if is_cheap else shapings
                found += [candidate._replace(shaping=shaping) for shaping in shapings]
        return found

    def category_candidates(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return candidates with indicators of the columns that could be categories; none where no column could."""
        categories = self.spec.open_categories(self.X)
        if not categories:
            return []
        found = []
        for candidate in candidates:
            columns = candidate.shaping.columns or "standard"  # beside columns of any units indicators may vanish
            shaping = replace(candidate.shaping, columns=columns, categories=categories, n_axes=None)
            found.append(candidate._replace(shaping=shaping))
        return list(dict.fromkeys(found))

    def features(self, candidate: Candidate, width: int, n_rows: int) -> NDArray:
        """Return the features of the first rows at a width."""
        rows = self.rows(candidate.shaping, n_rows)
        feature_map = None if candidate.kernel is None else self.spec.make_map(candidate.kernel, width)
        if feature_map is None:
            return _dense(rows)
        # Maps of polynomials look at lengths and angles of pairs alone, and a few rows are enough to compare them.
        is_of_pairs = isinstance(candidate.kernel, Polynomial) and self.spec.is_kernel_map and not self.spec.holds_rows
        Z = fit_in_order(feature_map, rows[:_ROWS_OF_PAIRS] if is_of_pairs else rows).transform(rows)
        if not candidate.linear:
            return Z
        return np.hstack([Z, _dense(self.rows(candidate.columns_beside, n_rows))])

    def found(self, scores: Scores, note: str = "") -> Found:
        """Return the best of some candidates as the result."""
        best = best_first(scores)[0]
        found = Found.of(best, self.rows, scores[best].loss, scores[best].alpha, tuple(self.trials))
        return replace(found, description=f"{found.description}{note}")


def best_first(scores: Scores) -> list[Candidate]:
    """Order candidates by their scores."""
    return sorted(scores, key=lambda candidate: scores[candidate].value)


def _dense(rows: Any) -> NDArray:
    """Return rows as an array."""
    return rows.toarray() if issparse(rows) else rows
