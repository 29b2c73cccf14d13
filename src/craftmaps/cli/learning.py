"""One pass of a learner over a stream, which can be interrupted between two blocks and resumed."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from craftmaps._system.atomic_files import new_file
from craftmaps._system.progress import Phase, PhaseClock, Step, heard_by
from craftmaps.cli import interrupts
from craftmaps.cli.files import writing
from craftmaps.cli.progress_bar import ProgressBar
from craftmaps.cli.terminal import say

_MOST_BYTES = 2**26  # of the description of a run, most of which is names of columns
# In order of time, and the one that each phase of the learner counts towards. Once the map is drawn rows are counted.
PHASES = ("choices", "learning", "solving")
TIMED_AS = {
    Phase.CHOICES: "choices",
    Phase.METRIC: "choices",
    Phase.MAP: "learning",
    Phase.PENALTY: "solving",
    Phase.SOLUTION: "solving",
}


class CheckpointFolder:
    """A folder with the checkpoint of a run and a description of its rows.

    A checkpoint only counts blocks, so a resumed run must have the same rows in the same blocks.
    """

    def __init__(self, folder: Path, run: dict[str, Any], is_resumed: bool):
        self.path, self._about = folder / "run.checkpoint", folder / "run.json"
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"--checkpoint must be a folder, got the file {str(folder)!r}.")
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob("run.*.new"):  # a run was killed while it wrote
            left.unlink()
        self.is_resumed = self.path.exists()
        if self.is_resumed and not is_resumed:
            raise FileExistsError(
                f"{folder} holds the checkpoint of a run that has not ended: go on with --resume, or remove it."
            )
        if self.is_resumed:
            self._check(run)
            return
        if is_resumed:
            say(f"There is no checkpoint in {folder}: beginning with the first row.")
        with writing(self._about), new_file(self._about) as new:
            new.write_text(json.dumps(run), encoding="utf-8")

    def _check(self, run: dict[str, Any]) -> None:
        """Refuse to resume with other rows or other blocks."""
        try:
            if self._about.stat().st_size > _MOST_BYTES:
                raise ValueError("too large")
            before = json.loads(self._about.read_text(encoding="utf-8"))
            if not isinstance(before, dict):
                raise ValueError("not an object")
        except (OSError, ValueError, RecursionError):
            raise ValueError(f"{self._about} is missing or damaged, so this run cannot be resumed.") from None
        for name, value in run.items():
            if before.get(name) != value:
                old = before.get(name)
                if isinstance(old, list | dict) or len(ascii(old)) > 100 or not str(old).isprintable():
                    old = "something else"
                values = "" if name == "columns" else f", {old} before and {value} now"
                raise ValueError(f"{self.path} is of a run with other {name.replace('_', ' ')}{values}.")

    def remove(self) -> None:
        """Remove the files: the run has ended."""
        self.path.unlink(missing_ok=True)
        self._about.unlink(missing_ok=True)


class WatchedPass:
    """The blocks of a stream on their way to a learner.

    With a checkpoint, the first interruption ends the pass after the current block is counted and kept. The second
    one ends the program at once, and so does the first if there is nothing to keep or the learner solves.

    Parameters
    ----------
    model : CraftClassifier or CraftRegressor
    blocks : iterable of tuples (X, y) or (X, y, weight)
    progress : ProgressBar
    checkpoint : CheckpointFolder or None
    now : function
        The clock, in seconds.
    """

    def __init__(
        self,
        model: Any,
        blocks: Iterable[tuple],
        progress: ProgressBar,
        checkpoint: CheckpointFolder | None,
        now: Callable[[], float] = time.monotonic,
    ):
        self._model, self._blocks, self._progress, self._checkpoint = model, blocks, progress, checkpoint
        self._n_blocks = self._n_rows = 0
        self._is_whole = True  # whether all blocks given to the learner are counted, and it does not solve
        self._busy = threading.Lock()  # held while a block is counted or the checkpoint is written
        self._is_stopped = False
        self._clock = PhaseClock("learning", now)

    def __iter__(self) -> Iterator[tuple]:
        for block in self._blocks:
            self._busy.acquire()
            self._is_whole = False
            yield block
            self._is_whole = True
            self._clock.turn_to("learning")
            self._n_blocks += 1
            self._n_rows += block[0].shape[0]
            self._progress.show(self._n_rows)
            self._release()
        self._busy.acquire()
        self._clock.turn_to("solving")
        self._progress.turn_to("Solving")
        self.keep()
        self._is_whole = False
        self._release()

    def fit(self, every: int) -> dict[str, float]:
        """Train on all blocks; return the seconds of each phase."""
        try:
            with heard_by(self._hear):
                self._model.fit_stream(self, checkpoint=self._checkpoint and self._checkpoint.path, every=every)
        except (ValueError, TypeError) as error:
            if error.__cause__ is None:
                raise
            # The learner names the block and the rows kept, which are lost when this program ends.
            raise ValueError(f"After {self._n_rows:,} rows: {error.__cause__}") from None
        self._is_whole = True
        seconds = self._clock.read()
        return {phase: seconds[phase] for phase in PHASES if phase in seconds}

    @contextmanager
    def resumable(self) -> Iterator[None]:
        """Write the checkpoint, if there is to be one, when the program is interrupted in this context."""
        if self._checkpoint is None:
            yield
            return
        with interrupts.unfinished(self._checkpoint.path), interrupts.asking(self.stop):
            yield

    def end(self) -> None:
        """Remove the checkpoint: the model is written."""
        folder, self._checkpoint = self._checkpoint, None
        if folder is not None:
            folder.remove()

    def _hear(self, step: Step) -> None:
        """Show a step and time its phase."""
        self._clock.turn_to(TIMED_AS[step.phase])
        self._progress.step(step)

    def keep(self) -> None:
        """Write the checkpoint, if there is to be one and the learner is between two blocks."""
        from craftmaps.learners.persistence import checkpoint

        is_new = 0 < self._n_rows == getattr(self._model, "n_rows_seen_", 0)
        if self._checkpoint is not None and is_new and self._is_whole:
            checkpoint.write(self._checkpoint.path, self._model, self._n_blocks)

    def _release(self) -> None:
        """Allow interruptions again; obey one that is pending."""
        if self._is_stopped:
            self.keep()
            interrupts.leave()
        self._busy.release()

    def stop(self) -> bool:
        """Write the checkpoint now and return False, or return True and leave after the current block."""
        if not self._busy.acquire(blocking=False):
            if not self._n_blocks:
                return False  # there is nothing to keep
            self._is_stopped = True
            self._progress.say("Stopping after the current block; interrupt again to stop at once.")
            if not self._busy.acquire(blocking=False):
                return True
        with suppress(OSError):  # the checkpoint before this one is there
            self.keep()
        return False
