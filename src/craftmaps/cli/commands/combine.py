"""`craftmaps combine`: add up tallies and solve a model from them."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from craftmaps.cli import interrupts
from craftmaps.cli.files import check_outputs
from craftmaps.cli.options import BatchRows, Json, Threads, as_source, option, parse_share
from craftmaps.cli.summary import print_summary, print_tally


def combine(
    tallies: Annotated[
        list[str],
        typer.Argument(metavar="TALLY", help="Files that tally, train or combine wrote, or globs.", show_default=False),
    ],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write the model.")] = None,
    tally: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write the tally of all.")] = None,
    minus: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Tally of rows to take out again; may be repeated."),
    ] = None,
    decay: Annotated[
        Any,
        option(
            parse_share,
            "FACTOR",
            "Weigh every tally by this factor less than the next one given: the last counts in full, the one before "
            "it FACTOR times, and so on.",
        ),
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option(metavar="DATA", help="Rows to measure the error on; may be repeated.")
    ] = None,
    batch_rows: BatchRows = 8192,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Add up tallies and solve a model from them.

    The model is that of all their rows, none of which is read again. With --tally and without --out nothing is solved.
    Tallies of different recipes are refused.

    Example: craftmaps combine day-*.tally --out model.craft --tally total.tally

    Example: craftmaps combine total.tally --minus customer.tally --out model.craft

    Example: craftmaps combine day-*.tally --decay 0.99 --out model.craft
    """
    from craftmaps import threads as using_threads
    from craftmaps.cli.combining import Combination, TallyFiles

    if out is None and (tally is None or test):
        got = "--test alone" if test else "neither --out nor --tally"
        raise typer.BadParameter(f"--out must say where to write the model, or --tally the tally, got {got}.")
    files = TallyFiles(tallies, minus or [], decay)
    check_outputs({"--out": out, "--tally": tally}, [*map(str, files.all), *(test or [])])
    interrupts.tell(f"{tally if out is None else out} was not written")
    with using_threads(threads) if threads else nullcontext():
        combination = Combination(files)
        test_rows = combination.open_test(as_source(test), batch_rows) if test else None
        if tally is not None:
            combination.save_tally(tally)
        if out is not None:
            combination.solve()
            combination.save(out)
        if test_rows is not None:
            combination.test(test_rows)
    if out is not None:
        print_summary(combination.summary() | {"tally": tally and str(tally)}, as_json)
    else:
        print_tally(combination.described_tally(), as_json)
