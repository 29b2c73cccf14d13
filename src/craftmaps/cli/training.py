"""A training run: rows, a learner, a model file, scores and a report."""

import time
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from craftmaps import streams
from craftmaps._system.memory import peak_memory
from craftmaps._system.memory_budget import Budget
from craftmaps.cli import interrupts
from craftmaps.cli.cluster_pass import ClusterPass, Engine
from craftmaps.cli.files import writing
from craftmaps.cli.learning import CheckpointFolder, WatchedPass
from craftmaps.cli.model_rows import blocks_of
from craftmaps.cli.progress_bar import PartOfStream, ProgressBar
from craftmaps.cli.scoring import score
from craftmaps.cli.summary import summarise
from craftmaps.cli.training_rows import TrainingRows
from craftmaps.report import Run
from craftmaps.report import write as write_page
from craftmaps.report.evaluation import Evaluation
from craftmaps.streams import Block

_SAMPLE_ROWS = 1000


class Training:
    """One run, from rows to a model, its scores and its report."""

    def __init__(
        self,
        rows: TrainingRows,
        parameters: dict[str, Any],
        budget: Budget,
        regression: bool | None = None,
        folder: CheckpointFolder | None = None,
        engine: Engine | None = None,
    ):
        self._rows, self._budget = rows, budget
        self.seconds: dict[str, float] = {}
        self._evaluation: Evaluation | None = None
        self.model, first, blocks = rows.new_learner(parameters, budget, regression)
        self._sample = first.X[:_SAMPLE_ROWS].copy()
        for_learner = (block[:2] if block.weight is None else block[:3] for block in blocks)
        self._pass: WatchedPass | ClusterPass
        if engine is None:
            self._progress = ProgressBar("Learning", rows.extent)
            self._pass = WatchedPass(self.model, for_learner, self._progress, folder)
        else:
            self._pass = ClusterPass(self.model, for_learner, rows, budget, engine)
            self._progress = self._pass.progress

    def learn(self, every: int) -> None:
        """Train on all rows; write a checkpoint after `every` rows."""
        with self._progress:
            self.seconds = self._pass.fit(every)

    def resumable(self) -> AbstractContextManager[None]:
        """Write the checkpoint, if there is to be one, when the program is interrupted in this context."""
        return self._pass.resumable()

    def save(self, path: Path, tally: Path | None = None) -> None:
        """Write the model and perhaps its tally, with the rule that turns tables into rows."""
        try:
            if tally is not None:
                with writing(tally):
                    self.model.tally_.save(tally, notes=self._rows.notes)
            with writing(path):
                self.model.save(path, notes=self._rows.notes)
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
            feature_names=self._rows.columns.feature_names,
            evaluation=self._evaluation,
        )
        with writing(path):
            write_page(path, run)

    def summary(self) -> dict[str, Any]:
        """Return model, errors, times and memory as plain values."""
        held_out = self._rows.held_out
        summary = summarise(self.model, self._path, self._rows.columns, self._evaluation, self.seconds)
        return summary | {
            "test_share": None if held_out is None else held_out.share,
            "packed": self._budget.is_packed,
        }
