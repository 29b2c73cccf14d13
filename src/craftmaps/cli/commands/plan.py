"""`craftmaps plan`: predict error and cost of maps on the rows of files."""

from typing import Annotated, Any

import typer

from craftmaps.cli.argument_names import named_as_options
from craftmaps.cli.options import (
    Categories,
    Data,
    Dates,
    Decimal,
    Drop,
    Json,
    Kernel,
    as_source,
    column_options,
    kernel_text,
    option,
    parse_target,
    real_number,
    whole_number,
)
from craftmaps.cli.terminal import print_json, print_table, say, words

_SAMPLE_ROWS = 8192


def plan(
    data: Data,
    target: Annotated[
        str | None, typer.Option(metavar="COL", help="Column of the labels, to leave out. [label]")
    ] = None,
    kernel: Kernel = "poly:3:1",
    error: Annotated[Any, option(real_number(False), "ERROR", "Largest relative kernel error wanted. [0.2]")] = None,
    seconds: Annotated[
        Any, option(real_number(False), "SECONDS", "Longest time of a pass wanted, instead of --error.")
    ] = None,
    rows: Annotated[
        Any, option(whole_number(1), "ROWS", "Rows of the pass; by default the rows of DATA, if the files tell.")
    ] = None,
    most: Annotated[Any, option(whole_number(1), "N", "Maps to show.")] = 10,
    drop: Drop = None,
    categories: Categories = None,
    decimal: Decimal = ".",
    dates: Dates = "refuse",
    as_json: Json = False,
) -> None:
    """Predict the error and cost of many maps.

    The error is that of the kernel, on a sample of the rows; the best map comes first. Rows are scaled to unit length,
    as train does if kernel and metric are given.

    Example: craftmaps plan train.parquet --kernel poly:7:1 --error 0.1
    """
    from sklearn.preprocessing import normalize

    from craftmaps import streams
    from craftmaps.plan import plan as make_plan

    if error is not None and seconds is not None:
        raise typer.BadParameter("One of --error and --seconds must be given, got both.")
    if error is None and seconds is None:
        error = 0.2
    with named_as_options():
        named = column_options(drop, categories, None, decimal, dates)
        stream = streams.open(as_source(data), parse_target(target), _SAMPLE_ROWS, **named)
    X, _ = next(iter(stream))
    n_rows = rows or stream.n_rows or X.shape[0]
    choices = make_plan(normalize(X), kernel, error, seconds, n_rows=n_rows)
    lines = [_line(choice) for choice in choices[:most]]
    if as_json:
        print_json({"kernel": kernel_text(kernel), "goal": choices.goal, "rows": n_rows, "choices": lines})
        return
    from craftmaps.report.html.wording import duration

    table = [
        [
            line["map"],
            _up_text(line["up_components"]),
            f"{line['components']:,}",
            f"{line['predicted_error']:.3f}",
            words(duration(line["seconds"])),
            "yes" if line["within"] else "no",
        ]
        for line in lines
    ]
    say(f"{kernel_text(kernel)}, {choices.goal}, {n_rows:,} rows of {X.shape[1]:,} columns")
    print_table(["map", "up", "width", "error", "pass", "meets goal"], table)


def _up_text(up_components: int | str | None) -> str:
    """Return the width of an up-projection as text."""
    return f"{up_components:,}" if isinstance(up_components, int) else up_components or ""


def _line(choice: Any) -> dict[str, Any]:
    """Return a choice as plain values."""
    return {
        "map": type(choice.feature_map).__name__,
        "components": choice.feature_map.n_components,
        "up_components": getattr(choice.feature_map, "up_components", None),
        "predicted_error": choice.predicted_error,
        "seconds": choice.seconds,
        "within": choice.within,
    }
