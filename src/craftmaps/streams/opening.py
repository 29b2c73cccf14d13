"""Open files, or take data frames, as streams."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from craftmaps.streams.column_options import ColumnOptions
from craftmaps.streams.files import PathLike, StandardInput, find_files, standard_input
from craftmaps.streams.frame_source import FrameSource
from craftmaps.streams.matrices import open_matrices
from craftmaps.streams.stream import Stream
from craftmaps.streams.svmlight import needs_scan, open_svmlight
from craftmaps.streams.tabular import open_tables
from craftmaps.tables import Columns

_TABLES = ("Parquet", "Arrow", "CSV", "JSON lines")


def open(
    path: PathLike | Sequence[PathLike],
    target: str | int | None = "auto",
    batch_rows: int = 8192,
    columns: Columns | None = None,
    max_rows: int | None = None,
    dtype: Any = "float32",
    *,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    weight: str | None = None,
    ids: str | None = None,
    decimal: str | None = None,
    dates: str | None = None,
) -> "Stream":
    r"""Open files as a stream of blocks (X, y).

    Formats are told by suffix, else by the first bytes: Parquet, Arrow and Feather, CSV and TSV, JSON lines,
    svmlight, NPY, NPZ, IDX and HDF5; text may be compressed (gz, bz2, zst).

    Parameters
    ----------
    path : path or sequence of paths
        A file, a folder, a glob, several of these, or "-" for standard input. Files are read in the order of
        their names and must be of one format.
    target : str, int or None, default="auto"
        The column of the labels, by name or by position; in NPZ and HDF5 files the name of an array. None: y is None.
        "auto" is the labels that a format has of its own (svmlight; "y" in NPZ and HDF5; `y.npy` beside `X.npy`; IDX
        labels beside images) and the column "label" of a table. With `columns` it is the column that was
        the target then, and y is None if the file does not have it. None is for rows to predict: labels that stand
        in the file are not read, so that they may be missing.
    batch_rows : int, default=8192
        Rows of a block; the last block has what is left.
    columns : Columns, optional
        The rule of an earlier stream, to be applied again. By default it is fixed from a first look at the data.
    max_rows : int, optional
        Where to stop.
    dtype : "float32" or "float64", default="float32"
        The type of X. Numbers are read in double precision and then rounded.
    drop : sequence of str
        Columns of a table to leave out.
    categories : sequence of str
        Columns of a CSV file, or of strings, that hold names even where they look like numbers: codes, months, shops.
    weight : str, optional
        The column of a table that holds the weights of the rows. It is no feature, and blocks are (X, y, weight).
    ids : str, optional
        The column of a table that names the rows. It is no feature, and `Stream.blocks` carries it along.
    decimal : "." or ",", optional
        The decimal mark of a CSV file. By default that of `columns`, or else a point.
    dates : "parts", optional
        Take dates, and in text ISO dates such as 2020-01-31 23:59, for year, month, day, weekday (Monday is 0), hour,
        minute and second, each a feature; of the last three those that are not always zero in the first look. Times
        with a zone are taken as the clock there shows them. A missing date becomes the mean of each part.
        By default dates are refused.

    Warns
    -----
    UserWarning
        If a column is read as text, but its cells are numbers in another notation or nearly all different.

    Returns
    -------
    Stream

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from craftmaps import streams
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "rows.csv"
    ...     _ = path.write_text("age,eyes,label\n30,blue,yes\n50,brown,no\n")
    ...     [(X, y)] = streams.open(path)
    >>> X.tolist(), y.tolist()
    ([[30.0, 1.0, 0.0], [50.0, 0.0, 1.0]], ['yes', 'no'])
    """
    target = _checked(target, batch_rows, columns, dtype)
    if max_rows is not None:
        check_scalar(max_rows, "max_rows", Integral, min_val=1)
    options = ColumnOptions(drop, categories, weight, ids, decimal, dates)
    if path == "-":
        files = [standard_input(lambda format: format == "svmlight" and needs_scan(columns))]
    else:
        files = find_files(path)
    if files[0].format in _TABLES:
        if decimal == "," and files[0].format != "CSV":
            raise ValueError(f"decimal must be None for {files[0].name}, whose numbers are no text, got {decimal!r}.")
        readers, rule = open_tables(files, target, columns, options, max_rows)
    elif options.given:
        raise ValueError(options.refusal(files[0].name))
    elif files[0].format == "svmlight":
        readers, rule = open_svmlight(files, target, columns)
    else:
        readers, rule = open_matrices(files, target, columns, max_rows)
    for file in files:  # the look is over
        if isinstance(file, StandardInput):
            file.is_looking = False
    return Stream(readers, rule, int(batch_rows), max_rows, np.dtype(dtype), can_repeat=path != "-")


def of(
    frame: Any,
    target: str | int | None = None,
    batch_rows: int = 8192,
    columns: Columns | None = None,
    dtype: Any = "float32",
    *,
    y: Any = None,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    weight: str | None = None,
    ids: str | None = None,
    dates: str | None = None,
) -> "Stream":
    r"""Take a data frame as a stream of blocks (X, y), by the column rule that files get.

    Needs pyarrow. The index of a pandas frame is not read.

    Parameters
    ----------
    frame : data frame
        A DataFrame of pandas or Polars, a table or record batch of Arrow, a LazyFrame of Polars, which is collected
        batch by batch in every pass, or another frame that narwhals knows, which is collected once.
    target : str, int or None, default=None
        The column of the labels, by name or by position. None: labels are those of `y`, if it is given.
    batch_rows : int, default=8192
        Rows of a block; the last block has what is left.
    columns : Columns, optional
        The rule of an earlier stream, to be applied again. By default it is fixed from a first look at the data.
    dtype : "float32" or "float64", default="float32"
        The type of X.
    y : array-like of shape (n_rows,), optional
        Labels that are not in the frame.
    drop, categories, weight, ids, dates
        As for `open`.

    Returns
    -------
    Stream

    Examples
    --------
    >>> import pandas
    >>> from craftmaps import streams
    >>> people = pandas.DataFrame({"age": [30, None, 50], "eyes": ["blue", "brown", "brown"]})
    >>> stream = streams.of(people, y=["yes", "no", "no"])
    >>> [(X.tolist(), y.tolist()) for X, y in stream]
    [([[30.0, 1.0, 0.0], [40.0, 0.0, 1.0], [50.0, 0.0, 1.0]], ['yes', 'no', 'no'])]
    >>> stream.columns.feature_names
    ['age', 'eyes=blue', 'eyes=brown']
    """
    target = _checked(target, batch_rows, columns, dtype)
    options = ColumnOptions(drop, categories, weight, ids, None, dates)
    if target is not None and y is not None:
        raise ValueError(f"target must be None if y is given, got {target!r}.")
    source = FrameSource(frame, y, options.drop)
    readers, rule = open_tables([source], target if y is None else source.label, columns, options, None)
    return Stream(readers, rule, int(batch_rows), None, np.dtype(dtype), can_repeat=True)


def _checked(target: Any, batch_rows: Any, columns: Any, dtype: Any) -> str | int | None:
    """Refuse arguments of the wrong type; return the target as Python has it."""
    check_scalar(batch_rows, "batch_rows", Integral, min_val=1)
    if not (target is None or isinstance(target, (str, Integral))) or isinstance(target, bool):
        raise TypeError(f"target must be a name, a position or None, got {target!r}.")
    if columns is not None and not isinstance(columns, Columns):
        raise TypeError(f"columns must be a Columns or None, got {type(columns).__name__}.")
    if dtype not in ("float32", "float64", np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}.")
    return int(target) if isinstance(target, Integral) else target
