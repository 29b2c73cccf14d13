"""`craftmaps tally`: count rows through settled features."""

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from craftmaps.cli import interrupts
from craftmaps.cli.description import describe_tally
from craftmaps.cli.files import check_output, writing
from craftmaps.cli.options import BatchRowsThatFit, Data, Json, Threads, Weight, as_source, parse_target
from craftmaps.cli.progress_bar import ProgressBar
from craftmaps.cli.summary import print_tally


def tally(
    data: Data,
    recipe: Annotated[
        Path,
        typer.Option(metavar="FILE", help="A recipe of settle, or another tally of it.", show_default=False),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the tally.", show_default=False)],
    target: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Column of the labels; by default the one that was settled on, or label."),
    ] = None,
    weight: Weight = None,
    batch_rows: BatchRowsThatFit = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Count rows through settled features.

    Any number of rows becomes a file of one size: sums over them, from which combine solves a model. Columns are found
    by the rule of the recipe. The same command on other rows, on any machine, gives tallies that add up.

    Example: craftmaps tally day-17.parquet --recipe recipe.craft --out day-17.tally
    """
    from craftmaps import threads as using_threads
    from craftmaps.cli import tallying
    from craftmaps.cli.model_rows import known_target, labelled_columns_of, read_settled
    from craftmaps.cli.target_checks import checked_classes, labelled
    from craftmaps.cli.training_rows import TrainingRows

    check_output(out, "--out", [str(recipe), *data])
    interrupts.tell(f"{out} was not written")
    settled = read_settled(recipe, "--recipe")
    columns = labelled_columns_of(settled)
    started = time.monotonic()
    with using_threads(threads) if threads else nullcontext():
        options = {
            "target": known_target(columns, parse_target(target)),
            "columns": columns,
            "weight": columns.weight if weight is None else weight,
        }
        rows = TrainingRows(as_source(data), options, batch_rows, is_target_typed=target is not None)
        width = settled.tally_.statistic.cross.shape[0]
        budget = rows.budget(None, width, is_automatic=False, name=f"{recipe}, whose number of features is")
        rows.fit_in(budget)
        blocks = labelled(rows.blocks())
        if hasattr(settled, "classes_"):
            blocks = checked_classes(blocks, columns.target, budget)
        with ProgressBar("Counting", rows.extent) as progress:
            counted = tallying.tally(settled, blocks, progress)
        with writing(out):
            counted.save(out)
    interrupts.tell(f"{out} is written")
    described = describe_tally(settled, counted, out, columns.target)
    print_tally(described | {"seconds": time.monotonic() - started}, as_json)
