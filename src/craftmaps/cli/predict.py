"""`craftmaps predict`: predictions for the rows of files."""

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from craftmaps.cli import interrupts
from craftmaps.cli.files import check_output
from craftmaps.cli.options import BatchRows, Data, Json, Model, Threads, as_source
from craftmaps.cli.prediction_files import SUFFIXES, prediction_file
from craftmaps.cli.terminal import Progress, print_facts, print_json, words


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to write: .parquet, .csv or .npy.", show_default=False)
    ],
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write a column with the probability of each class too.")
    ] = False,
    scores: Annotated[bool, typer.Option("--scores", help="Write the scores of the classes too.")] = False,
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

    check_output(out, "--out", [str(model), *data], SUFFIXES)
    is_array = out.suffix.lower() == ".npy"
    if is_array and probabilities and scores:
        raise typer.BadParameter("A .npy file holds one array: choose --probabilities or --scores.")
    learned = read_model(model)
    if (probabilities or scores) and not hasattr(learned, "predict_proba"):
        raise ValueError(f"{model} predicts numbers, which have neither --probabilities nor --scores.")
    interrupts.tell(f"{out} was not written")
    started = time.monotonic()
    n_rows = 0
    with using_threads(threads) if threads else nullcontext():
        stream = open_rows(learned, as_source(data), batch_rows)
        with Progress("Predicting", stream) as progress, prediction_file(out) as file:
            for X, _ in blocks_of(stream):
                file.add(_predictions(learned, X, probabilities, scores, is_array))
                n_rows += X.shape[0]
                progress.show(n_rows)
    summary = {"out": str(out), "rows": n_rows, "bytes": out.stat().st_size, "seconds": time.monotonic() - started}
    if as_json:
        print_json(summary)
        return
    from craftmaps.report.wording import memory

    print_facts([("predictions", words(f"{out}, {n_rows:,} rows, {memory(summary['bytes'])}"))])


def _predictions(model: Any, X: Any, probabilities: bool, scores: bool, is_array: bool) -> dict[str, Any]:
    """Return named columns of predictions; of those that are asked for, rows are mapped once for each."""
    columns: dict[str, Any] = {}
    if probabilities:
        values = model.predict_proba(X)
        columns |= {f"probability_{label}": values[:, i] for i, label in enumerate(model.classes_)}
    if scores:
        values = model.decision_function(X)
        names = [f"score_{label}" for label in model.classes_]
        columns |= {"score": values} if values.ndim == 1 else dict(zip(names, values.T, strict=True))
    if is_array and columns:
        return columns
    return {"prediction": model.predict(X), **columns}
