"""`craftmaps train`: learn a model from files in one pass."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from craftmaps.cli import interrupts
from craftmaps.cli.description import error_text, model_facts
from craftmaps.cli.files import check_output
from craftmaps.cli.options import (
    Categories,
    Data,
    Drop,
    Json,
    KernelOrAuto,
    Threads,
    as_source,
    option,
    parse_memory,
    parse_target,
    real_number,
    whole_number,
)
from craftmaps.cli.terminal import print_facts, print_json, words


def train(
    data: Data,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the model.", show_default=False)],
    target: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Column of the labels: a name, or a position from 0 (-1: the last). [label]"),
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option(metavar="DATA", help="Rows to measure the error on; may be repeated.")
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML page about the run.")] = None,
    components: Annotated[Any, option(whole_number(1), "E", "Width of the features.")] = 2048,
    kernel: KernelOrAuto = "auto",
    feature_map: Annotated[
        Literal["craft", "maclaurin", "tensorsketch", "landmarks", "none"], typer.Option(help="What maps the rows.")
    ] = "craft",
    metric: Annotated[
        Literal["auto", "covariance", "gradient", "none"],
        typer.Option(
            help="Linear rescaling of rows before they are mapped: by their principal axes (covariance), or by the "
            "axes that matter for the target (gradient); auto compares them, on the first rows."
        ),
    ] = "auto",
    code: Annotated[
        Literal["one-vs-rest", "random", "hadamard"],
        typer.Option(
            help="How classes become outputs: one for each class, or words of bits that correct errors, 200 random "
            "bits or the rows of a Hadamard matrix."
        ),
    ] = "one-vs-rest",
    calibration: Annotated[
        Literal["auto", "temperature", "matrix"],
        typer.Option(
            help="How left-out rows turn scores into probabilities: by one factor, which changes no prediction "
            "(temperature), or by a matrix that corrects the score of a class by those of others (matrix)."
        ),
    ] = "auto",
    alpha: Annotated[
        list[Any] | None,
        option(
            real_number(True),
            "ALPHA",
            "Ridge penalty, relative to the mean sum of squares of a feature, such as 1e-4; may be repeated, to "
            "compare several. [1e-8, 1e-7 ... 10]",
        ),
    ] = None,
    regression: Annotated[
        bool | None,
        typer.Option(
            "--regression/--classification",
            help="Predict numbers, or classes. Without either it is classes, and a target that looks like a number to "
            "predict is refused.",
        ),
    ] = None,
    drop: Drop = None,
    categories: Categories = None,
    max_rows: Annotated[Any, option(whole_number(1), "ROWS", "Stop after so many rows.")] = None,
    batch_rows: Annotated[
        Any, option(whole_number(1), "ROWS", "Rows to read at a time; by default as memory allows.")
    ] = None,
    memory: Annotated[Any, option(parse_memory, "SIZE", "Bound such as 4GB; by default all there is.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to keep an unfinished run in, for --resume.")
    ] = None,
    checkpoint_every: Annotated[Any, option(whole_number(1), "ROWS", "Rows between checkpoints.")] = 100_000,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --checkpoint.")] = False,
    threads: Threads = None,
    seed: Annotated[Any, option(whole_number(0, 2**64 - 1), "SEED", "Seed of all that is random.")] = 0,
    as_json: Json = False,
) -> None:
    """Learn a model from files of any size, in one pass.

    Example: craftmaps train train.csv --test test.csv --out model.craft
    """
    from craftmaps import threads as using_threads
    from craftmaps.cli.learning import CheckpointFolder
    from craftmaps.cli.training import Training, TrainingRows

    sources = [*data, *(test or [])]
    check_output(out, "--out", sources)
    if report is not None:
        check_output(report, "--report", [*sources, str(out)])
    if resume and checkpoint is None:
        raise typer.BadParameter("--resume needs the folder of the run: give --checkpoint DIR too.")
    parameters = {
        "kernel": kernel,
        "n_components": components,
        "feature_map": None if feature_map == "none" else feature_map,
        "metric": None if metric == "none" else metric,
        "code": code,
        "calibration": calibration,
        "alphas": alpha or None,
        "random_state": seed,
    }
    with using_threads(threads) if threads else nullcontext():
        named = {"drop": drop or [], "categories": categories or []}
        rows = TrainingRows(as_source(data), parse_target(target), named, max_rows, batch_rows)
        rows.fit_in(memory, parameters)
        test_rows = rows.open_test(as_source(test)) if test else None
        folder = None if checkpoint is None else CheckpointFolder(checkpoint, rows.described(), resume)
        training = Training(rows, parameters, regression, folder)
        with training.resumable():
            training.learn(checkpoint_every)
            training.save(out)
        if test_rows is not None:
            training.test(test_rows, keeps_rows=report is not None)
        if report is not None:
            training.write_report(report, data=", ".join(data), command=interrupts.command())
    summary = training.summary() | {"report": report and str(report)}
    if as_json:
        print_json(summary)
    else:
        print_facts(_facts(summary))


def _facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what a person wants to know of a run."""
    from craftmaps.report.wording import duration, memory

    model, seconds = summary["model"], summary["seconds"]
    packed = ", Gram matrix packed in float32" if summary["packed"] else ""
    facts = [
        ("model", f"{summary['out']}, {memory(model['bytes'])}"),
        *model_facts(model),
        ("cross-validated", error_text(summary["cross_validation"])),
        ("test", error_text(summary["test"])),
        ("time", ", ".join(f"{name} {duration(value)}" for name, value in seconds.items())),
        ("memory", "" if summary["peak_memory"] is None else f"{memory(summary['peak_memory'])} at most{packed}"),
        ("report", summary["report"] or ""),
    ]
    return [(name, words(text)) for name, text in facts if text]
