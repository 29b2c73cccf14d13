"""The one pass that classifiers and regressors share: map rows, add up a statistic, solve."""

import itertools
import os
from abc import abstractmethod
from collections.abc import Iterable
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from craftmaps._rows.canonical import without_duplicates
from craftmaps._system.progress import Phase, shown, tell
from craftmaps.kernels import Rows
from craftmaps.learners.blocks import Extent, n_counted, where
from craftmaps.learners.fitted_model import FittedModel
from craftmaps.learners.parameters import GivenRows
from craftmaps.learners.penalty_search import AlphaChoice, Fold, choose_alpha, dependence, folds_of, folds_of_splits
from craftmaps.learners.persistence import checkpoint as checkpoints
from craftmaps.learners.persistence import container as model_file
from craftmaps.learners.persistence import saved_model as saved
from craftmaps.learners.persistence.fitted_parts import refuse_foreign
from craftmaps.learners.tally import CountingLearner
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.tables import Columns, encode_frame, is_frame


class OnePassLearner(CountingLearner):
    """Rows are mapped and added to a statistic, block by block; `finish` chooses alpha and solves.

    What depends on rows (automatic choices, metrics, landmarks) is settled on the first 12,288 of
    them, and `fit`, which has all rows, settles it on a sample of as many. Everything else depends
    on parameters alone, so statistics of different rows add up.
    """

    def fit(self, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Self:
        """Learn from the rows of X alone."""
        with shown(self.verbose) as progress:
            with self._unharmed():
                given, spent = self._begin(X, y, sample_weight)
                splits = self._given_splits(given.n_given)
                rows = (given.X, given.y, given.weight)
                folds = None if splits is None else folds_of_splits(splits, given.kept, spent, rows)
            try:
                self._count_in_blocks(*rows, progress)
            except BaseException:
                self._forget()  # the model that was there is gone, as two statistics at once may not fit
                raise
            return self._finish(folds)

    def _begin(self, X: Rows, y: Rows, sample_weight: Rows | None = None) -> tuple[GivenRows, NDArray[np.int64]]:
        """Start anew and settle everything on these rows, but count none; return them, and which were spent on it."""
        self._start()
        given = self._validated(X, y, sample_weight, reset=True)
        if not given.kept.size:
            raise ValueError("sample_weight must not be all zero.")
        given.targets.check_solvable()
        self._targets = given.targets
        return given, self._settle(given.X, given.y)

    def _partial_fit(self, X: Rows, y: Rows, sample_weight: Rows | None, labels: NDArray | None = None) -> Self:
        """Count rows, and make room for their labels and others; the solution follows when it is asked for."""
        first = not hasattr(self, "n_rows_seen_")
        if not first:
            self._refuse_loaded()
        if not (self.cv is None or isinstance(self.cv, Integral)):
            raise TypeError(f"cv must be an int or None to learn block by block, got {type(self.cv).__name__}.")
        before = vars(self).copy()
        with self._unharmed():
            if first:
                self._start()
            given = self._validated(X, y, sample_weight, reset=first)
            if not given.kept.size:
                self.__dict__ = before  # rows of no weight count as none
                return self
            X, y, weight = given.X, given.y, given.weight
            self._widen(given.targets if labels is None else given.targets.widened(labels))
            if self._lift is None or self._waiting:
                # Copies: who gave these rows may use their memory for the next ones.
                self._waiting = [*self._waiting, (X.copy(), y.copy(), None if weight is None else weight.copy())]
                self.n_rows_seen_ += X.shape[0]
                if self._lift is None and (not self._needs_rows or self.n_rows_seen_ >= self._n_first_rows):
                    self._settle_on_waiting()
            is_waiting = bool(self._waiting)
        if not is_waiting:
            self._count_in_blocks(X, y, weight)
        elif self._lift is not None:
            self._count_waiting()
        self._is_solved = False
        return self

    def _widen(self, targets: Any) -> None:
        """Take over targets with room for more labels."""
        if self._statistic is not None and targets.n_columns != self._targets.n_columns:
            self._statistic = self._statistic.with_targets(self._targets.places(targets), targets.n_columns)
        self._targets = targets

    def fit_stream(
        self, blocks: Iterable[tuple], checkpoint: str | os.PathLike | None = None, every: int = 100_000
    ) -> Self:
        """Learn from an iterable of blocks (X, y) or (X, y, sample_weight), in one pass over it.

        A block that cannot be used raises an error that names it; what came before it is kept, and
        `finish` makes a model of it. The rule by which a stream of `craftmaps.streams` made rows of a table is kept
        with the model, which then predicts data frames too.

        Parameters
        ----------
        blocks : iterable
        checkpoint : path, optional
            Where to write, from time to time, what was counted. If the file is there already, the run
            goes on from it: the same blocks must come again, and those counted are passed over. The
            model is the same, bit for bit, as without an interruption. At the end the file is removed.
        every : int, default=100_000
            Rows between two checkpoints.
        """
        done = 0
        if checkpoint is not None:
            for part in (self.metric, self.feature_map):
                refuse_foreign(part)
        with self._unharmed():
            self._forget()
            if checkpoint is not None and os.path.exists(checkpoint):
                done = checkpoints.read(checkpoint, self)
        last = getattr(self, "n_rows_seen_", 0)
        rule = getattr(blocks, "columns", None)
        extent, blocks = Extent(blocks), iter(blocks)
        self._refuse_other_blocks(itertools.islice(blocks, done), done, checkpoint)
        with shown(self.verbose) as progress:
            progress.skip(last, extent.share(done, last))
            for i, block in enumerate(blocks, start=done):
                try:
                    X, y, *weight = block
                    self._partial_fit(X, y, weight[0] if weight else None)
                except (ValueError, TypeError) as error:
                    seen = getattr(self, "n_rows_seen_", 0)
                    raise type(error)(
                        f"Block {i} of the stream{where(block)}: {error} The {seen} rows before it are kept."
                    ) from error
                if isinstance(rule, Columns):
                    self.notes_ = {"columns": rule.to_plain()}
                seen = getattr(self, "n_rows_seen_", 0)
                progress.show(seen, extent.share(i + 1, seen), extent.n_rows)
                if checkpoint is not None and seen - last >= every:
                    checkpoints.write(checkpoint, self, i + 1)
                    last = seen
            if not hasattr(self, "n_rows_seen_"):
                raise ValueError("blocks must have at least one block of rows, got none.")
            self.finish()
        if checkpoint is not None:
            Path(checkpoint).unlink(missing_ok=True)
        return self

    def _refuse_other_blocks(self, blocks: Iterable[tuple], done: int, checkpoint: Any) -> None:
        """Refuse blocks that cannot be those which a checkpoint has counted."""
        n_rows = [n_counted(*block) for block in blocks]
        seen = getattr(self, "n_rows_seen_", 0)
        if (len(n_rows), sum(n_rows)) != (done, seen):
            raise ValueError(
                f"blocks must begin with those that {checkpoint} has counted, {done} of {seen} rows, "
                f"got {len(n_rows)} of {sum(n_rows)} rows."
            )

    def merge(self, other: Self) -> Self:
        """Add the rows that another estimator of the same parameters has seen."""
        if type(other) is not type(self):
            raise TypeError(f"other must be a {type(self).__name__}, got {type(other).__name__}.")
        for learner in (self, other):
            check_is_fitted(learner, "n_rows_seen_")
            learner._refuse_loaded()
        self._refuse_differences(other)
        self._holdout.refuse_difference(other._holdout)
        for learner in (self, other):
            if learner._lift is not None:
                learner._count_waiting()
        waits, other_waits = self._lift is None, other._lift is None
        total = None
        with self._unharmed():
            self._widen(self._targets.joined(other._targets))
            if waits and other_waits:
                self._waiting = [*self._waiting, *other._waiting]
                self.n_rows_seen_ += other.n_rows_seen_
                if self.n_rows_seen_ >= self._n_first_rows:
                    self._settle_on_waiting()
            elif waits:
                self._take_lift(other._lift)  # type: ignore[arg-type]
                self._holdout = other._holdout.emptied()
            elif not other_waits:
                total = self._statistic + _aligned(other, self._targets)
        if self._lift is not None:
            self._count_waiting()
        if other_waits and not waits:
            for X, y, weight in other._waiting:
                self._count_in_blocks(X, y, weight)
        elif not other_waits:
            self._statistic = self._statistic + _aligned(other, self._targets) if total is None else total
            self._holdout = self._holdout + other._holdout
            self.n_rows_seen_ += other.n_rows_seen_
        self._is_solved = False
        return self

    def finish(self) -> Self:
        """Choose alpha and solve for the rows seen so far."""
        return self._finish(None)

    def _finish(self, folds: list[Fold] | None) -> Self:
        """Solve, with alpha chosen on given folds or on those of the held-out sample."""
        check_is_fitted(self, "n_rows_seen_")
        self._refuse_loaded()
        self._targets.check_solvable()
        self._end_waiting()
        alphas = self._checked_alphas()
        self._room = None
        if self.cv is None:
            self._alpha_choice = None
            self.__dict__.pop("cv_results_", None)
            relative = alphas[0]
        else:
            self._alpha_choice = self._choose_alpha(alphas, folds)
            self.cv_results_ = self._alpha_choice.results
            relative = self._alpha_choice.relative
        tell(Phase.SOLUTION)
        self.alpha_ = relative * (self._statistic.scale(self.fit_intercept) or 1.0)
        solution = self._statistic.solve(self.alpha_, fit_intercept=self.fit_intercept)
        self._set_solution(solution.coef, solution.intercept)
        self._model = FittedModel(self._lift, solution.coef, solution.intercept)  # type: ignore[arg-type]
        self._is_solved = True
        return self

    def save(self, path: str | os.PathLike, dtype: Any = np.float32, notes: Any = None) -> None:
        """Write the model to a file, its weights as float64, float32 or float16; see `load_model`.

        `notes`, anything that JSON takes, comes back as the attribute `notes_`. The rule of a stream of tables is
        stored among them.
        """
        check_is_fitted(self, "n_rows_seen_")
        if not self._is_solved:
            self.finish()
        kept = getattr(self, "notes_", None)
        if isinstance(kept, dict) and "columns" in kept and (notes is None or isinstance(notes, dict)):
            notes = {"columns": kept["columns"]} | (notes or kept)
        model_file.write(path, saved.to_plain(self, dtype, notes))

    # What classifiers and regressors differ in.

    @abstractmethod
    def _solution_to_plain(self, dtype: Any) -> dict[str, Any]:
        """Describe what a model file says of this kind of learner alone, arrays in a precision."""

    @abstractmethod
    def _solution_from_plain(self, plain: dict[str, Any]) -> None:
        """Take it over."""

    @abstractmethod
    def _set_solution(self, coef: NDArray[np.float64], intercept: NDArray[np.float64]) -> None:
        """Take over a solution for the targets."""

    # How it is solved, and what it predicts.

    def _choose_alpha(self, alphas: list[float], folds: list[Fold] | None) -> AlphaChoice:
        """Score alphas on given folds, or on those of the held-out sample."""
        if folds is None:
            if not isinstance(self.cv, Integral):
                raise ValueError("cv must be an int to choose alpha again: splits are of the rows of `fit` alone.")
            if self._holdout.n_rows < 2:
                raise ValueError(
                    f"At least 2 rows are needed to choose alpha, got n_samples={self._holdout.n_rows} that "
                    "choices were not made by."
                )
            folds = folds_of(self._holdout, int(self.cv))
            n_effective = self._holdout.n_effective(self.n_rows_seen_)
        else:
            weight = np.concatenate([fold.weight for fold in folds])
            n_effective = float(weight.sum() ** 2 / (weight**2).sum())
        choice = choose_alpha(
            self._statistic,
            folds,
            features=self._lift,  # type: ignore[arg-type]
            targets=self._targets.encoded,
            error=self._targets.balanced_errors(np.concatenate([fold.y for fold in folds])),
            alphas=alphas,
            fit_intercept=self.fit_intercept,
        )
        choice.results["n_effective"] = n_effective / dependence(folds, self._statistic.weight)
        return choice

    def _outputs(self, X: Rows, dtype: Any = None) -> NDArray[np.floating]:
        """Return what is predicted for the targets of rows, in a precision or else in that of the rows."""
        check_is_fitted(self, "n_rows_seen_")
        if not self._is_solved:
            self.finish()
        if is_frame(X) and self._column_rule is not None:
            X = encode_frame(X, self._column_rule)
        X = validate_data(self, X, dtype=(np.float64, np.float32), accept_sparse="csr", reset=False)
        X = without_duplicates(X)
        return self._model.outputs(X, dtype or X.dtype, self._rows_per_block(X))

    @property
    def _column_rule(self) -> Columns | None:
        """The rule by which tables become rows, if the model was learned from one."""
        notes = getattr(self, "notes_", None)
        plain = notes.get("columns") if isinstance(notes, dict) else None
        return None if plain is None else Columns.from_plain(plain)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _aligned(learner: OnePassLearner, targets: Any) -> NormalEquations:
    """Return the statistic of a learner with its targets at their places among wider ones."""
    return learner._statistic.with_targets(learner._targets.places(targets), targets.n_columns)
