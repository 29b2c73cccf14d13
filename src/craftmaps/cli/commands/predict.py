"""`craftmaps predict`: predict the rows of files."""

import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from craftmaps.cli import interrupts
from craftmaps.cli.argument_names import named_as_options
from craftmaps.cli.files import check_output
from craftmaps.cli.options import BatchRows, Data, Json, Model, Threads, as_source
from craftmaps.cli.prediction_files import SUFFIXES, prediction_file
from craftmaps.cli.progress_bar import ProgressBar
from craftmaps.cli.terminal import print_facts, print_json, words


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Where to write: .parquet, .csv or .npy, or - for CSV to standard output.",
            show_default=False,
        ),
    ],
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Also write a column with the probability of each class.")
    ] = False,
    scores: Annotated[bool, typer.Option("--scores", help="Also write the scores of the classes.")] = False,
    ids: Annotated[
        str | None,
        typer.Option("--id", metavar="COL", help="Column that names the rows; it is written first."),
    ] = None,
    batch_rows: BatchRows = 8192,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Predict the rows of files of any size, block by block.

    A NumPy file holds one array: the predictions, or the --probabilities or --scores instead.

    Example: craftmaps predict model.craft new.csv --out predictions.parquet
    """
    from craftmaps import threads as using_threads
    from craftmaps.cli.model_rows import blocks_of, open_rows, read_model

    is_printed, is_array = str(out) == "-", out.suffix.lower() == ".npy"
    if is_printed and as_json:
        raise typer.BadParameter("--json must be left out with --out -, which prints the predictions.")
    if not is_printed:
        check_output(out, "--out", [str(model), *data], SUFFIXES)
        interrupts.tell(f"{out} was not written")
    if is_array and (ids is not None or (probabilities and scores)):
        raise typer.BadParameter("A .npy file holds one array: choose --probabilities or --scores, and no --id.")
    if ids == "prediction":
        raise typer.BadParameter("--id must not be called 'prediction', which is the column of the predictions.")
    learned = read_model(model)
    if (probabilities or scores) and not hasattr(learned, "predict_proba"):
        raise ValueError(f"{model} predicts numbers, which have neither --probabilities nor --scores.")
    started = time.monotonic()
    n_rows = 0
    with using_threads(threads) if threads else nullcontext():
        with named_as_options():
            stream = open_rows(learned, as_source(data), batch_rows, ids)
        is_clear = not (is_printed and sys.stdout.isatty())  # a bar would mix with the rows
        with ProgressBar("Predicting", stream, is_clear) as progress, prediction_file(out) as file:
            for block in blocks_of(stream):
                columns = _columns(learned, block.X, probabilities, scores, file.decimals)
                if is_array and len(columns) > 1:
                    del columns["prediction"]
                file.add(columns if ids is None else {ids: block.ids} | columns)
                n_rows += block.X.shape[0]
                progress.show(n_rows)
    if is_printed:
        return
    interrupts.tell(f"{out} is written")
    summary = {"out": str(out), "rows": n_rows, "bytes": out.stat().st_size, "seconds": time.monotonic() - started}
    if as_json:
        print_json(summary)
        return
    from craftmaps.report.html.wording import memory

    print_facts([("predictions", words(f"{out}, {n_rows:,} rows, {memory(summary['bytes'])}"))])


def _columns(model: Any, X: Any, has_probabilities: bool, has_scores: bool, decimals: int | None) -> dict[str, Any]:
    """Return the predictions of a block as named columns, with probabilities and scores if asked for."""
    from craftmaps.report.model_facts import outcomes
    from craftmaps.scores.probabilities import rounded

    if not (has_probabilities or has_scores):
        return {"prediction": model.predict(X)}
    predicted, scores, probabilities = outcomes(model, X)
    columns = {"prediction": predicted}
    if has_probabilities:
        values = rounded(probabilities, decimals)
        columns |= {f"probability_{label}": values[:, i] for i, label in enumerate(model.classes_)}
    if has_scores and scores.ndim == 1:
        columns["score"] = scores
    elif has_scores:
        columns |= {f"score_{label}": scores[:, i] for i, label in enumerate(model.classes_)}
    return columns
