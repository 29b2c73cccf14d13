"""A training run: rows, a learner, a model file, scores and a report."""

import itertools
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse, vstack

from craftmaps import CraftClassifier, CraftRegressor, streams
from craftmaps.cli import interrupts
from craftmaps.cli.description import describe
from craftmaps.cli.files import writing
from craftmaps.cli.held_out import HeldOutShare, PartOfStream
from craftmaps.cli.learning import CheckpointFolder, WatchedPass
from craftmaps.cli.memory import budget, peak_memory, total_memory
from craftmaps.cli.model_rows import WIDEST_DENSE, blocks_of, open_labelled_rows
from craftmaps.cli.options import named_as_options
from craftmaps.cli.scores import score
from craftmaps.cli.targets import checked_classes, is_regression
from craftmaps.cli.terminal import Progress
from craftmaps.report import Run
from craftmaps.report import write as write_page
from craftmaps.report.intervals import chosen_alpha
from craftmaps.streams import Block

_MOST_TEST_BYTES = 2**28
_SAMPLE_ROWS = 1000
_USUAL_ROWS = 8192
_BYTES_OF_SPARSE_ROW = 4096


class TrainingRows:
    """A stream of rows to learn from, in blocks that fit."""

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

    def fit_in(self, bound: int | None, parameters: dict[str, Any]) -> None:
        """Choose how many rows to read at a time within a bound of memory; refuse what does not fit."""
        columns = self.stream.columns
        is_sparse = columns.first_index is not None and columns.n_features > WIDEST_DENSE
        row_bytes = _BYTES_OF_SPARSE_ROW if is_sparse else 4 * columns.n_features
        is_automatic = "auto" in (parameters["kernel"], parameters["metric"])
        self.budget = budget(bound or total_memory(), parameters["n_components"], row_bytes, is_automatic)
        if not self._is_fixed and self.budget.batch_rows < self._batch_rows:
            self._batch_rows = self.budget.batch_rows
            self.stream = streams.open(self._source, batch_rows=self._batch_rows, columns=columns, **self._options)

    def open_test(self, source: Any) -> streams.Stream:
        """Open rows to test on, with the columns of these."""
        with named_as_options(is_target_typed=False):
            weight = self._options.get("weight")
            return open_labelled_rows(self.stream.columns, source, "auto", self._batch_rows, weight)

    def described(self) -> dict[str, Any]:
        """Return what must be the same for a run to be resumed."""
        return {
            "batch_rows": self._batch_rows,
            "max_rows": self._options["max_rows"],
            "test_share": None if self.held_out is None else self.held_out.share,
            "size_in_bytes": self.stream.total_bytes,
            "columns": self.stream.columns.to_plain(),
        }


