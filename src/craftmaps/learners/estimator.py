"""The estimator that classifiers and regressors share: settle features, tally rows, solve, predict."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from copy import copy
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from craftmaps._rows.randomness import seed_of
from craftmaps._system.memory_budget import SETTLE_ROWS
from craftmaps._system.progress import shown
from craftmaps._system.threads import serial_blas
from craftmaps.kernels import Rows
from craftmaps.learners.choices import Choices
from craftmaps.learners.feature_recipe import choices_of
from craftmaps.learners.fitted_model import FittedModel
from craftmaps.learners.from_rows import MOST_TALLIED_AFTER_ALL, FromRows
from craftmaps.learners.held_out import HeldOutFold
from craftmaps.learners.html_repr import ChoicesInHtml
from craftmaps.learners.logistic_search import refuse_one_look
from craftmaps.learners.one_pass import OnePass, refuse_iterative
from craftmaps.learners.parameters import (
    GivenRows,
    check_parameters,
    checked_alphas,
    checked_rows,
    checked_splits,
    pass_settings,
    refuse_other_parameters,
    rows_to_predict,
    with_own_kernel,
)
from craftmaps.learners.penalty_search import folds_of_splits
from craftmaps.learners.persistence import saved_model
from craftmaps.learners.rows_again import RowsAgain, RowsAtHand
from craftmaps.learners.solving import Solver
from craftmaps.learners.stream_pass import learn_from_stream
from craftmaps.learners.tally import RowLayout, Tally
from craftmaps.learners.targets import Targets
from craftmaps.shaping.row_features import RowFeatures

# Attributes that learning sets; anything else on an estimator is a parameter, or not ours.
_LEARNED = {"seed_", "n_features_in_", "feature_names_in_", "notes_", "_pass", "_model", "_results", "_choices"}


class OnePassEstimator(ChoicesInHtml, BaseEstimator, ABC):
    """Rows are mapped and added to a tally, block by block; `finish` chooses alpha and solves.

    Everything that depends on rows (automatic choices, metrics, landmarks) is settled on the first `settle_rows` of
    them; `fit`, which has all rows, settles it on a sample of as many. Everything else depends on parameters alone, so
    tallies of different rows add up.
    """

    settle_rows = SETTLE_ROWS

    seed_: int
    n_features_in_: int
    _pass: OnePass | None = None
    _model: FittedModel | None = None  # None if rows came since it was solved
    _results: dict[str, Any] | None = None
    _choices: Choices | None = None  # of a model without a pass to go on with

    @abstractmethod
    def _new_targets(self) -> Targets:
        """Check the parameters that are about targets, and return targets before any row was seen."""

    def fit(self, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Self:
        """Learn from the rows of X alone."""
        with shown(self.verbose) as progress:
            new, rows = self._settled(X, y, sample_weight, has_rows=True)
            if new._is_solved_from_rows(rows, progress.out_of(rows.X.shape[0])):
                self._become(new)
                return self
            new._going_on().tally_after_all()
            folds = new._folds(rows)
            self._become(new)  # two tallies at once may not fit, so the earlier model goes first
            try:
                self._going_on().add(*rows.values, on_rows=progress.out_of(rows.X.shape[0]))
            except BaseException:
                self._reset()
                raise
            return self._solve(folds, RowsAtHand(*rows.values))

    def settle(self, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Self:
        """Make the choices, fit the metric and draw the map on these rows, but count none of them."""
        with shown(self.verbose):
            self._become(self._settled(X, y, sample_weight)[0])
        return self

    def fit_stream(
        self, blocks: Iterable[tuple], checkpoint: str | os.PathLike | None = None, every: int = 100_000
    ) -> Self:
        """Learn from an iterable of blocks (X, y) or (X, y, sample_weight), in one pass over it.

        A block that cannot be used raises an error that names it; the blocks before it are kept, and `finish` makes a
        model of them. The rule by which a stream of `craftmaps.streams` made rows of a table is kept with the model,
        which then predicts data frames too.

        Parameters
        ----------
        blocks : iterable
        checkpoint : path, optional
            Where to write, from time to time, what was counted. If the file exists, the run goes on from it: the same
            blocks must come again, and counted ones are skipped. The model is the same, bit for bit, as without an
            interruption. At the end the file is removed.
        every : int, default=100_000
            Rows between two checkpoints.
        """
        learn_from_stream(self, blocks, checkpoint, every)
        return self

    def tally(self, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Tally:
        """Return the tally of these rows; the estimator, which must be settled, does not change."""
        tally = self._going_on().tally.emptied()
        rows = checked_rows(self, X, y, sample_weight, reset=False)
        if rows.kept.size:
            tally.add(*rows.values)
        return tally

    def forget(self, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Self:
        """Take rows out again; choices that were made by them stay."""
        learned = self._going_on()
        learned.end_waiting()
        learned.replace_tally(learned.tally - self.tally(X, y, sample_weight))
        self._model = None
        return self

    def merge(self, other: Self) -> Self:
        """Add the rows that another estimator of the same parameters has seen."""
        if type(other) is not type(self):
            raise TypeError(f"other must be a {type(self).__name__}, got {type(other).__name__}.")
        mine, theirs = self._going_on(), other._going_on()
        refuse_other_parameters(self, other)
        mine.absorb(theirs)
        self._model = None
        return self

    def finish(self, tally: Tally | None = None) -> Self:
        """Choose alpha and solve for a tally, by default of all rows seen so far."""
        if tally is not None:
            learned = self._going_on()
            learned.tally.refuse_unlike(tally)
            learned.replace_tally(tally, is_shared=True)
        return self._solve()

    def save(self, path: str | os.PathLike, dtype: Any = np.float32, notes: Any = None, tally: bool = False) -> None:
        """Write the model to a file, its weights as float64, float32 or float16; see `load_model`.

        `notes`, any JSON value, comes back as the attribute `notes_`. The column rule of a stream of tables is stored
        among them. With `tally` the file has the tally too, and the loaded model goes on learning.
        """
        saved_model.write(self, path, dtype, notes, tally)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; `kernel__degree` and the like are set on a copy, as others may hold the kernel."""
        return super().set_params(**with_own_kernel(self, params))

    @property
    def n_rows_seen_(self) -> int:
        """The number of rows seen."""
        if self._pass is not None:
            return self._pass.n_rows
        if self._model is not None:
            return self._model.n_rows  # as a model file says
        raise AttributeError(f"This {type(self).__name__} has seen no row.")

    @property
    def choices_(self) -> Choices:
        """What was given or chosen for kernel, metric and normalize; "auto" where a choice is still to be made."""
        if self._pass is not None:
            return self._pass.choices
        return choices_of(self._solved.features) if self._choices is None else self._choices

    @property
    def tally_(self) -> Tally:
        """The tally that the model is solved from. It does not change when more rows are learned."""
        return self._going_on().shared_tally()

    @property
    def features_(self) -> RowFeatures:
        """What rows go through: `features_(X)` returns their features."""
        return self._solved.features if self._pass is None else self._pass.tally.features

    @property
    def alpha_(self) -> float:
        """The chosen penalty, in units of scikit-learn's `Ridge`."""
        return self._solved.alpha

    @property
    def cv_results_(self) -> dict[str, Any]:
        """The curve of penalties, and the error of rows that nothing has looked at."""
        _ = self._solved
        if self._results is None:
            raise AttributeError("There are no cv_results_: cv is None, or the model was loaded from a file.")
        return self._results

    @property
    def _solved(self) -> FittedModel:
        """The model of all rows seen, solved now if rows came since."""
        check_is_fitted(self, "n_rows_seen_")
        if self._model is None:
            self._solve()
        return self._model  # type: ignore[return-value]

    @property
    def _targets(self) -> Targets:
        """The targets with room for all labels seen."""
        return self._solved.targets if self._pass is None else self._pass.targets

    def _fresh(self) -> Self:
        """Return an estimator of the same parameters that has seen nothing; refuse parameters that cannot work."""
        check_parameters(self)
        new = copy(self)
        new._reset()
        new.seed_ = seed_of(self.random_state)
        return new

    def _begin(self) -> OnePass:
        """Begin a pass over rows of the columns that are known."""
        layout = RowLayout(self.n_features_in_, getattr(self, "feature_names_in_", None))
        return OnePass(pass_settings(self), layout, self._new_targets())

    def _settled(self, X: Rows, y: Rows, sample_weight: Rows | None, has_rows: bool = False) -> tuple[Self, GivenRows]:
        """Return an estimator settled on rows, and the rows; `has_rows` if they are all, and stay after the pass."""
        new = self._fresh()
        rows = checked_rows(new, X, y, sample_weight, reset=True)
        if not rows.kept.size:
            raise ValueError("sample_weight must not be all zero.")
        new._pass = new._begin()
        targets, y = new._targets.taking(rows.y)
        targets.check_solvable()
        if not has_rows:
            refuse_one_look(targets)
        elif targets.needs_class_sums:
            targets = targets.knowing(targets.class_sums(y, rows.weight))
        new._pass.settle(new._pass.survey(rows.X, y, rows.weight, targets), has_rows, are_at_hand=has_rows)
        return new, rows._replace(y=y)

    def _folds(self, rows: GivenRows) -> list[HeldOutFold] | None:
        """Return the folds of the splits that cv may give, without rows that the choices have looked at."""
        splits = checked_splits(self.cv, rows.n_given)
        if splits is None:
            return None
        learned = self._going_on()
        spent, weight = learned.spent_positions(rows.X, rows.y), learned.targets.weighted(rows.y, rows.weight)
        return folds_of_splits(splits, rows.kept, spent, (rows.X, rows.y, weight))

    def _partial_fit(self, X: Rows, y: Rows, sample_weight: Rows | None, labels: NDArray | None = None) -> Self:
        """Count rows, and make room for their labels and others; the solution follows when it is asked for."""
        if not (self.cv is None or isinstance(self.cv, Integral)):
            raise TypeError(f"cv must be an int or None to learn block by block, got {type(self.cv).__name__}.")
        refuse_iterative(self.solver)
        is_first = not hasattr(self, "n_rows_seen_")
        new = self._fresh() if is_first else self
        learned = None if is_first else self._going_on()
        rows = checked_rows(new, X, y, sample_weight, reset=is_first)
        if not rows.kept.size:
            return self
        if learned is None:
            new._pass = learned = new._begin()
        refuse_one_look(learned.targets)
        learned.add(*rows.values, labels=labels)
        self._become(new)
        self._model = None
        return self

    def _become(self, other: Self) -> None:
        """Take over the learned state of another estimator of the same parameters."""
        learned = {name: value for name, value in vars(other).items() if name in _LEARNED}
        self._reset()
        self.__dict__.update(learned)

    def _reset(self) -> None:
        """Reset all learned state."""
        for name in _LEARNED & vars(self).keys():
            delattr(self, name)

    def _going_on(self) -> OnePass:
        """Return the pass, to go on with; refuse where there is none."""
        check_is_fitted(self, "n_rows_seen_")
        if self._pass is None:
            raise ValueError(
                "A model without a tally, loaded from a file or solved from rows at hand, cannot go on learning: fit a "
                "new one, with solver='tally' unless the rows are sparse and have very many columns."
            )
        return self._pass

    def _solve(self, folds: list[HeldOutFold] | None = None, rows: RowsAgain | None = None) -> Self:
        """Solve for all rows seen, on given folds or on those of the held-out sample; see `Solver`."""
        learned = self._going_on()
        learned.targets.check_solvable()
        learned.end_waiting()
        solver = Solver(checked_alphas(self), self.fit_intercept, self.cv)
        self._model, self._results = solver.solve(learned.tally, folds, rows)
        return self

    def _is_solved_from_rows(self, rows: GivenRows, on_rows: Callable[[int], None]) -> bool:
        """Solve from the rows at hand, without a tally, if that is the better way; its choices stay."""
        learned = self._going_on()
        if learned.untallied is None:
            return False
        features, is_sparse, width = learned.untallied
        alphas = None if self.alphas is None else checked_alphas(self)
        may_end = self.solver == "auto" and not is_sparse and width <= MOST_TALLIED_AFTER_ALL
        settings = alphas, int(self.cv), int(self.holdout_rows), self.seed_, may_end, on_rows
        spent = learned.spent_positions(rows.X, rows.y)
        with serial_blas:  # the same on any number of threads: those are in the loops
            solved = FromRows(features, is_sparse, *settings).solve(learned.targets, rows.values, spent)
        if solved is None:
            return False
        self._model, self._results = solved
        self._choices, self._pass = learned.choices, None
        return True

    def _outputs(self, X: Rows, dtype: Any = None) -> NDArray[np.floating]:
        """Return the outputs for the columns of the targets of rows, in a precision or else in that of the rows."""
        model = self._solved
        X = rows_to_predict(self, X)
        return model.outputs(X, dtype, self.batch_rows)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
