"""Passes that do not solve: settle features on rows, and tally rows through settled features."""

from collections.abc import Callable, Iterable
from typing import Any

from craftmaps import Tally
from craftmaps._system.progress import heard_by
from craftmaps.cli.progress_bar import ProgressBar
from craftmaps.learners.partitions import prepared, settled_on, survey_part
from craftmaps.learners.prepass import Prepass
from craftmaps.streams import Block


def settle(model: Any, blocks: Iterable[Block], progress: ProgressBar) -> Any:
    """Return a learner that is settled, as `fit` would be, on a sample of all rows; it has counted none."""
    model = prepared(model)
    survey: Prepass | None = None

    def count(block: Block) -> None:
        nonlocal survey
        part = survey_part(model, *block[:3])
        if part is not None:
            survey = part if survey is None else survey + part

    with heard_by(progress.step):
        _count_all(blocks, count, progress)
        progress.turn_to("Settling")
        return settled_on(model, survey)


def tally(settled: Any, blocks: Iterable[Block], progress: ProgressBar) -> Tally:
    """Return the tally of all rows by a settled learner, which does not change."""
    total = settled.tally_.emptied()

    def count(block: Block) -> None:
        nonlocal total
        total += settled.tally(*block[:3])

    _count_all(blocks, count, progress)
    return total


def _count_all(blocks: Iterable[Block], count: Callable[[Block], None], progress: ProgressBar) -> None:
    """Count one block after another; an error says how many rows came before."""
    n_rows = 0
    for block in blocks:
        try:
            count(block)
        except (ValueError, TypeError) as error:
            raise ValueError(f"After {n_rows:,} rows: {error}") from None
        n_rows += block.X.shape[0]
        progress.show(n_rows)
