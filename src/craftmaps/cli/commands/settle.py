"""`craftmaps settle`: decide how rows become features, once for all tallies."""

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from craftmaps.cli import interrupts
from craftmaps.cli.description import describe_tally
from craftmaps.cli.files import check_output, writing
from craftmaps.cli.learner_options import (
    Alpha,
    Calibration,
    Code,
    Components,
    FeatureMap,
    MaxRows,
    Memory,
    Metric,
    Regression,
    Seed,
    Target,
    TryCategories,
    learner_parameters,
)
from craftmaps.cli.options import (
    BatchRowsThatFit,
    Categories,
    Data,
    Dates,
    Decimal,
    Drop,
    Json,
    KernelOrAuto,
    Threads,
    Weight,
    as_source,
    column_options,
    parse_target,
)
from craftmaps.cli.progress_bar import ProgressBar
from craftmaps.cli.summary import print_tally


def settle(
    data: Data,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the recipe.", show_default=False)],
    target: Target = None,
    components: Components = 2048,
    kernel: KernelOrAuto = "auto",
    feature_map: FeatureMap = "craft",
    metric: Metric = "auto",
    try_categories: TryCategories = True,
    code: Code = "one-vs-rest",
    calibration: Calibration = "auto",
    alpha: Alpha = None,
    hold_out: Annotated[
        bool,
        typer.Option(
            "--hold-out/--no-hold-out",
            help="Whether tallies keep 10,000 raw rows to choose alpha by; without them they are sums alone, and one "
            "--alpha must be given.",
        ),
    ] = True,
    regression: Regression = None,
    drop: Drop = None,
    categories: Categories = None,
    weight: Weight = None,
    decimal: Decimal = ".",
    dates: Dates = "refuse",
    max_rows: MaxRows = None,
    batch_rows: BatchRowsThatFit = None,
    memory: Memory = None,
    threads: Threads = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Decide how rows become features, once for all tallies.

    Fixes the column rule, chooses what is auto and draws the map. The recipe, a tally of no rows, goes to all places
    that tally rows. All rows of DATA are read once; choices are made on a sample of 12,288 of them, so a part of the
    data, or --max-rows, does as well. Nothing depends on rows but the column rule if --kernel is given, --metric is
    none and --feature-map is not landmarks.

    Example: craftmaps settle day-01.parquet --target label --out recipe.craft
    """
    from craftmaps import threads as using_threads
    from craftmaps.cli import tallying
    from craftmaps.cli.training_rows import TrainingRows

    check_output(out, "--out", data)
    interrupts.tell(f"{out} was not written")
    if not hold_out and (len(alpha or []) != 1 or calibration == "matrix"):
        raise typer.BadParameter(
            "--no-hold-out needs one --alpha and no --calibration matrix, as there are no rows to choose them by."
        )
    parameters = learner_parameters(
        components=components,
        kernel=kernel,
        feature_map=feature_map,
        metric=metric,
        try_categories=try_categories,
        code=code,
        calibration=calibration,
        alpha=alpha,
        seed=seed,
    )
    started = time.monotonic()
    with using_threads(threads) if threads else nullcontext():
        options = {"target": parse_target(target), "max_rows": max_rows}
        options |= column_options(drop, categories, weight, decimal, dates)
        rows = TrainingRows(as_source(data), options, batch_rows)
        budget = rows.budget(memory, components, is_automatic="auto" in (kernel, metric))
        rows.fit_in(budget)
        model, _, blocks = rows.new_learner(parameters | ({} if hold_out else {"cv": None}), budget, regression)
        with ProgressBar("Reading", rows.extent) as progress:
            settled = tallying.settle(model, blocks, progress)
        with writing(out):
            settled.tally_.save(out, notes=rows.notes)
    interrupts.tell(f"{out} is written")
    described = describe_tally(settled, settled.tally_, out, rows.columns.target)
    print_tally(described | {"seconds": time.monotonic() - started}, as_json)
