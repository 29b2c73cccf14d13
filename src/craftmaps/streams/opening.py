"""Open files and data frames as streams."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from craftmaps.streams.column_options import ColumnOptions
from craftmaps.streams.errors import ArgumentError
from craftmaps.streams.formats.matrix_reader import matrix_readers
from craftmaps.streams.formats.sparse_reader import needs_scan, open_svmlight
from craftmaps.streams.formats.table_reader import table_readers
from craftmaps.streams.inference.first_look import columns_of_matrices, columns_of_tables
from craftmaps.streams.request import Request
from craftmaps.streams.sources.data_frame import FrameSource
from craftmaps.streams.sources.paths import PathLike, find_files
from craftmaps.streams.sources.standard_input import StandardInput, standard_input
from craftmaps.streams.stream import Stream
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
    zero_based: bool | str = "auto",
) -> "Stream":
    r"""Open files as a stream of blocks (X, y).

    The suffix of a file, or else its first bytes, tell the format: Parquet, Arrow and Feather, CSV and TSV, JSON lines,
    svmlight, NPY, NPZ, IDX and HDF5. Text may be compressed (gz, bz2, zst).

    Parameters
    ----------
    path : path or sequence of paths
        A file, a folder, a glob, several of these, or "-" for standard input. Files are read in the order of
        their names and must have one format.
    target : str, int or None, default="auto"
        Column of the labels, by name or by position; in NPZ and HDF5 files the name of an array. "auto" takes the
        labels that belong to the format (svmlight; "y" in NPZ and HDF5; `y.npy` beside `X.npy`; IDX labels beside
        images), or the column "label" of a table. With `columns`, "auto" is the target of the earlier stream, and y is
        None if the file lacks it. None: y is None; labels in the file are not read, and may be missing.
    batch_rows : int, default=8192
        Rows of a block; the last block has the rest.
    columns : Columns, optional
        Rule of an earlier stream to apply again. By default, a first look at the data fixes the rule.
    max_rows : int, optional
        Rows after which to stop.
    dtype : "float32" or "float64", default="float32"
        Type of X. Numbers are parsed in double precision and then rounded.
    drop : sequence of str
        Columns of a table to leave out.
    categories : sequence of str
        Columns of a CSV file, or of strings, to read as categories even if they look like numbers: codes, months,
        shops.
    weight : str, optional
        Column of a table with the weights of the rows. It is not a feature; blocks are (X, y, weight).
    ids : str, optional
        Column of a table that names the rows. It is not a feature; `Stream.blocks` carries it along.
    decimal : "." or ",", optional
        Decimal mark of a CSV file; by default that of `columns`, or else ".".
    dates : "parts", optional
        Encode dates, and text of ISO dates such as 2020-01-31 23:59, as year, month, day, weekday (Monday is 0), hour,
        minute and second, one feature each; the last three only if they are not always zero in the first look. Times
        with a zone are encoded by the clock of that zone. A missing date becomes the mean of each part. By default
        dates are refused.
    zero_based : bool or "auto", default="auto"
        Whether the indices of svmlight files begin at 0 or at 1, as in scikit-learn's `load_svmlight_file`. "auto" is
        the base stored in `columns`; without one, indices begin at 0 if any file has an index 0, else at 1.

    Warns
    -----
    UserWarning
        If a text column looks like numbers in another notation, or nearly all of its values differ; if a JSON field
        first appears too late to become a column; if an svmlight file has indices beyond the features of `columns`.

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
    options = ColumnOptions(drop, categories, weight, ids, decimal, dates)
    return open_files(path, Request(target, columns, batch_rows, max_rows, dtype, options, zero_based))


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
    r"""Open a data frame as a stream of blocks (X, y), by the same column rule as files.

    Needs pyarrow. The index of a pandas frame is ignored.

    Parameters
    ----------
    frame : data frame
        A pandas or Polars DataFrame, an Arrow table or record batch, a Polars LazyFrame, which every pass collects
        batch by batch, or another frame that narwhals supports, which is collected once.
    target : str, int or None, default=None
        Column of the labels, by name or by position. None: the labels are `y`, if given.
    batch_rows : int, default=8192
        Rows of a block; the last block has the rest.
    columns : Columns, optional
        Rule of an earlier stream to apply again. By default, a first look at the data fixes the rule.
    dtype : "float32" or "float64", default="float32"
        Type of X.
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
    options = ColumnOptions(drop, categories, weight, ids, None, dates)
    request = Request(target, columns, batch_rows, None, dtype, options)
    if target is not None and y is not None:
        raise ArgumentError(f"target must be None if y is given, got {target!r}.", "target")
    source = FrameSource(frame, y, options.drop, request.limits)
    return _table_stream([source], request if y is None else replace(request, target=source.label), can_repeat=True)


def open_files(path: PathLike | Sequence[PathLike], request: Request) -> Stream:
    """Open files as a stream, with limits of the caller's choice."""
    can_repeat = path != "-"
    if can_repeat:
        files: list[Any] = find_files(path, request.limits, request.part)
    else:
        files = [standard_input(lambda format: format == "svmlight" and needs_scan(request), request.limits)]
    format, name = files[0].format, files[0].name
    if request.zero_based != "auto" and format != "svmlight":
        raise ArgumentError(
            f"zero_based must be 'auto' for {name}, which is no svmlight file, got {request.zero_based}.", "zero_based"
        )
    if format in _TABLES:
        if request.options.decimal == "," and format != "CSV":
            raise ArgumentError(f"decimal must be None for {name}, whose numbers are not text, got ','.", "decimal")
        return _table_stream(files, request, can_repeat)
    request.options.refuse_any(name)
    if format == "svmlight":
        readers, columns = open_svmlight(files, request)
    else:
        readers = matrix_readers(files, request)
        columns = request.columns or columns_of_matrices(readers, request)
        for reader in readers:
            reader.bind(columns)
    return _stream(readers, columns, request, can_repeat)


def _table_stream(files: Sequence[Any], request: Request, can_repeat: bool) -> Stream:
    """Open tables as a stream, and warn where the user called `open` or `of` about columns that are perhaps misread."""
    readers = table_readers(files, request)
    columns = request.columns
    if columns is None:
        columns, findings = columns_of_tables(readers, request)
        for finding in findings:
            warnings.warn(finding, stacklevel=4)
    for reader in readers:
        reader.bind(columns)
    return _stream(readers, columns, request, can_repeat)


def _stream(readers: list[Any], columns: Columns, request: Request, can_repeat: bool) -> Stream:
    """Return the stream of readers, after the first look."""
    for reader in readers:
        if isinstance(reader.file, StandardInput):
            reader.file.is_looking = False
    return Stream(readers, columns, request, can_repeat)
