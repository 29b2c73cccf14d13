"""Add up the tallies of files, take some out again, and solve a model."""

import glob
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from craftmaps import streams
from craftmaps._system.progress import heard_by
from craftmaps.cli import interrupts
from craftmaps.cli.argument_names import named_as_options
from craftmaps.cli.description import describe_tally
from craftmaps.cli.files import writing
from craftmaps.cli.like_tallies import read_like
from craftmaps.cli.model_rows import blocks_of, labelled_columns_of, naming, open_labelled_rows, read_settled
from craftmaps.cli.progress_bar import ProgressBar
from craftmaps.cli.scoring import score
from craftmaps.cli.summary import summarise
from craftmaps.report.evaluation import Evaluation

_LEAST_FACTOR = 1e-100  # sums of squares of smaller weights are not numbers that a file may have


class TallyFiles:
    """Files of tallies. Their size is the extent of a progress bar.

    Parameters
    ----------
    added, taken_out : sequence of str
        Paths, or globs, which stand for their files in the order of names.
    decay : float, optional
        Every tally counts by this factor less than the next one.
    """

    n_rows = None

    def __init__(self, added: Sequence[str], taken_out: Sequence[str], decay: float | None):
        self.added, self.taken_out = _paths(added, "TALLY"), _paths(taken_out, "--minus")
        self.decay = decay
        if decay is not None and self.taken_out:
            raise typer.BadParameter(
                "--minus must be left out with --decay, which has changed the weight of the rows to take out: "
                "take them out of their own tally first."
            )
        if decay is not None and decay ** (len(self.added) - 1) < _LEAST_FACTOR:
            raise typer.BadParameter(f"--decay {decay:g} leaves nothing of the first of {len(self.added):,} tallies.")
        self.total_bytes = sum(os.path.getsize(path) for path in self.all)
        self.bytes_read = 0

    @property
    def all(self) -> list[Path]:
        """All files."""
        return [*self.added, *self.taken_out]

    def combined(self, progress: ProgressBar) -> tuple[Any, Any]:
        """Return a learner that is settled like all files, and the tally of all.

        The tally of the last file, which has its full weight, is added to in place: one fits in memory more often
        than three.
        """
        last, *others = reversed(self.added)
        settled = read_settled(last, "TALLY")
        total = settled.tally_
        self._show(last, total, progress)
        for age, path in enumerate(others, start=1):
            other = read_like(path, "TALLY", settled, last)
            with naming(f"{last} and {path} cannot be combined"):
                total += other if self.decay is None else other * self.decay**age
            self._show(path, total, progress)
        for path in self.taken_out:
            other = read_like(path, "--minus", settled, last)
            with naming(f"{path} cannot be taken out"):
                total = total - other
            self._show(path, total, progress)
        if self.taken_out and not total.n_rows:
            raise ValueError("--minus must leave some rows, got all of them.")
        return settled, total

    def _show(self, path: Path, total: Any, progress: ProgressBar) -> None:
        """Show the rows so far after a file was read."""
        self.bytes_read += os.path.getsize(path)
        progress.show(total.n_rows)


class Combination:
    """The tallies of files as one, and the model of all their rows."""

    def __init__(self, files: TallyFiles):
        self.seconds: dict[str, float] = {}
        self._evaluation: Evaluation | None = None
        started = time.monotonic()
        with ProgressBar("Adding", files) as progress:
            self._model, self._tally = files.combined(progress)
        self.seconds["adding"] = time.monotonic() - started
        self._columns = labelled_columns_of(self._model)

    def save_tally(self, path: Path) -> None:
        """Write the tally of all files."""
        with writing(path):
            self._tally.save(path)
        self._path = path

    def solve(self) -> None:
        """Choose alpha and solve."""
        started = time.monotonic()
        with ProgressBar("Solving", _Unknown()) as progress, heard_by(progress.step):
            self._model.finish(self._tally)
            progress.show(self._tally.n_rows)
        self.seconds["solving"] = time.monotonic() - started

    def save(self, path: Path) -> None:
        """Write the model, with the notes of the tallies."""
        with writing(path):
            self._model.save(path)
        self._path = path
        interrupts.tell(f"the model is in {path}, but the rest of the run is missing")

    def open_test(self, source: Any, batch_rows: int) -> streams.Stream:
        """Open test rows, with the columns of the tallies."""
        with named_as_options(is_target_typed=False):
            return open_labelled_rows(self._columns, source, "auto", batch_rows, self._columns.weight)

    def test(self, stream: streams.Stream) -> None:
        """Evaluate the model on other rows."""
        started = time.monotonic()
        with ProgressBar("Testing", stream) as progress:
            self._evaluation = score(self._model, blocks_of(stream), progress, "--test")
        self.seconds["testing"] = time.monotonic() - started

    def summary(self) -> dict[str, Any]:
        """Return model, errors, times and memory as plain values."""
        summary = summarise(self._model, self._path, self._columns, self._evaluation, self.seconds)
        return summary | {"packed": self._tally.statistic.packed}

    def described_tally(self) -> dict[str, Any]:
        """Return the tally that was written, and the time it took, as plain values."""
        described = describe_tally(self._model, self._tally, self._path, self._columns.target)
        return described | {"seconds": self.seconds}


class _Unknown:
    """The extent of what has no end in sight."""

    n_rows = total_bytes = None
    bytes_read = 0


def _paths(names: Sequence[str], option: str) -> list[Path]:
    """Return the files of paths and globs; refuse one that comes twice, as its rows would count twice."""
    found = []
    for name in names:
        paths = [name] if os.path.exists(name) else sorted(glob.glob(name))
        if not paths:
            raise FileNotFoundError(f"{option} must be files that exist, got {name!r}.")
        found += paths
    known: set[str] = set()
    for path in found:
        real = os.path.realpath(path)
        if real in known:
            raise ValueError(f"{option} must name a file once, as its rows would count twice, got {path!r} again.")
        known.add(real)
    return [Path(path) for path in found]
