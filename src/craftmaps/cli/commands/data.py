"""`craftmaps data`: list named data sets, or write one to files."""

from pathlib import Path
from typing import Annotated

import typer

from craftmaps.cli.options import Json
from craftmaps.cli.terminal import print_facts, print_json, print_table, words


def data(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The data set to write.", show_default=False)
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write to.")] = Path(),
    as_json: Json = False,
) -> None:
    """List named data sets, or write one.

    The files are for train and evaluate. A data set comes from the folder that CRAFTMAPS_DATA names, else from OpenML;
    a9a and coil100 come from the folder only.

    Example: craftmaps data digits
    """
    from craftmaps import datasets
    from craftmaps.cli.data_files import write_rows

    if name is None:
        found = {each: datasets.found(each) for each in datasets.names()}
        if as_json:
            print_json(found)
        else:
            print_table(["data set", "found"], [[each, "yes" if is_here else "no"] for each, is_here in found.items()])
        return
    if name not in datasets.names():
        raise typer.BadParameter(f"NAME must be one of {', '.join(datasets.names())}, got {name!r}.")
    if not out.is_dir():
        raise FileNotFoundError(f"--out must be a folder that exists, got {str(out)!r}.")
    split = datasets.load(name)
    files = {
        "train": write_rows(out, f"{name}-train", split.X_train, split.y_train),
        "test": write_rows(out, f"{name}-test", split.X_test, split.y_test),
    }
    if as_json:
        print_json({part: str(path) for part, path in files.items()})
        return
    from craftmaps.report.html.wording import memory

    print_facts((part, words(f"{path}, {memory(path.stat().st_size)}")) for part, path in files.items())
