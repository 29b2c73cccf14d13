"""`craftmaps data`: named data sets as files."""

from pathlib import Path
from typing import Annotated, Any

import typer

from craftmaps._system.atomic_files import new_file
from craftmaps.cli.files import writing
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

    The files are for train and evaluate. A data set is looked for below the folder that CRAFTMAPS_DATA names, else
    fetched from OpenML; a9a and coil100 are not fetched.

    Example: craftmaps data digits
    """
    from craftmaps import datasets

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
    from craftmaps.report.wording import memory

    print_facts((part, words(f"{path}, {memory(path.stat().st_size)}")) for part, path in files.items())


def write_rows(folder: Path, name: str, X: Any, y: Any) -> Path:
    """Write rows and labels, dense ones as Parquet and sparse ones as svmlight; return the path."""
    import numpy as np
    import pyarrow
    import pyarrow.parquet
    from scipy.sparse import issparse
    from sklearn.datasets import dump_svmlight_file

    path = folder / f"{name}.{'svmlight' if issparse(X) else 'parquet'}"
    with writing(path), new_file(path) as new:
        if issparse(X):
            dump_svmlight_file(X, y, str(new), zero_based=False)
        else:
            values = pyarrow.array(np.ascontiguousarray(X).reshape(-1))
            vectors = pyarrow.FixedSizeListArray.from_arrays(values, X.shape[1])
            pyarrow.parquet.write_table(pyarrow.table({"x": vectors, "label": pyarrow.array(y)}), new)
    return path
