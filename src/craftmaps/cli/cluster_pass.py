"""One pass of a learner over files that the workers of a cluster read."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

import typer

from craftmaps._system.errors import ArgumentError
from craftmaps._system.memory_budget import Budget
from craftmaps._system.progress import PhaseClock, Step, heard_by
from craftmaps.cli.learning import PHASES, TIMED_AS
from craftmaps.cli.progress_bar import ProgressBar
from craftmaps.cli.training_rows import TrainingRows
from craftmaps.learners.counting import Counting
from craftmaps.learners.partitions import finished, settled_on_first, to_ship


class Engine(Protocol):
    """The workers of a cluster."""

    n_workers: int

    def spread(self, function: Callable[[Any], Any], items: list[Any]) -> Iterable[Any]:
        """Map a function over items on the workers."""
        ...

    def tally(self, counting: Counting, parts: list[Any], listener: Callable[[int, int], None]) -> Any:
        """Return the tally of parts of files; the listener is told number and rows of each that is done."""
        ...


@contextmanager
def engine_of(dask: str | None, spark: str | None) -> Iterator[Engine | None]:
    """Connect to the cluster that an option names, if one does; what is wrong with workers is no defect of ours."""
    if dask is None and spark is None:
        yield None
        return
    try:
        if dask is not None:
            from craftmaps.dask.files import connected

            cluster = connected(dask)
        else:
            from craftmaps.spark.files import connected

            cluster = connected(spark)  # type: ignore[arg-type]
        with cluster as engine:
            yield engine
    except ArgumentError as error:
        if error.argument not in ("dask", "spark"):
            raise
        raise typer.BadParameter(f"--{error.argument} {error.complaint}") from None
    except RuntimeError as error:
        raise ValueError(str(error)) from None


class PartsDone:
    """The extent of a pass over parts of files: bytes of the parts that are done."""

    n_rows = None

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._rows: dict[int, int] = {}

    def begin(self, sizes: list[int]) -> None:
        """Begin with parts of these sizes."""
        self._sizes = sizes

    def end_part(self, number: int, n_rows: int) -> int:
        """Note that a part is done, perhaps again; return the rows of all parts that are done."""
        self._rows[number] = n_rows
        return sum(self._rows.values())

    @property
    def total_bytes(self) -> int | None:
        """Bytes of all parts."""
        return sum(self._sizes) or None

    @property
    def bytes_read(self) -> int:
        """Bytes of the parts that are done."""
        return sum(self._sizes[number] for number in self._rows)


class ClusterPass:
    """The files of a run on their way to a learner, by the workers of a cluster.

    The first rows are read here, and settle what is chosen automatically, as in a pass without a cluster. Then workers
    read and count all rows, and the model is solved here.
    """

    def __init__(self, model: Any, blocks: Iterable[tuple], rows: TrainingRows, budget: Budget, engine: Engine):
        self._model, self._blocks, self._rows, self._budget, self._engine = model, blocks, rows, budget, engine
        self._done = PartsDone()
        self.progress = ProgressBar("Learning", self._done)
        self._clock = PhaseClock("learning")

    def fit(self, every: int) -> dict[str, float]:
        """Train on all rows; return the seconds of each phase. There are no checkpoints to write."""
        with heard_by(self._hear):
            settled = settled_on_first(self._model, self._blocks)
            self._clock.turn_to("learning")
            is_of_classes = hasattr(self._model, "code")
            parts = self._rows.parts(self._engine.n_workers, self._budget, is_of_classes, self._engine.spread)
            self._done.begin([part.n_bytes for part in parts])
            self.progress.say(f"Learning: {len(parts)} parts of files on {self._engine.n_workers} workers")
            tally = self._engine.tally(Counting(to_ship(settled)), parts, self._part_done)
            self.progress.show(tally.n_rows)
            self._clock.turn_to("solving")
            self.progress.turn_to("Solving")
            finished(self._model, settled, tally)
        seconds = self._clock.read()
        return {phase: seconds[phase] for phase in PHASES if phase in seconds}

    def resumable(self) -> AbstractContextManager[None]:
        """Return a context without effect: what workers have counted is not kept."""
        return nullcontext()

    def keep(self) -> None:
        """Keep nothing."""

    def end(self) -> None:
        """Have nothing to remove."""

    def _part_done(self, number: int, n_rows: int) -> None:
        """Show the rows of all parts that are done."""
        self.progress.show(self._done.end_part(number, n_rows))

    def _hear(self, step: Step) -> None:
        """Show a step and time its phase."""
        self._clock.turn_to(TIMED_AS[step.phase])
        self.progress.step(step)
