"""A training run: rows, a learner, a model file, scores and a report."""

import itertools
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from craftmaps import CraftClassifier, CraftRegressor, streams
from craftmaps._system.memory import peak_memory, total_memory
from craftmaps._system.memory_budget import Budget, TooWideError, memory_budget
from craftmaps.cli import interrupts
from craftmaps.cli.argument_names import named_as_options
from craftmaps.cli.description import describe
from craftmaps.cli.files import writing
from craftmaps.cli.learning import CheckpointFolder, WatchedPass
from craftmaps.cli.model_rows import WIDEST_DENSE, blocks_of, open_labelled_rows
from craftmaps.cli.progress_bar import PartOfStream, ProgressBar
from craftmaps.cli.scoring import score
from craftmaps.cli.target_checks import checked_classes, is_regression
from craftmaps.report import Run
from craftmaps.report import write as write_page
from craftmaps.report.evaluation import Evaluation
from craftmaps.scores import held_out_error
from craftmaps.scores.held_out_share import HeldOutShare
from craftmaps.scores.target_look import look_at_target
from craftmaps.streams import Block

_SAMPLE_ROWS = 1000
_USUAL_ROWS = 8192
_BYTES_OF_SPARSE_ROW = 4096


class TrainingRows:
    """A stream of rows to train on, in blocks that fit in memory."""

    def __init__(
        self,
        source: Any,
        target: str | int,
        named: Mapping[str, Any],
        max_rows: int | None,
        batch_rows: int | None,
        held_out: HeldOutShare | None = None,
    ):
        # Standard input is looked at once and cannot be opened again with other blocks.
        self._is_fixed = batch_rows is not None or source == "-"
        self._source, self._batch_rows = source, batch_rows or _USUAL_ROWS
        self._options = {"target": target, "max_rows": max_rows, **named}
        self.held_out = held_out
        with named_as_options():
            self.stream = streams.open(source, batch_rows=self._batch_rows, **self._options)

    def budget(self, bound: int | None, parameters: dict[str, Any]) -> Budget:
        """Return what fits in a bound of memory, by default all there is; refuse a model that does not fit."""
        columns = self.stream.columns
        is_sparse = columns.first_index is not None and columns.n_features > WIDEST_DENSE
        row_bytes = _BYTES_OF_SPARSE_ROW if is_sparse else 4 * columns.n_features
        is_automatic = "auto" in (parameters["kernel"], parameters["metric"])
        try:
            return memory_budget(bound or total_memory(), parameters["n_components"], row_bytes, is_automatic)
        except TooWideError as error:
            raise ValueError(f"--components {error.n_components} {error.complaint}") from None

    def fit_in(self, budget: Budget) -> None:
        """Read fewer rows at a time if the budget asks for it."""
        if not self._is_fixed and budget.batch_rows < self._batch_rows:
            self._batch_rows, columns = budget.batch_rows, self.stream.columns
            self.stream = streams.open(self._source, batch_rows=self._batch_rows, columns=columns, **self._options)

    def open_test(self, source: Any) -> streams.Stream:
        """Open test rows, with the columns of these rows."""
        with named_as_options(is_target_typed=False):
            weight = self._options.get("weight")
            return open_labelled_rows(self.stream.columns, source, "auto", self._batch_rows, weight)

    def described(self) -> dict[str, Any]:
        """Return what must be equal for a run to be resumed."""
        return {
            "batch_rows": self._batch_rows,
            "max_rows": self._options["max_rows"],
            "test_share": None if self.held_out is None else self.held_out.share,
            "size_in_bytes": self.stream.total_bytes,
            "columns": self.stream.columns.to_plain(),
        }