class Training:
    """One run, from rows to a model and what is known about it."""

    def __init__(
        self, rows: TrainingRows, parameters: dict[str, Any], regression: bool | None, folder: CheckpointFolder | None
    ):
        self._rows = rows
        parameters = parameters | {"packed": rows.budget.is_packed}
        stream, columns = rows.stream, rows.stream.columns
        self.seconds: dict[str, float] = {}
        self._scores: dict[str, Any] | None = None
        self._test_rows: tuple[Any, Any] | None = None
        blocks, watched = blocks_of(stream), stream
        if rows.held_out is not None:
            blocks = rows.held_out.for_training(blocks)
            watched = PartOfStream(stream, 1 - rows.held_out.share)
        first: Any = next(blocks)
        self._sample = first.X[:_SAMPLE_ROWS]
        blocks = itertools.chain([first], blocks)
        if is_regression(regression, columns.target, columns.target_kind, first.y):
            of_classes = ("code", "calibration")
            parameters = {name: value for name, value in parameters.items() if name not in of_classes}
            self.model: Any = CraftRegressor(**parameters)
        else:
            self.model = CraftClassifier(**parameters)
            blocks = checked_classes(blocks, columns.target, rows.budget.most_classes, rows.budget.n_bytes)
        self._progress = Progress("Learning", watched)
        for_learner = (block[:2] if block.weight is None else block[:3] for block in blocks)
        self._pass = WatchedPass(self.model, for_learner, self._progress, folder)

    def learn(self, every: int) -> None:
        """Learn from all rows; a checkpoint is written from time to time."""
        with self._progress:
            self.seconds = self._pass.fit(every)

    def resumable(self) -> AbstractContextManager[None]:
        """Keep what is counted if the program is interrupted here, where there is a checkpoint to keep it in."""
        return self._pass.resumable()

    def save(self, path: Path) -> None:
        """Write the model, with the rule that makes rows of files."""
        try:
            with writing(path):
                self.model.save(path, notes={"columns": self._rows.stream.columns.to_plain()})
        except OSError:
            # The pass took long: it can be resumed when there is room again.
            with suppress(OSError):
                self._pass.keep()
            raise
        self._path = path
        interrupts.tell(f"the model is in {path}, but the rest of the run is missing")
        self._pass.end()

    def test(self, stream: streams.Stream, keeps_rows: bool) -> None:
        """Measure the error on other rows; keep as many of them as a report can show."""
        self._test(blocks_of(stream), stream, "--test", keeps_rows)

    def test_held_out(self, keeps_rows: bool) -> None:
        """Measure the error on the rows that were held out, in a second pass over the files."""
        held_out, stream = self._rows.held_out, self._rows.stream
        assert held_out is not None
        blocks = held_out.for_testing(blocks_of(stream))
        self._test(blocks, PartOfStream(stream, held_out.share), "--test-share", keeps_rows)

    def _test(self, blocks: Iterable[Block], watched: Any, source: str, keeps_rows: bool) -> None:
        """Measure the error on blocks of rows."""
        started = time.monotonic()
        kept: list[tuple[Any, Any]] = []
        n_bytes = 0

        def noted():
            nonlocal n_bytes
            for block in blocks:
                if keeps_rows and n_bytes < _MOST_TEST_BYTES:
                    kept.append(block[:2])
                    n_bytes += block.X.data.nbytes
                yield block

        with Progress("Testing", watched) as progress:
            self._scores = score(self.model, noted(), progress, source)
        if kept:
            X = [rows for rows, _ in kept]
            self._test_rows = (vstack(X) if issparse(X[0]) else np.concatenate(X), np.concatenate([y for _, y in kept]))
        self.seconds["testing"] = time.monotonic() - started

    def write_report(self, path: Path, data: str, command: str) -> None:
        """Write a page about the run."""
        X_test, y_test = self._test_rows or (None, None)
        run = Run(
            model=self.model,
            data=data,
            command=command,
            X_test=X_test,
            y_test=y_test,
            phases=self.seconds,
            peak_memory=peak_memory(),
            rows_sample=self._sample,
            feature_names=self._rows.stream.columns.feature_names,
        )
        with writing(path):
            write_page(path, run)

    def summary(self) -> dict[str, Any]:
        """Return what is known about the run, as plain values."""
        return {
            "out": str(self._path),
            "model": describe(self.model, self._path, self._rows.stream.columns.target),
            "cross_validation": _held_out(self.model),
            "test": self._scores,
            "test_share": None if self._rows.held_out is None else self._rows.held_out.share,
            "kinds": [
                {"kind": kind, "columns": n, "names": names} for kind, n, names in self._rows.stream.columns.summary()
            ],
            "seconds": self.seconds,
            "peak_memory": peak_memory(),
            "packed": self._rows.budget.is_packed,
        }


def _held_out(model: Any) -> dict[str, Any]:
    """Return the error of the rows left out in cross-validation, at the chosen alpha."""
    is_classifier = isinstance(model, CraftClassifier)
    return chosen_alpha(model.cv_results_, is_classifier).to_plain(is_classifier)
