"""`craftmaps train`: train a model on files in one pass."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from craftmaps.cli import interrupts
from craftmaps.cli.files import check_outputs
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
    option,
    parse_share,
    parse_target,
    whole_number,
)
from craftmaps.cli.summary import print_summary


def train(
    data: Data,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the model.", show_default=False)],
    target: Target = None,
    test: Annotated[
        list[str] | None, typer.Option(metavar="DATA", help="Rows to measure the error on; may be repeated.")
    ] = None,
    test_share: Annotated[
        Any,
        option(
            parse_share,
            "SHARE",
            "Hold out a share of DATA, such as 0.2, to measure the error on; equal rows stay together.",
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML page about the run.")] = None,
    tally: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the tally of the rows, to go on from with tally and combine."),
    ] = None,
    components: Components = 2048,
    kernel: KernelOrAuto = "auto",
    feature_map: FeatureMap = "craft",
    metric: Metric = "auto",
    try_categories: TryCategories = True,
    code: Code = "one-vs-rest",
    calibration: Calibration = "auto",
    alpha: Alpha = None,
    regression: Regression = None,
    drop: Drop = None,
    categories: Categories = None,
    weight: Weight = None,
    decimal: Decimal = ".",
    dates: Dates = "refuse",
    max_rows: MaxRows = None,
    batch_rows: BatchRowsThatFit = None,
    memory: Memory = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to keep an unfinished run in, for --resume.")
    ] = None,
    checkpoint_every: Annotated[Any, option(whole_number(1), "ROWS", "Rows between checkpoints.")] = 100_000,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --checkpoint.")] = False,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Let the workers of a Dask cluster read the files and count their rows: the address of its scheduler, "
            "or local:N for N processes here.",
        ),
    ] = None,
    spark: Annotated[
        str | None,
        typer.Option(
            metavar="MASTER",
            help="The same on Spark: a master such as spark://host:7077, yarn or local[4], or sc://host for Spark "
            "Connect.",
        ),
    ] = None,
    threads: Threads = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train a model on files of any size, in one pass.

    Example: craftmaps train train.csv --test test.csv --out model.craft

    On a cluster: craftmaps train "rows/*.parquet" --dask tcp://scheduler:8786 --out model.craft

    On all cores, a process each: craftmaps train "rows/*.parquet" --dask local --out model.craft
    """
    from craftmaps import threads as using_threads
    from craftmaps.cli.cluster_pass import engine_of
    from craftmaps.cli.learning import CheckpointFolder
    from craftmaps.cli.training import Training
    from craftmaps.cli.training_rows import TrainingRows
    from craftmaps.scores.held_out_share import HeldOutShare

    sources = [*data, *(test or [])]
    check_outputs({"--out": out, "--tally": tally, "--report": report}, sources)
    if resume and checkpoint is None:
        raise typer.BadParameter("--resume needs the folder of the run: give --checkpoint DIR too.")
    if test_share is not None and (test or data == ["-"]):
        got = "--test too" if test else "standard input, which can be read only once"
        raise typer.BadParameter(f"--test-share takes its rows from the files of DATA, got {got}.")
    _check_cluster({"--dask": dask, "--spark": spark}, data, checkpoint, max_rows)
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
    with using_threads(threads) if threads else nullcontext():
        options = {"target": parse_target(target), "max_rows": max_rows}
        options |= column_options(drop, categories, weight, decimal, dates)
        held_out = None if test_share is None else HeldOutShare(test_share, seed)
        rows = TrainingRows(as_source(data), options, batch_rows, held_out)
        budget = rows.budget(memory, components, is_automatic="auto" in (kernel, metric))
        rows.fit_in(budget)
        test_rows = rows.open_test(as_source(test)) if test else None
        folder = None if checkpoint is None else CheckpointFolder(checkpoint, rows.described(), resume)
        if dask or spark:
            interrupts.tell("nothing was kept")
        with engine_of(dask, spark) as engine:
            training = Training(rows, parameters, budget, regression, folder, engine)
            with training.resumable():
                training.learn(checkpoint_every)
                training.save(out, tally)
        if test_rows is not None:
            training.test(test_rows, keeps_examples=report is not None)
        elif held_out is not None:
            training.test_held_out(keeps_examples=report is not None)
        if report is not None:
            training.write_report(report, data=", ".join(data), command=interrupts.command())
    written = {"tally": tally and str(tally), "report": report and str(report)}
    print_summary(training.summary() | written, as_json)


def _check_cluster(clusters: dict[str, str | None], data: list[str], checkpoint: Any, max_rows: Any) -> None:
    """Refuse two clusters, and what cannot be had on one."""
    named = [name for name, where in clusters.items() if where is not None]
    if len(named) > 1:
        raise typer.BadParameter(f"{' and '.join(named)} must not both be given.")
    refused = {"--checkpoint": checkpoint, "--max-rows": max_rows, "standard input": data == ["-"] or None}
    for what, value in refused.items():
        if named and value is not None:
            raise typer.BadParameter(
                f"{named[0]} lets workers read parts of files, in any order and again after a failure, so it cannot be "
                f"combined with {what}."
            )
