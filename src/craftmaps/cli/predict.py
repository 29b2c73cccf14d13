"""`craftmaps predict`: predictions for the rows of files."""

import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from craftmaps.cli import interrupts
from craftmaps.cli.files import check_output
from craftmaps.cli.options import BatchRows, Data, Json, Model, Threads, as_source, named_as_options
from craftmaps.cli.prediction_files import SUFFIXES, prediction_file, rounded
from craftmaps.cli.terminal import Progress, print_facts, print_json, words


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
        bool, typer.Option("--probabilities", help="Write a column with the probability of each class too.")
    ] = False,
    scores: Annotated[bool, typer.Option("--scores", help="Write the scores of the classes too.")] = False,
    ids: Annotated[
        str | None,
        typer.Option("--id", metavar="COL", help="Column that names the rows, to be written first."),
    ] = None,
    batch_rows: BatchRows = 8192,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Predict the rows of files of any size, block by block.

    A NumPy file holds one array: the predictions, or with --probabilities or --scores those instead.

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
        is_clear = not (is_printed and sys.stdout.isatty())  # a bar and rows on one terminal would mix
        with Progress("Predicting", stream, is_clear) as progress, prediction_file(out) as file:
            for block in blocks_of(stream):
                columns = {} if ids is None else {ids: block.ids}
                if not (is_array and (probabilities or scores)):
                    columns["prediction"] = learned.predict(block.X)
                file.add(columns | _certainties(learned, block.X, probabilities, scores, file.decimals))
                n_rows += block.X.shape[0]
                progress.show(n_rows)
    if is_printed:
        return
    interrupts.tell(f"{out} is written")
    summary = {"out": str(out), "rows": n_rows, "bytes": out.stat().st_size, "seconds": time.monotonic() - started}
    if as_json:
        print_json(summary)
        return
    from craftmaps.report.wording import memory

    print_facts([("predictions", words(f"{out}, {n_rows:,} rows, {memory(summary['bytes'])}"))])


def _certainties(model: Any, X: Any, probabilities: bool, scores: bool, decimals: int | None) -> dict[str, Any]:
    """Return named columns of probabilities and scores; rows are mapped once for each of the two."""
    columns: dict[str, Any] = {}
    if probabilities:
        values = rounded(model.predict_proba(X), decimals)
        columns |= {f"probability_{label}": values[:, i] for i, label in enumerate(model.classes_)}
    if scores:
        values = model.decision_function(X)
        names = [f"score_{label}" for label in model.classes_]
        columns |= {"score": values} if values.ndim == 1 else dict(zip(names, values.T, strict=True))
    return columns
