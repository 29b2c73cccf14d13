"""The search on few rows: every one is left out once, in closed form."""

from craftmaps.learners.search.candidates import Candidate, Found
from craftmaps.learners.search.rounds import Rounds, best_first
from craftmaps.learners.search.scoring import Score

_DEGREES = (2, 3, 5, 9)
_FIRST_ROWS = 512
_WIDEST_MAP = 4096
_FINALISTS = 6
_FEWEST_AXIS_ROWS = 256  # axes of fewer rows suit these better than others: leaving rows out would flatter them


class FewRows(Rounds):
    """All candidates with the kernel itself, and the best few with maps of the width that will be used."""

    def run(self) -> Found:
        """Search."""
        n_rows, width = self.judge.n_rows, min(self.spec.n_components, _WIDEST_MAP)
        n_first = min(n_rows, _FIRST_ROWS)
        first = self.judge.first(n_first, n_first)

        def by_map(candidate: Candidate) -> Score:
            return self.judge.left_out_of_features(self.features(candidate, width, n_rows))

        def by_kernel(candidate: Candidate) -> Score:
            return first.left_out_of_kernel(candidate.kernel, self.rows(candidate.shaping, n_first))

        candidates = self.plain_candidates(_DEGREES)
        if not self.spec.is_kernel_map:
            scores = self.compare(candidates, by_map, n_rows, width)
            scores |= self.compare(self._axes(scores), by_map, n_rows, width)
            return self.found(scores | self.compare(self._categories(scores), by_map, n_rows, width))
        scores = self.compare(candidates, by_kernel, n_first, 0)
        scores |= self.compare(self._axes(scores), by_kernel, n_first, 0)
        scores |= self.compare(self._categories(scores), by_kernel, n_first, 0)
        return self.found(self.compare(best_first(scores)[:_FINALISTS], by_map, n_rows, width))

    def _axes(self, scores: dict[Candidate, Score]) -> list[Candidate]:
        """Return what does not look at labels: leaving rows out in closed form would flatter what does."""
        if self.judge.n_rows < _FEWEST_AXIS_ROWS:
            return []
        return self.axis_candidates(scores, "covariance", (0.5, 1.0))

    def _categories(self, scores: dict[Candidate, Score]) -> list[Candidate]:
        """Return the best few with categories."""
        return self.category_candidates(best_first(scores)[:_FINALISTS])
