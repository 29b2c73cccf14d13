"""`craftmaps evaluate`: compare the predictions of a model with labels."""

from contextlib import nullcontext
from typing import Annotated, Any

import typer

from craftmaps.cli.argument_names import named_as_options
from craftmaps.cli.description import area_text, error_text
from craftmaps.cli.options import (
    BatchRows,
    Data,
    Json,
    Model,
    Threads,
    Weight,
    as_source,
    parse_target,
)
from craftmaps.cli.progress_bar import ProgressBar
from craftmaps.cli.terminal import print_facts, print_json, print_table, words

_WIDEST_MATRIX = 80
_MOST_LINES = 20


def evaluate(
    model: Model,
    data: Data,
    target: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Column of the labels; by default the one of the training rows, or label."),
    ] = None,
    weight: Weight = None,
    batch_rows: BatchRows = 8192,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Compare predictions with labels.

    Shows the error with its interval, AUC, log loss, the confusion matrix, precision and recall, and the calibration of
    the probabilities.

    Example: craftmaps evaluate model.craft test.parquet
    """
    from craftmaps import threads as using_threads
    from craftmaps.cli.model_rows import blocks_of, columns_of, labelled_columns_of, open_labelled_rows, read_model
    from craftmaps.cli.scoring import score

    learned = read_model(model)
    rule, missing = labelled_columns_of(learned), "none: name their column with --target"
    if columns_of(learned).target is None:
        missing = "no column 'label', and the model file names no other: name it with --target"
    source = "DATA" if target is None else f"--target {target!r}"
    with using_threads(threads) if threads else nullcontext():
        with named_as_options(is_target_typed=target is not None):
            stream = open_labelled_rows(rule, as_source(data), parse_target(target), batch_rows, weight)
        with ProgressBar("Evaluating", stream) as progress:
            scores = score(learned, blocks_of(stream), progress, source, missing).scores.to_plain()
    if as_json:
        print_json(scores)
    elif "rmse" in scores:
        _print_numbers(scores)
    else:
        _print_classes(scores)


def _print_numbers(scores: dict[str, Any]) -> None:
    """Print the errors of a regressor."""
    from craftmaps.report.html.wording import decimal, number

    facts = [
        ("test", error_text(scores)),
        ("mean absolute error", number(scores["mean_absolute_error"])),
        ("R2", decimal(scores["r2"])),
    ]
    print_facts([(name, words(text)) for name, text in facts])


def _print_classes(scores: dict[str, Any]) -> None:
    """Print the errors of a classifier."""
    from craftmaps.report.html.wording import number, percent

    calibration = scores["calibration"]
    gap = words(percent(calibration["expected_calibration_error"]))
    print_facts(
        [
            ("test", words(error_text(scores))),
            ("AUC", area_text(scores)),
            ("log loss", number(scores["log_loss"])),
            ("calibration", f"probabilities are off by {gap} on average"),
        ]
    )
    classes = scores["classes"]
    widths = [max(len(str(line["rows"])), len(str(line["label"]))) for line in classes]
    if max(widths) + sum(width + 2 for width in widths) <= _WIDEST_MATRIX:
        _print_matrix(scores)
    else:
        mistakes = [pair for pair in scores["confusion"] if pair["true"] != pair["predicted"]]
        mistakes.sort(key=lambda pair: -pair["rows"])
        rows = [[str(pair["true"]), str(pair["predicted"]), f"{pair['rows']:,}"] for pair in mistakes[:_MOST_LINES]]
        print()
        print_table(["true", "predicted", "rows"], rows, n_left=2, title="Most frequent mistakes")
    shown = classes
    if len(classes) > _MOST_LINES:
        shown = sorted(classes, key=lambda line: 2.0 if line["recall"] is None else line["recall"])[:_MOST_LINES]
    rows = [
        [str(line["label"]), f"{line['rows']:,}", words(percent(line["precision"])), words(percent(line["recall"]))]
        for line in shown
    ]
    print()
    some = f"The {len(shown)} classes of {len(classes):,} with the lowest recall" if len(shown) < len(classes) else ""
    print_table(["class", "rows", "precision", "recall"], rows, title=some)
    rows = [
        [number(line["probability"]), f"{line['rows']:,}", words(percent(line["right"]))]
        for line in calibration["bins"]
    ]
    print()
    print_table(["probability", "rows", "right"], rows, n_left=0)


def _print_matrix(scores: dict[str, Any]) -> None:
    """Print the confusion matrix, rows true and columns predicted."""
    counts = {(pair["true"], pair["predicted"]): pair["rows"] for pair in scores["confusion"]}
    labels = [line["label"] for line in scores["classes"]]
    rows = [[str(true), *(str(counts.get((true, said), ".")) for said in labels)] for true in labels]
    print()
    print_table(["true", *map(str, labels)], rows, title="Rows by true class, columns by predicted class")
