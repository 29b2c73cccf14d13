"""Rows of files to learn from, in blocks that fit in memory, and the learner that suits them."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from craftmaps import CraftClassifier, CraftRegressor, streams
from craftmaps._system.memory import total_memory
from craftmaps._system.memory_budget import Budget, TooWideError, memory_budget
from craftmaps.cli.argument_names import named_as_options
from craftmaps.cli.model_rows import blocks_of, open_labelled_rows
from craftmaps.cli.progress_bar import PartOfStream
from craftmaps.cli.target_checks import checked_classes, is_regression
from craftmaps.scores.class_limit import ClassLimit
from craftmaps.scores.held_out_share import HeldOutShare
from craftmaps.scores.target_look import look_at_target
from craftmaps.streams import Block
from craftmaps.streams.file_parts import FileRows, Spread, parts_of
from craftmaps.streams.narrow_rows import WIDEST_DENSE, dense_where_narrow

_USUAL_ROWS = 8192
_SMALLEST_PART, _LARGEST_PART = 2**16, 2**28
_PARTS_A_WORKER = 4  # so that none waits long for the last one
_BYTES_OF_SPARSE_ROW = 4096


class NewLearner(NamedTuple):
    """A learner that has seen nothing, the first block of its rows, and all blocks."""

    model: Any
    first: Any
    blocks: Iterator[Block]


class TrainingRows:
    """A stream of rows to train on, in blocks that fit in memory.

    Parameters
    ----------
    source : path or list of paths
    options : mapping
        Further arguments of `streams.open`.
    batch_rows : int, optional
        Rows of a block; by default as memory allows.
    held_out : HeldOutShare, optional
        The rows to leave out.
    is_target_typed : bool, default=True
        Whether an option names the target; otherwise it is that of a model.
    """

    def __init__(
        self,
        source: Any,
        options: Mapping[str, Any],
        batch_rows: int | None = None,
        held_out: HeldOutShare | None = None,
        is_target_typed: bool = True,
    ):
        # Standard input is looked at once and cannot be opened again with other blocks.
        self._is_fixed = batch_rows is not None or source == "-"
        self._source, self._batch_rows = source, batch_rows or _USUAL_ROWS
        self._options: dict[str, Any] = dict(options)
        self.held_out = held_out
        with named_as_options(is_target_typed):
            self.stream = streams.open(source, batch_rows=self._batch_rows, **self._options)

    @property
    def columns(self) -> streams.Columns:
        """The rule that turns tables into rows."""
        return self.stream.columns

    @property
    def notes(self) -> dict[str, Any]:
        """What is kept with a model or a tally of these rows."""
        return {"columns": self.columns.to_plain()}

    @property
    def extent(self) -> Any:
        """The number of rows or bytes to train on, for a progress bar."""
        return self.stream if self.held_out is None else PartOfStream(self.stream, 1 - self.held_out.share)

    def budget(self, bound: int | None, n_components: int, is_automatic: bool, name: str = "--components") -> Budget:
        """Return what fits in a bound of memory, by default all there is; refuse a model that does not fit."""
        columns = self.columns
        is_sparse = columns.first_index is not None and columns.n_features > WIDEST_DENSE
        row_bytes = _BYTES_OF_SPARSE_ROW if is_sparse else 4 * columns.n_features
        try:
            return memory_budget(bound or total_memory(), n_components, row_bytes, is_automatic)
        except TooWideError as error:
            raise ValueError(f"{name} {error.n_components} {error.complaint}") from None

    def fit_in(self, budget: Budget) -> None:
        """Read fewer rows at a time if the budget asks for it."""
        if not self._is_fixed and budget.batch_rows < self._batch_rows:
            self._batch_rows = budget.batch_rows
            self._options["columns"] = self.columns
            self.stream = streams.open(self._source, batch_rows=self._batch_rows, **self._options)

    def new_learner(self, parameters: dict[str, Any], budget: Budget, regression: bool | None) -> NewLearner:
        """Return a learner for the targets of the first block; refuse targets that do not suit it."""
        columns, blocks = self.columns, self.blocks()
        first: Any = next(blocks)
        blocks = itertools.chain([first], blocks)
        parameters = parameters | {"packed": budget.is_packed}
        if is_regression(regression, columns.target, look_at_target(columns.target_kind, first.y)):
            of_classes = ("code", "calibration")
            parameters = {name: value for name, value in parameters.items() if name not in of_classes}
            return NewLearner(CraftRegressor(**parameters), first, blocks)
        blocks = checked_classes(blocks, columns.target, budget, fewest=2)
        return NewLearner(CraftClassifier(**parameters), first, blocks)

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks to train on."""
        blocks = blocks_of(self.stream)
        return blocks if self.held_out is None else self.held_out.for_training(blocks)

    def parts(self, n_workers: int, budget: Budget, is_of_classes: bool, spread: Spread) -> list[FileRows]:
        """Cut the files into parts that so many workers read; the steps between rows and learner go with them."""
        n_bytes = (self.stream.total_bytes or 0) // (_PARTS_A_WORKER * n_workers)
        steps: list[Any] = [dense_where_narrow]
        if self.held_out is not None:
            steps.append(self.held_out.training_rows)
        if is_of_classes:
            steps.append(ClassLimit(self.columns.target, budget.most_classes, budget.n_bytes))
        return parts_of(self.stream, min(max(n_bytes, _SMALLEST_PART), _LARGEST_PART), steps, spread)

    def open_test(self, source: Any) -> streams.Stream:
        """Open test rows, with the columns of these rows."""
        with named_as_options(is_target_typed=False):
            weight = self._options.get("weight")
            return open_labelled_rows(self.columns, source, "auto", self._batch_rows, weight)

    def described(self) -> dict[str, Any]:
        """Return what must be equal for a run to be resumed."""
        return {
            "batch_rows": self._batch_rows,
            "max_rows": self._options.get("max_rows"),
            "test_share": None if self.held_out is None else self.held_out.share,
            "size_in_bytes": self.stream.total_bytes,
            "columns": self.columns.to_plain(),
        }