class Training:
    """One run, from rows to a model, its scores and its report."""

    def __init__(
        self,
        rows: TrainingRows,
        parameters: dict[str, Any],
        budget: Budget,
        regression: bool | None = None,
        folder: CheckpointFolder | None = None,
    ):
        self._rows, self._budget = rows, budget
        self.seconds: dict[str, float] = {}
        self._evaluation: Evaluation | None = None
        columns, blocks, extent = rows.stream.columns, blocks_of(rows.stream), rows.stream
        if rows.held_out is not None:
            blocks = rows.held_out.for_training(blocks)
            extent = PartOfStream(rows.stream, 1 - rows.held_out.share)
        first: Any = next(blocks)
        self._sample = first.X[:_SAMPLE_ROWS].copy()
        blocks = itertools.chain([first], blocks)
        parameters = parameters | {"packed": budget.is_packed}
        if is_regression(regression, columns.target, look_at_target(columns.target_kind, first.y)):
            of_classes = ("code", "calibration")
            parameters = {name: value for name, value in parameters.items() if name not in of_classes}
            self.model: Any = CraftRegressor(**parameters)
        else:
            self.model = CraftClassifier(**parameters)
            blocks = checked_classes(blocks, columns.target, budget.most_classes, budget.n_bytes)
        self._progress = ProgressBar("Learning", extent)
        for_learner = (block[:2] if block.weight is None else block[:3] for block in blocks)
        self._pass = WatchedPass(self.model, for_learner, self._progress, folder)

    def learn(self, every: int) -> None:
        """Train on all rows; write a checkpoint after `every` rows."""
        with self._progress:
            self.seconds = self._pass.fit(every)

    def resumable(self) -> AbstractContextManager[None]:
        """Write the checkpoint, if there is to be one, when the program is interrupted in this context."""
        return self._pass.resumable()

    def save(self, path: Path) -> None:
        """Write the model, with the rule that turns tables into rows."""
        try:
            with writing(path):
                self.model.save(path, notes={"columns": self._rows.stream.columns.to_plain()})
        except OSError:
            # The pass took long: keep it, to be resumed when there is room again.
            with suppress(OSError):
                self._pass.keep()
            raise
        self._path = path
        interrupts.tell(f"the model is in {path}, but the rest of the run is missing")
        self._pass.end()

    def test(self, stream: streams.Stream, keeps_examples: bool) -> None:
        """Evaluate the model on other rows, for a report with examples."""
        self._test(blocks_of(stream), stream, "--test", keeps_examples)

    def test_held_out(self, keeps_examples: bool) -> None:
        """Evaluate the model on the rows that were held out, in a second pass over the files."""
        held_out, stream = self._rows.held_out, self._rows.stream
        assert held_out is not None
        blocks = held_out.for_testing(blocks_of(stream))
        self._test(blocks, PartOfStream(stream, held_out.share), "--test-share", keeps_examples)

    def _test(self, blocks: Iterable[Block], extent: Any, source: str, keeps_examples: bool) -> None:
        """Evaluate the model on blocks of rows."""
        started = time.monotonic()
        with ProgressBar("Testing", extent) as progress:
            self._evaluation = score(self.model, blocks, progress, source, keeps_examples=keeps_examples)
        self.seconds["testing"] = time.monotonic() - started

    def write_report(self, path: Path, data: str, command: str) -> None:
        """Write a page about the run."""
        run = Run(
            model=self.model,
            data=data,
            command=command,
            phases=self.seconds,
            peak_memory=peak_memory(),
            rows_sample=self._sample,
            feature_names=self._rows.stream.columns.feature_names,
            evaluation=self._evaluation,
        )
        with writing(path):
            write_page(path, run)

    def summary(self) -> dict[str, Any]:
        """Return model, errors, times and memory as plain values."""
        held_out, columns = held_out_error(self.model), self._rows.stream.columns
        return {
            "out": str(self._path),
            "model": describe(self.model, self._path, columns.target),
            "cross_validation": None if held_out is None else held_out.to_plain(),
            "test": None if self._evaluation is None else self._evaluation.scores.to_plain(),
            "test_share": None if self._rows.held_out is None else self._rows.held_out.share,
            "kinds": [{"kind": kind, "columns": n, "names": names} for kind, n, names in columns.summary()],
            "seconds": self.seconds,
            "peak_memory": peak_memory(),
            "packed": self._budget.is_packed,
        }
