"""`craftmaps train`: train a model on files in one pass."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from craftmaps.cli import interrupts
from craftmaps.cli.description import area_text, error_text, model_facts
from craftmaps.cli.files import check_output
from craftmaps.cli.options import (
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
    parse_memory,
    parse_share,
    parse_target,
    real_number,
    whole_number,
)
from craftmaps.cli.terminal import print_facts, print_json, words

_MOST_NAMES = 5


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
    test_share: Annotated[
        Any,
        option(
            parse_share,
            "SHARE",
            "Hold out a share of DATA, such as 0.2, to measure the error on; equal rows stay together.",
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML page about the run.")] = None,
    components: Annotated[Any, option(whole_number(1), "E", "Width of the features.")] = 2048,
    kernel: KernelOrAuto = "auto",
    feature_map: Annotated[
        Literal["craft", "maclaurin", "tensorsketch", "landmarks", "none"],
        typer.Option(help="Feature map of the rows."),
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
            help="How classes become outputs: one for each class, or code words that correct errors, of 200 random "
            "bits or the rows of a Hadamard matrix."
        ),
    ] = "one-vs-rest",
    calibration: Annotated[
        Literal["auto", "temperature", "matrix"],
        typer.Option(
            help="How held-out rows turn scores into probabilities: by one factor, which changes no prediction "
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
    weight: Weight = None,
    decimal: Decimal = ".",
    dates: Dates = "refuse",
    max_rows: Annotated[Any, option(whole_number(1), "ROWS", "Stop after this many rows.")] = None,
    batch_rows: Annotated[
        Any, option(whole_number(1), "ROWS", "Rows to read at a time; by default as memory allows.")
    ] = None,
    memory: Annotated[Any, option(parse_memory, "SIZE", "Bound such as 4GB; by default all memory.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to keep an unfinished run in, for --resume.")
    ] = None,
    checkpoint_every: Annotated[Any, option(whole_number(1), "ROWS", "Rows between checkpoints.")] = 100_000,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --checkpoint.")] = False,
    threads: Threads = None,
    seed: Annotated[Any, option(whole_number(0, 2**64 - 1), "SEED", "Seed of everything random.")] = 0,
    as_json: Json = False,
) -> None:
    """Train a model on files of any size, in one pass.

    Example: craftmaps train train.csv --test test.csv --out model.craft
    """
    from craftmaps import threads as using_threads
    from craftmaps.cli.learning import CheckpointFolder
    from craftmaps.cli.training import Training, TrainingRows
    from craftmaps.scores.held_out_share import HeldOutShare

    sources = [*data, *(test or [])]
    check_output(out, "--out", sources)
    if report is not None:
        check_output(report, "--report", [*sources, str(out)])
    if resume and checkpoint is None:
        raise typer.BadParameter("--resume needs the folder of the run: give --checkpoint DIR too.")
    if test_share is not None and (test or data == ["-"]):
        got = "--test too" if test else "standard input, which can be read only once"
        raise typer.BadParameter(f"--test-share takes its rows from the files of DATA, got {got}.")
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
        named = column_options(drop, categories, weight, decimal, dates)
        held_out = None if test_share is None else HeldOutShare(test_share, seed)
        rows = TrainingRows(as_source(data), parse_target(target), named, max_rows, batch_rows, held_out)
        budget = rows.budget(memory, parameters)
        rows.fit_in(budget)
        test_rows = rows.open_test(as_source(test)) if test else None
        folder = None if checkpoint is None else CheckpointFolder(checkpoint, rows.described(), resume)
        training = Training(rows, parameters, budget, regression, folder)
        with training.resumable():
            training.learn(checkpoint_every)
            training.save(out)
        if test_rows is not None:
            training.test(test_rows, keeps_examples=report is not None)
        elif held_out is not None:
            training.test_held_out(keeps_examples=report is not None)
        if report is not None:
            training.write_report(report, data=", ".join(data), command=interrupts.command())
    summary = training.summary() | {"report": report and str(report)}
    if as_json:
        print_json(summary)
    else:
        print_facts(_facts(summary))


def _facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the summary of a run as names and values to print."""
    from craftmaps.report.html.wording import duration, memory, number

    model, seconds = summary["model"], summary["seconds"]
    packed = ", Gram matrix packed in float32" if summary["packed"] else ""
    facts = [
        ("model", f"{summary['out']}, {memory(model['bytes'])}"),
        *model_facts(model),
        ("columns", _kinds(summary["kinds"])),
        ("cross-validated", error_text(summary["cross_validation"])),
        ("test", _tested(summary)),
        ("test AUC", area_text(summary["test"]) if "auc" in (summary["test"] or {}) else ""),
        ("test log loss", number(summary["test"]["log_loss"]) if "auc" in (summary["test"] or {}) else ""),
        ("time", ", ".join(f"{name} {duration(value)}" for name, value in seconds.items())),
        ("memory", "" if summary["peak_memory"] is None else f"{memory(summary['peak_memory'])} at most{packed}"),
        ("report", summary["report"] or ""),
    ]
    return [(name, words(text)) for name, text in facts if text]


def _tested(summary: dict[str, Any]) -> str:
    """Format the error on test rows, and where they come from."""
    share = summary["test_share"]
    return error_text(summary["test"]) + (f", a share of {share:g} held out" if share else "")


def _kinds(kinds: list[dict[str, Any]]) -> str:
    """Format the number of columns of each kind, and the first few names of columns that are not numbers."""
    told = []
    for line in kinds:
        names = [] if line["kind"] in ("number", "numbers") else line["names"]
        shown = ", ".join(names[:_MOST_NAMES]) + (
            f" and {len(names) - _MOST_NAMES:,} more" * (len(names) > _MOST_NAMES)
        )
        told.append(f"{line['columns']:,} {line['kind']}" + (f" ({shown})" if shown else ""))
    return ", ".join(told)
