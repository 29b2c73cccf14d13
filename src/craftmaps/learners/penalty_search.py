"""Choosing alpha in the same pass: each fold of the held-out sample is taken out of the statistic.

The rows that are scored were truly left out, the error is the one that counts, and no second pass is needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.progress import Phase, tell
from craftmaps.learners.few_rows import FewRows
from craftmaps.learners.held_out import HeldOut, HeldOutFold
from craftmaps.learners.penalty_race import Encoder, PenaltyChoice, PenaltyRace
from craftmaps.learners.tally import Tally
from craftmaps.learners.targets import Errors
from craftmaps.least_squares.left_out_ridge import LeftOutRidge, Part
from craftmaps.least_squares.normal_equations import NormalEquations

DEFAULT_ALPHAS = tuple(10.0 ** np.arange(-8, 2))
_FEWEST_ROWS = 500


@dataclass(frozen=True)
class PenaltySearch:
    """Scores penalties on rows that each fold takes out of the statistic.

    Parameters
    ----------
    alphas : sequence of float
        In units of `NormalEquations.scale`.
    fit_intercept : bool
    n_folds : int or None
        Folds of the held-out sample.
    fewest_rows : float
        Rows that must be scored before an alpha can be dropped.
    """

    alphas: Sequence[float]
    fit_intercept: bool = True
    n_folds: int | None = 5
    fewest_rows: float = _FEWEST_ROWS

    def choose(self, tally: Tally, folds: list[HeldOutFold] | None = None, few: FewRows | None = None) -> PenaltyChoice:
        """Choose alpha on given folds of the rows of a tally, or on those of its held-out sample.

        If the rows are few, each of the sample is left out alone, in closed form.
        """
        if folds is None and few is not None and min(self.alphas) > 0:
            return self._leave_one_out(tally, few)
        if folds is None:
            folds, n_effective = self._folds_of_the_sample(tally)
        else:
            weight = np.concatenate([fold.weight for fold in folds])
            n_effective = float(weight.sum() ** 2 / (weight**2).sum())
        targets = tally.targets
        errors = targets.balanced_errors(np.concatenate([fold.y for fold in folds]))
        choice = self.compare(tally.statistic, folds, tally.features, targets.encoded, errors, tally.features.penalty)
        choice.results["n_effective"] = n_effective / dependence(folds, tally.statistic.weight)
        return choice

    def compare(
        self,
        statistic: NormalEquations,
        folds: Sequence[HeldOutFold],
        features: Callable[[Any], NDArray],
        encoded: Encoder,
        errors: Errors,
        penalty: NDArray[np.float64] | None = None,
    ) -> PenaltyChoice:
        """Score alphas on every fold, taken out of a statistic of features and encoded targets."""
        race = PenaltyRace(sorted(self.alphas), folds, errors, encoded, self.fewest_rows)
        if penalty is None and LeftOutRidge.pays(statistic, [float(fold.weight.sum()) for fold in folds]):
            parts = [Part(features(fold.X), encoded(fold.y), fold.weight) for fold in folds]
            left_out = LeftOutRidge(statistic, parts, self.fit_intercept)
            for i in range(len(folds)):
                race.run(i, partial(left_out.outputs, i))
            return race.result()
        rest = None
        for i, fold in enumerate(folds):
            Z = features(fold.X)
            rest = statistic.branch(room=rest)
            rest.add(Z, encoded(fold.y), fold.weight, sign=-1.0)
            unit = rest.scale(self.fit_intercept, penalty) or 1.0
            path = rest.into_ridge_path(self.fit_intercept, penalty)
            tell(Phase.PENALTY, f"fold {i + 1} of {len(folds)}")
            path.prepare([race.alphas[j] * unit for j in race.live])

            def outputs(alpha: float, path=path, unit=unit, Z=Z) -> NDArray:
                return path.solve(alpha * unit, quick=True).outputs(Z)

            race.run(i, outputs)
        return race.result()

    def _leave_one_out(self, tally: Tally, few: FewRows) -> PenaltyChoice:
        """Score alphas by rows that are left out one by one; folds only say which of them choose for which.

        Rows that automatic choices have looked at help to choose: few others would be too few.
        """
        folds, n_effective = self._folds_of_the_sample(tally)
        targets, unit = tally.targets, tally.statistic.scale(self.fit_intercept) or 1.0
        held_out: HeldOut = tally.held_out  # type: ignore[assignment]
        dealt, n_reported = held_out.deal(len(folds)), len(folds)
        if held_out.spent_entries[0].size:
            dealt, folds = [*dealt, held_out.spent_entries], [*folds, held_out.fold(*held_out.spent_entries)]
        errors = targets.balanced_errors(np.concatenate([fold.y for fold in folds]))
        tell(Phase.PENALTY, f"leaving out each of {tally.n_rows} rows")
        left_out = {alpha: few.left_out(alpha * unit) for alpha in self.alphas}
        race = PenaltyRace(sorted(self.alphas), folds, errors, targets.encoded, np.inf, n_reported)
        for i, (entries, _) in enumerate(dealt):
            race.run(i, lambda alpha, entries=entries: left_out[alpha][entries])
        choice = race.result()
        choice.results["n_effective"] = n_effective / dependence(choice.left_out, tally.statistic.weight)
        return choice

    def _folds_of_the_sample(self, tally: Tally) -> tuple[list[HeldOutFold], float]:
        """Return the folds of the held-out sample, and how many independent rows they are worth."""
        held_out = tally.held_out
        if held_out is None or self.n_folds is None:
            raise ValueError("cv must be an int to choose alpha again: splits are of the rows of `fit` alone.")
        if held_out.n_rows < 2:
            raise ValueError(
                f"At least 2 rows are needed to choose alpha, got n_samples={held_out.n_rows} that "
                "choices were not made by."
            )
        return held_out.folds(self.n_folds), held_out.n_effective(tally.n_rows)


def folds_of_splits(splits: list[NDArray], kept: NDArray, spent: NDArray, rows: tuple) -> list[HeldOutFold]:
    """Return the folds of given splits: their rows of some weight that the choices have not looked at.

    `kept` says which rows of the splits these rows are, `spent` which of these rows were looked at.
    """
    X, y, weight = rows
    position = np.full(max(kept.max(initial=0), *(split.max(initial=0) for split in splits)) + 1, -1)
    position[kept] = np.arange(kept.size)
    position[kept[spent]] = -1
    tested = [position[split] for split in splits]
    tested = [split[split >= 0] for split in tested]
    weight = np.ones(X.shape[0]) if weight is None else weight
    folds = [HeldOutFold(X[test], y[test], weight[test], np.ones(test.size, np.int64)) for test in tested if test.size]
    if not folds:
        raise ValueError(
            "cv must have at least one split with rows to test on that the automatic choices have not looked at, "
            "got none."
        )
    return folds


def dependence(folds: Sequence[HeldOutFold], weight: float) -> float:
    """Return by which factor the variance of a mean error grows because folds train each other's models.

    If row i moves the prediction of row j in another fold, row j moves that of row i as much. On noise, where nothing
    else decides, errors of these pairs go together, and the variance of their mean grows by the share of the training
    rows of a fold that are themselves held out in another one.
    """
    held = sum(float(fold.weight.sum()) for fold in folds)
    return 1 + held * (1 - 1 / len(folds)) / max(weight - held / len(folds), held * (1 - 1 / len(folds)), 1e-300)
