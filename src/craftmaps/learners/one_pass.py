"""A pass over rows: rows wait until their features are settled, then they are added to a tally."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.randomness import child_seed
from craftmaps._rows.sampling import row_hashes
from craftmaps._system.memory import available_memory
from craftmaps.learners.choices import Choices, is_auto
from craftmaps.learners.feature_recipe import FeatureRecipe
from craftmaps.learners.from_rows import pays
from craftmaps.learners.held_out import HeldOut
from craftmaps.learners.survey import Survey, first_copies
from craftmaps.learners.tally import Origin, RowLayout, Tally
from craftmaps.learners.targets import Targets
from craftmaps.learners.waiting_rows import WaitingRows
from craftmaps.least_squares.normal_equations import NormalEquations, square_fits
from craftmaps.shaping.row_features import RowFeatures


@dataclass(frozen=True, eq=False)
class PassSettings:
    """What a pass depends on beside its rows.

    Parameters
    ----------
    recipe : FeatureRecipe
    seed : int
    holdout_rows : int or None
        Size of the held-out sample; None holds nothing out.
    packed : bool or "auto"
        Whether one triangle of the Gram matrix is kept in float32; "auto" does where the square does not fit.
    batch_rows : int or "auto"
        Rows to map at a time.
    origin : Origin, optional
        The estimator that the pass is of.
    solver : {"auto", "tally", "iterative"}
        Whether rows are tallied, or solved from themselves if they are at hand; "auto" does what takes less time.
    """

    recipe: FeatureRecipe
    seed: int
    holdout_rows: int | None
    packed: bool | str = "auto"
    batch_rows: int | str = "auto"
    origin: Origin | None = None
    solver: str = "auto"


class Untallied(NamedTuple):
    """Features of rows that are learned from at once, as a Gram matrix of them does not fit, or does not pay."""

    features: RowFeatures
    is_sparse: bool
    width: int


class OnePass:
    """The rows that wait, and the tally of the others.

    Each method either succeeds or leaves the pass as it was.
    """

    def __init__(self, settings: PassSettings, layout: RowLayout, targets: Targets):
        self.settings, self.layout = settings, layout
        self.choices = settings.recipe.choices()
        self.waiting = WaitingRows()
        self._tally: Tally | None = None
        self._first_targets = targets  # of a pass that is not settled
        self._spent: tuple[Any, NDArray]
        self.untallied: Untallied | None = None  # if the rows are to be learned from at once, and not tallied
        self._is_shared = False  # whether somebody else holds the tally: it is copied before it is changed

    @property
    def is_settled(self) -> bool:
        """Whether features are known, so that rows can be counted."""
        return self._tally is not None

    @property
    def targets(self) -> Targets:
        """The targets with room for all labels seen."""
        return self._first_targets if self._tally is None else self._tally.targets

    @property
    def n_rows(self) -> int:
        """The number of rows seen."""
        return self.waiting.n_rows + (0 if self._tally is None else self._tally.n_rows)

    @property
    def tally(self) -> Tally:
        """The tally of the rows that do not wait."""
        if self._tally is None:
            raise ValueError("Too few rows were seen to settle the features: call settle(X, y) first.")
        return self._tally

    def shared_tally(self) -> Tally:
        """Return the tally for somebody else to hold: it does not change when more rows come."""
        tally, self._is_shared = self.tally, True
        return tally

    def survey(self, X: Any, y: NDArray, weight: NDArray[np.float64] | None, targets: Targets) -> Survey:
        """Survey rows, to settle the features on them and on others."""
        settings = self.settings
        return Survey.of(X, y, self.layout, targets, settings.recipe.n_first_rows, settings.seed, weight)

    def settle(self, survey: Survey, has_rows: bool = False, are_at_hand: bool = False) -> None:
        """Settle the features on surveyed rows.

        `has_rows` if all rows can be looked at again after the pass, `are_at_hand` if they are in the memory.
        """
        settings, targets = self.settings, survey.targets
        settled = settings.recipe.settle(survey, has_rows)
        self.choices, self._spent, self._first_targets = settled.choices, settled.spent, targets
        width = settled.features.width(survey.entries.X)
        if settled.is_sparse or self._is_iterative(settled.features, width, survey, are_at_hand):
            self.untallied = Untallied(settled.features, settled.is_sparse, width)
        else:
            self._begin_tally(settled.features, width)

    def tally_after_all(self) -> None:
        """Go on to tally rows that were to be learned from at once."""
        if self.untallied is not None:
            self._begin_tally(self.untallied.features, self.untallied.width)
            self.untallied = None

    def _begin_tally(self, features: RowFeatures, width: int) -> None:
        """Begin an empty tally of features."""
        settings, targets = self.settings, self._first_targets
        is_packed = settings.packed
        if is_auto(is_packed):
            is_packed = not square_fits(width, available_memory())
        statistic = NormalEquations(width, targets.n_columns, bool(is_packed))
        held_out = self._held_out(*self._spent, targets)
        origin = None if settings.origin is None else settings.origin._replace(choices=self.choices)
        self._tally = Tally(features, self.layout, targets, statistic, held_out, settings.batch_rows, origin)

    def _is_iterative(self, features: RowFeatures, width: int, survey: Survey, are_at_hand: bool) -> bool:
        """Tell whether rows are to be solved from themselves; refuse that where it cannot be."""
        settings, targets = self.settings, survey.targets
        if settings.solver == "tally":
            return False
        if not are_at_hand:
            refuse_iterative(settings.solver)
            return False
        reasons = {
            "cv": settings.holdout_rows is None,
            "packed": not is_auto(settings.packed),
            "feature_map": features.penalty is not None,
        }
        hindrances = [name for name, is_one in reasons.items() if is_one]
        if settings.solver == "iterative" and hindrances:
            raise ValueError(f"solver must be 'auto' or 'tally' with the given {' and '.join(hindrances)}.")
        return settings.solver == "iterative" or (not hindrances and pays(survey.n_rows, width, targets.n_columns))

    def spent_positions(self, X: Any, y: NDArray) -> NDArray[np.int64]:
        """Return the positions of the rows whose targets were looked at to settle the features."""
        spent = [row_hashes(rows, 0) ^ self.targets.hashes(labels) for rows, labels in (self._spent, (X, y))]
        return first_copies(*spent)

    def add(
        self,
        X: Any,
        y: NDArray,
        weight: NDArray | None = None,
        labels: NDArray | None = None,
        on_rows: Callable[[int], None] | None = None,
    ) -> None:
        """Count validated rows, or let them wait; `labels` may name classes that come later."""
        targets, y = self.targets.taking(y)
        targets = targets if labels is None else targets.widened(labels)  # type: ignore[attr-defined]
        if self._tally is not None and not self.waiting.blocks:
            tally = self._own_tally()
            tally.widen(targets)
            tally.add(X, y, weight, on_rows)
            return
        self._wait(self.waiting.with_copies(X, y, weight), targets)
        self.count_waiting()

    def count_waiting(self) -> None:
        """Count the rows that wait if features are settled: all of them or, if interrupted, none."""
        if self._tally is not None and self.waiting.blocks:
            self._tally, self.waiting, self._is_shared = self._counted_through(self._tally), WaitingRows(), False

    def end_waiting(self) -> None:
        """Settle on the rows that wait, however few, and count them."""
        if self._tally is None:
            self._settle_on(self.waiting, self.targets)
        self.count_waiting()

    def absorb(self, other: "OnePass") -> None:
        """Add the rows of another pass, which does not change but for counting rows that wait."""
        for part in (self, other):
            part.count_waiting()
        targets = self.targets.joined(other.targets)
        settled = next((part for part in (self, other) if part.is_settled), None)
        if settled is None:
            self._wait(self.waiting + other.waiting, targets)
            self.count_waiting()
            return
        features = settled._tally
        self.replace_tally(self._counted_through(features) + other._counted_through(features))  # type: ignore[arg-type]
        self.choices = settled.choices

    def replace_tally(self, tally: Tally, is_shared: bool = False) -> None:
        """Go on from another tally."""
        self._tally, self.waiting, self._is_shared = tally, WaitingRows(), is_shared

    def restore(self, targets: Targets, waiting: WaitingRows, tally: Tally | None, choices: Choices | None) -> None:
        """Go on from the state of a checkpoint."""
        self._first_targets, self.waiting, self._tally = targets, waiting, tally
        self.choices = self.choices if choices is None else choices

    def _wait(self, waiting: WaitingRows, targets: Targets) -> None:
        """Let rows wait, and settle on them as soon as there are enough."""
        recipe = self.settings.recipe
        if self._tally is not None:
            self._own_tally().widen(targets)
        elif not recipe.needs_rows or waiting.n_rows >= recipe.n_first_rows:
            self._settle_on(waiting, targets)
        self.waiting, self._first_targets = waiting, targets

    def _settle_on(self, waiting: WaitingRows, targets: Targets) -> None:
        """Settle the features on the first rows that wait."""
        self.settle(self.survey(*waiting.first(self.settings.recipe.n_first_rows), targets))

    def _held_out(self, X: Any, y: NDArray, targets: Targets) -> HeldOut | None:
        """Return an empty sample that spares rows whose targets were looked at."""
        if self.settings.holdout_rows is None:
            return None
        held_out = HeldOut(self.settings.holdout_rows, child_seed(self.settings.seed, "holdout"))
        return held_out.sparing(X, targets.hashes(y)) if len(y) else held_out

    def _counted_through(self, features: Tally) -> Tally:
        """Return the tally of all rows seen; rows that wait go through the features of a given tally."""
        if not self.waiting.blocks:
            return features.emptied() if self._tally is None else self._tally
        tally = features.emptied()
        tally.widen(tally.targets.joined(self.targets))
        for block in self.waiting.blocks:
            tally.add(*block)
        return tally

    def _own_tally(self) -> Tally:
        """Return the tally to be changed in place; one that somebody else holds is copied first."""
        if self._is_shared:
            self._tally, self._is_shared = self._tally.copy(), False  # type: ignore[union-attr]
        return self._tally  # type: ignore[return-value]


def refuse_iterative(solver: str) -> None:
    """Refuse steps over all rows where these do not come at once."""
    if solver == "iterative":
        raise ValueError(
            "solver must be 'auto' or 'tally' for rows that do not come at once, got 'iterative': use fit."
        )
