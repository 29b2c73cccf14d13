"""`craftmaps export`: a model as a web page, an ONNX file or a C header."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from craftmaps.cli.argument_names import named_as_options
from craftmaps.cli.files import check_output, writing
from craftmaps.cli.options import Json, Model, as_source, parse_target
from craftmaps.cli.terminal import print_facts, print_json, words

# Enough rows to take a dozen from, and the shades of pictures.
_MOST_ROWS = 1000


def export(
    model: Model,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a web page that predicts.")] = None,
    onnx: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an ONNX file.")] = None,
    c: Annotated[Path | None, typer.Option("--c", metavar="FILE", help="Write a C99 header.")] = None,
    c_main: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a C program for the header, which reads CSV.")
    ] = None,
    test: Annotated[
        str | None, typer.Option(metavar="DATA", help="Rows with labels, of which a dozen come with the page.")
    ] = None,
    target: Annotated[str | None, typer.Option(metavar="COL", help="Column of their labels.")] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    as_json: Json = False,
) -> None:
    """Write a model as a web page, an ONNX file or a C header.

    Example: craftmaps export model.craft --html page.html
    """
    from craftmaps import export as exports
    from craftmaps.cli.model_rows import read_model

    wanted = {"--html": html, "--onnx": onnx, "--c": c}
    if not any(wanted.values()):
        raise typer.BadParameter("One of --html, --onnx and --c must be given.")
    if c_main is not None and c is None:
        raise typer.BadParameter("--c-main must come with --c, whose header it includes.")
    if html is None and (test is not None or title is not None):
        raise typer.BadParameter("--test and --title must come with --html, the page that they are for.")
    suffixes = {"--html": (".html", ".htm"), "--onnx": (".onnx",), "--c": (".h",), "--c-main": (".c",)}
    for option, path in (wanted | {"--c-main": c_main}).items():
        if path is not None:
            check_output(path, option, [str(model), *([test] if test else [])], suffixes[option])
    learned = read_model(model)
    rows = {} if test is None else _labelled(learned, test, target)
    started = time.monotonic()
    if html is not None:
        with writing(html):
            exports.page(learned, html, title=title, **rows)
    if onnx is not None:
        with writing(onnx):
            exports.onnx(learned, onnx)
    if c is not None:
        with writing(c):
            exports.c_header(learned, c, main=c_main)
    _tell([path for path in (html, onnx, c, c_main) if path is not None], time.monotonic() - started, as_json)


def _labelled(model: Any, source: str, target: str | None) -> dict[str, Any]:
    """Return the first rows of some data, and their labels."""
    import numpy as np

    from craftmaps.cli.model_rows import blocks_of, columns_of, open_labelled_rows

    with named_as_options(target is not None):
        stream = open_labelled_rows(columns_of(model), as_source([source]), parse_target(target), _MOST_ROWS, None)
    block = next(iter(blocks_of(stream)))
    X = block.X.toarray() if hasattr(block.X, "toarray") else block.X
    return {"X_test": X, "y_test": np.asarray(block.y)}


def _tell(paths: list[Path], seconds: float, is_json: bool) -> None:
    """Print what was written."""
    from craftmaps.report.html.wording import memory

    if is_json:
        files = [{"path": str(path), "bytes": path.stat().st_size} for path in paths]
        print_json({"files": files, "seconds": seconds})
        return
    names = {".html": "page", ".htm": "page", ".onnx": "ONNX", ".h": "C header", ".c": "C program"}
    print_facts(
        [(names[path.suffix.lower()], words(f"{path}, {memory(path.stat().st_size)}")) for path in paths],
    )
