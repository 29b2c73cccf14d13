"""The search on many rows: all candidates on few rows at a small width, the best few on all of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.kernels import Polynomial
from craftmaps.learners.choices import is_auto
from craftmaps.learners.search.candidates import FIRST_DEGREE, Candidate, Found, SearchSpec, polynomial
from craftmaps.learners.search.rounds import Rounds, Scores, best_first
from craftmaps.learners.search.scoring import ALPHAS, Judge, Score
from craftmaps.learners.search.shapings import Shaping
from craftmaps.learners.targets import Targets

_DEGREES = (2, 3, 4, 5, 7, 9)
_OTHER_FIRST_DEGREES = (2, 5)
# Rows that columns and axes are fitted to: gradients in many columns need many.
_FEWEST_FIT_ROWS, _FIT_ROWS_A_COLUMN, _MOST_FIT_ROWS = 2048, 4, 6144
_FIRST_SCORED_ROWS = 2048
_FIRST_WIDTH, _WIDTH, _GREAT_WIDTH = 512, 1024, 2048
_FAR_WIDTH = 4096  # what wider maps will make of axes and degrees has to be guessed further
_FINALISTS, _CLIMBED, _CLIMBS = 4, 3, 3
_FEWEST_AXES = 16
_CLOSE = 0.15
_FAR = 0.8  # behind the best in the first round: not worth a second look
_MORE_AXES = 0.04  # what more axes gain by every doubling of the rows that the search compares on
_COVARIANCE = 0.08  # what covariance axes gain by every doubling of the width, against those of gradients
_IN_REACH = 0.5  # of the best value in the first round: from there linear models and columns can still win
_MOST_LOGISTIC_CLASSES, _LOOKS = 2, 8  # with more classes, looks take longer than all the rest of a trial
# The best few of few features are compared by the loss that the model is likely to have: by the squared one, with one
# random map, they are often within noise of each other, and not with it.
_NEAR, _MOST_NEAR, _MOST_OUTPUTS, _LAST_LOOKS = 0.1, 3, 2**13, 24  # outputs times features
_TIE = 0.1  # as good as the best: the lowest degree has the smallest variance
_BY_LOGISTIC = ", logistic loss"


class ManyRows(Rounds):
    """A third of the rows is left out."""

    def __init__(self, X: Any, y: NDArray, targets: Targets, spec: SearchSpec, weight: NDArray):
        wanted = max(_FEWEST_FIT_ROWS, min(_FIT_ROWS_A_COLUMN * X.shape[1], _MOST_FIT_ROWS))
        n_fit = min(len(y) * 2 // 3, wanted)
        super().__init__(X, y, targets, spec, weight, n_fit)
        # As many rows again as axes were fitted to: these alone would look better than they are to a model.
        n_train = min(2 * n_fit, len(y) - len(y) // 3)
        self.n_first = min(len(y), n_train + _FIRST_SCORED_ROWS)
        self.first_judge = self.judge.first(self.n_first, n_train)
        self.judge.n_train = len(y) - len(y) // 3
        self.width, self.alphas = min(spec.n_components, _WIDTH), ALPHAS
        self._small: Shaping | None = None  # the best shaping at a small width, once a great one is compared at
        self._is_far = False  # whether far wider maps are thought of

    def run(self) -> Found:
        """Search."""
        first = self._first_round()
        self.rows.forget(self.n_first)
        if self.is_wide_and_sparse:
            return self.found(self._last_round(best_first(first)[:2]))
        scores = self._last_round(self._best_of_every_kind(first, _FINALISTS))
        best = best_first(scores)[0]
        self._go_on(self.width, scores[best])
        best, scores = self._climb(best, scores)
        best, scores = self._with_categories(best, scores)
        # Few rows at a small width hardly tell axes of one kind from those of another.
        kinds = [c for c in self._best_of_every_kind(scores, 0) if c.shaping.axes != best.shaping.axes]
        kinds = [c for c in kinds if None not in (c.shaping.axes, best.shaping.axes)]
        best, scores = self._at_the_end(best, scores, first, kinds)
        return self._found_by_logistic(best, scores) or self.found({best: scores[best]})

    def _climb(self, best: Candidate, scores: Scores) -> tuple[Candidate, Scores]:
        """Go on to better neighbours until there is none."""
        for _ in range(_CLIMBS):
            before = best
            best, scores = self._challenge(best, self._neighbours(best, scores), scores)
            if best == before:
                break
        return best, scores

    def _with_categories(self, best: Candidate, scores: Scores) -> tuple[Candidate, Scores]:
        """Compare the best with categories in place of some numbers; if they are not far behind, try others too."""
        before = best
        candidates = self.category_candidates([best, *self._best_of_every_kind(scores, 0)])
        best, scores = self._challenge(best, candidates[:1], scores)
        if any(scores[c].value < scores[before].value + _CLOSE for c in candidates[:1]):
            best, scores = self._challenge(best, candidates[1:], scores)
        return (best, scores) if best == before else self._climb(best, scores)

    def _first_round(self) -> Scores:
        """Compare all shapings at a small width."""
        width = min(self.spec.n_components, _FIRST_WIDTH)

        def compare(candidates: list[Candidate]) -> Scores:
            def score(candidate: Candidate) -> Score:
                return self._split(self.first_judge, candidate, width, self.n_first)

            return self.compare(candidates, score, self.n_first, width)

        plain = self.plain_candidates((FIRST_DEGREE,))
        scores = compare([candidate for candidate in plain if not _comes_after_ranks(candidate)])
        if self._are_ranks_close(scores):
            scores |= compare([candidate for candidate in plain if candidate not in scores])
        axes = [("covariance", (0.5, 1.0)), ("gradient", (1.0,))]
        scores |= compare([c for kind, powers in axes for c in self.axis_candidates(scores, kind, powers)])
        if not self.is_wide_and_sparse:
            best = self._best_of_every_kind(scores, _CLIMBED)
            near = [self._of_axes(c, 0.5) for c in best if is_auto(self.spec.metric) and c.shaping.axes is not None]
            if self.spec.are_degrees_open:
                near += [c._replace(kernel=polynomial(d)) for c in best for d in _OTHER_FIRST_DEGREES]
            scores |= compare([c for c in near if c not in scores])
        return scores

    @staticmethod
    def _are_ranks_close(scores: Scores) -> bool:
        """Tell whether normal scores of columns do well enough for uniform ones, and linear models, to be tried."""
        values = [score.value for candidate, score in scores.items() if candidate.shaping.columns == "normal"]
        return bool(values) and min(values) < min(score.value for score in scores.values()) + _CLOSE

    def _last_round(self, candidates: Sequence[Candidate]) -> Scores:
        """Compare a few candidates on all rows."""
        n_rows = self.judge.n_rows

        def score(candidate: Candidate) -> Score:
            return self._split(self.judge, candidate, self.width, n_rows)

        return self.compare(candidates, score, n_rows, self.width)

    def _split(self, judge: Judge, candidate: Candidate, width: int, n_rows: int) -> Score:
        """Score a candidate on the first rows at a width."""
        if candidate.kernel is None and self.rows.is_sparse:
            return judge.sparse_split(self.rows(candidate.shaping, n_rows))
        is_logistic = self.spec.allow_logistic and self.judge.targets.shape[1] <= _MOST_LOGISTIC_CLASSES
        return judge.split(self.features(candidate, width, n_rows), _LOOKS if is_logistic else 0, self.alphas)

    @staticmethod
    def _best_of_every_kind(scores: Scores, size: int) -> list[Candidate]:
        """Return the best of every kind of axes and the best of the others; few rows do not tell for sure."""
        ordered = [candidate for candidate in best_first(scores) if candidate.kernel is not None]
        ordered = [c for c in ordered if scores[c].value < scores[ordered[0]].value + _FAR]
        kinds = dict.fromkeys(candidate.shaping.axes for candidate in ordered)
        best = [next(c for c in ordered if c.shaping.axes == kind) for kind in kinds]
        return best + [c for c in ordered if c not in best][: max(size - len(best), 0)]

    def _neighbours(self, best: Candidate, scores: Scores) -> list[Candidate]:
        """Return what differs from the best in one thing: degree, number of axes, columns or kind of shaping.

        Errors fall with the degree and then rise, so the next ones are enough.
        """
        others = list(dict.fromkeys(candidate.shaping for candidate in best_first(scores)))[:_CLIMBED]
        near = [best._replace(shaping=shaping) for shaping in others]
        if self.spec.are_degrees_open and isinstance(best.kernel, Polynomial):
            at = _DEGREES.index(best.kernel.degree)
            near += [best._replace(kernel=polynomial(degree)) for degree in _DEGREES[max(at - 1, 0) : at + 2]]
        if not is_auto(self.spec.metric):
            return near
        names = dict.fromkeys(shaping.columns for shaping in self.spec.shapings(self.rows.is_sparse))
        if best.shaping.axes is not None:
            near += [self._of_axes(best, factor) for factor in (0.5, 2.0)]
            # Which columns are best without axes says little of the axes that they have.
            names = [name for name in names if name is not None] if self.are_gradients_cheap(best.shaping.axes) else []
        return near + [_with(best, columns=name) for name in names]

    def _of_axes(self, candidate: Candidate, factor: float) -> Candidate:
        """Return the candidate with fewer or more axes; the same where there are as many as there can be."""
        now, most = self.rows.n_axes_of(candidate.shaping), self.rows.most_axes(candidate.shaping)
        n_axes = min(max(int(factor * now), min(_FEWEST_AXES, now)), most)
        return candidate if n_axes == now else _with(candidate, n_axes=n_axes)

    def _at_the_end(
        self, best: Candidate, scores: Scores, first: Scores, kinds: Sequence[Candidate]
    ) -> tuple[Candidate, Scores]:
        """Compare the best with a linear model, with linear columns, and with what a small width does not favour.

        `kinds` are the best with axes of other kinds.
        """
        others = []
        linear = [candidate for candidate in best_first(first) if candidate.kernel is None]
        if linear and first[linear[0]].value < min(score.value for score in first.values()) + _IN_REACH:
            others += [_with(linear[0], categories=best.shaping.categories), best._replace(linear=True)]
        if self.spec.n_components < _GREAT_WIDTH:
            return self._challenge(best, others, scores)
        if self.spec.n_components > _FAR_WIDTH:
            return self._for_far_wider_maps([best, *kinds], others, scores)
        others += self._richer(best)
        if best.shaping.axes is not None and is_auto(self.spec.metric):
            others += kinds
        # A great width takes long: what is far behind at a smaller one does not catch up.
        others = [c for c in others if c not in scores or scores[c].value < scores[best].value + _CLOSE]
        if not others:
            return best, scores
        self._go_on(_GREAT_WIDTH, scores[best])
        self._small = best.shaping
        return self._challenge(best, [best, *others], {})

    def _for_far_wider_maps(
        self, kinds: Sequence[Candidate], others: Sequence[Candidate], scores: Scores
    ) -> tuple[Candidate, Scores]:
        """Compare the best of every kind as maps will want them that are far wider than any that is compared.

        They have room for all axes that carry the rows, but not for more, and for the lengths of rows.
        """
        found, self._is_far = scores[kinds[0]], True
        if is_auto(self.spec.metric):
            kinds = [self._with_usual_axes(c) if c.shaping.axes is not None else c for c in kinds]
        if is_auto(self.spec.normalize):
            kinds = [*kinds, *(_with(c, normalize=not c.shaping.normalize) for c in kinds)]
        self._go_on(_GREAT_WIDTH, found)
        best, scores = self._challenge(kinds[0], [*kinds, *others], {})
        return self._challenge(best, self._of_higher_degree(best), scores)

    def _found_by_logistic(self, best: Candidate, scores: Scores) -> Found | None:
        """Compare what is near the best by the logistic loss; None if that is slow or done, or nothing is near."""
        n_targets, n_rows = self.judge.targets.shape[1], self.judge.n_rows
        is_open = self.spec.allow_logistic and self.spec.is_classification and n_targets > _MOST_LOGISTIC_CLASSES
        if not is_open or n_targets * self.width > _MOST_OUTPUTS or best.kernel is None:
            return None
        others = [c for c in scores if c.kernel is not None and c != best]
        others = [c for c in others if self._value(c, scores) < self._value(best, scores) + _NEAR]
        near = [best, *sorted(others, key=lambda c: self._value(c, scores))[: _MOST_NEAR - 1]]
        if len(near) == 1:
            return None

        def score(candidate: Candidate) -> Score:
            alphas = (scores[candidate].alpha,)
            return self.judge.split(self.features(candidate, self.width, n_rows), _LAST_LOOKS, alphas)

        found = self.compare(near, score, n_rows, self.width, _BY_LOGISTIC)
        lowest = min(score.value for score in found.values())
        tied = [c for c in best_first(found) if found[c].value < lowest + _TIE]
        taken = min(tied, key=lambda c: c.kernel.degree if isinstance(c.kernel, Polynomial) else 0)
        return self.found({taken: found[taken]}, _BY_LOGISTIC)

    def _with_usual_axes(self, candidate: Candidate) -> Candidate:
        """Return the candidate with at least as many axes as carry most of the rows."""
        now, usual = self.rows.n_axes_of(candidate.shaping), self.rows.usual_axes(candidate.shaping)
        return candidate if now >= usual else _with(candidate, n_axes=usual)

    def _richer(self, best: Candidate) -> list[Candidate]:
        """Return the candidate with more axes and with a higher degree."""
        found = []
        if best.shaping.axes is not None and is_auto(self.spec.metric):
            found.append(self._of_axes(best, 2.0))
        return found + self._of_higher_degree(best)

    def _of_higher_degree(self, best: Candidate) -> list[Candidate]:
        """Return the candidate with the next higher degree, if there is one."""
        if not (self.spec.are_degrees_open and isinstance(best.kernel, Polynomial)):
            return []
        higher = [degree for degree in _DEGREES if degree > best.kernel.degree]
        return [best._replace(kernel=polynomial(degree)) for degree in higher[:1]]

    def _go_on(self, width: int, score: Score) -> None:
        """Go on at a width, with the best penalty so far and the ones beside it."""
        at = int(np.argmin([abs(np.log(alpha / (score.alpha or 1.0))) for alpha in ALPHAS]))
        self.width, self.alphas = width, ALPHAS[max(at - 1, 0) : at + 2]

    def _challenge(self, best: Candidate, others: Sequence[Candidate], scores: Scores) -> tuple[Candidate, Scores]:
        """Let candidates compete with the best so far."""
        scores = scores | self._last_round([c for c in dict.fromkeys(others) if c not in scores])
        return min((best, *others), key=lambda candidate: self._value(candidate, scores)), scores

    def _value(self, candidate: Candidate, scores: Scores) -> float:
        """Return what decides, at the width and with the rows of the model."""
        return scores[candidate].value - self._gain_by_rows(candidate) - self._gain_by_width(candidate)

    def _gain_by_rows(self, candidate: Candidate) -> float:
        """Return what a candidate gains by rows that are not compared: axes beyond those of a small width need them."""
        n_times = (self.spec.n_rows or 0) / self.judge.n_train
        if self._small is None or n_times <= 1 or None in (candidate.shaping.axes, self._small.axes):
            return 0.0
        n_axes, n_before = (self.rows.n_axes_of(s) for s in (candidate.shaping, self._small))
        return _MORE_AXES * float(np.log2(n_times)) if n_axes > n_before else 0.0

    def _gain_by_width(self, candidate: Candidate) -> float:
        """Return what far wider maps make of a candidate: much of axes that no target has bent."""
        if not self._is_far or candidate.shaping.axes != "covariance":
            return 0.0
        return _COVARIANCE * float(np.log2(self.spec.n_components / self.width))


def _comes_after_ranks(candidate: Candidate) -> bool:
    """Tell whether a candidate can wait until normal scores with a map have been tried."""
    columns = candidate.shaping.columns
    return columns == "uniform" or (columns == "normal" and candidate.kernel is None)


def _with(candidate: Candidate, **changes: Any) -> Candidate:
    """Return the candidate with another shaping."""
    return candidate._replace(shaping=replace(candidate.shaping, **changes))
