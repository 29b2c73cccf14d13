"""A stream of blocks (X, y) from files, in constant memory."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack
from sklearn.utils import check_scalar

from craftmaps.streams.columns import Columns
from craftmaps.streams.content import said_of
from craftmaps.streams.cutting import Piece, cut
from craftmaps.streams.files import PathLike, StandardInput, find_files, standard_input
from craftmaps.streams.matrices import open_matrices
from craftmaps.streams.prefetch import prefetch
from craftmaps.streams.svmlight import needs_scan, open_svmlight
from craftmaps.streams.tabular import open_tables

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
    check_scalar(batch_rows, "batch_rows", Integral, min_val=1)
    if max_rows is not None:
        check_scalar(max_rows, "max_rows", Integral, min_val=1)
    if not (target is None or isinstance(target, (str, Integral))) or isinstance(target, bool):
        raise TypeError(f"target must be a name, a position or None, got {target!r}.")
    target = int(target) if isinstance(target, Integral) else target
    if columns is not None and not isinstance(columns, Columns):
        raise TypeError(f"columns must be a Columns or None, got {type(columns).__name__}.")
    if dtype not in ("float32", "float64", np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}.")
    named = {"drop": drop, "categories": categories}
    for argument, names in named.items():
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise TypeError(f"{argument} must be a sequence of names, got {names!r}.")
    if path == "-":
        files = [standard_input(lambda format: format == "svmlight" and needs_scan(columns))]
    else:
        files = find_files(path)
    if files[0].format in _TABLES:
        readers, rule = open_tables(files, target, columns, named, max_rows)
    elif drop or categories:
        argument, names = next((argument, names) for argument, names in named.items() if names)
        raise ValueError(
            f"{argument} must be empty for {files[0].name}, whose columns have no names, got {list(names)}."
        )
    elif files[0].format == "svmlight":
        readers, rule = open_svmlight(files, target, columns)
    else:
        readers, rule = open_matrices(files, target, columns, max_rows)
    for file in files:  # the look is over
        if isinstance(file, StandardInput):
            file.is_looking = False
    return Stream(readers, rule, int(batch_rows), max_rows, np.dtype(dtype), can_repeat=path != "-")


class Stream:
    """Blocks (X, y) of files, read ahead in a thread while the caller computes.

    It can be iterated over as often as wanted, but for standard input, which comes once.

    Attributes
    ----------
    columns : Columns
        How a table becomes a matrix.
    n_rows : int or None
        The number of rows, where files tell it without being read.
    bytes_read : int
        Bytes of the files behind the blocks given so far, in the current pass.
    total_bytes : int or None
        Bytes of all files; None if that is not known.
    """

    def __init__(
        self,
        readers: list[Any],
        columns: Columns,
        batch_rows: int,
        max_rows: int | None,
        dtype: np.dtype,
        can_repeat: bool,
    ):
        self.columns = columns
        self.bytes_read = 0
        self._readers = readers
        self._batch_rows, self._max_rows, self._dtype = batch_rows, max_rows, dtype
        self._can_repeat, self._is_used = can_repeat, False

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known."""
        counts = [reader.n_rows for reader in self._readers]
        if None in counts:
            return None
        return sum(counts) if self._max_rows is None else min(sum(counts), self._max_rows)

    @property
    def total_bytes(self) -> int | None:
        """Bytes of all files, where it is known."""
        sizes = [reader.file.n_bytes for reader in self._readers]
        return None if None in sizes else sum(sizes)

    def __len__(self) -> int:
        if self.n_rows is None:
            raise TypeError("The number of blocks is not known: these files do not tell how many rows they have.")
        return -(-self.n_rows // self._batch_rows)

    def __iter__(self) -> Iterator[tuple[Any, NDArray | None]]:
        if self._is_used and not self._can_repeat:
            raise ValueError("Standard input can be read only once: write it to a file to read it again.")
        self._is_used = True
        self.bytes_read = 0
        return self._pass()

    def _pass(self) -> Iterator[tuple[Any, NDArray | None]]:
        """Yield the blocks of one pass."""
        with closing(prefetch(self._blocks())) as blocks:
            for X, y, position in blocks:
                self.bytes_read = position
                yield X, y

    def _blocks(self) -> Iterator[tuple[Any, NDArray | None, int]]:
        """Yield blocks and the bytes behind them."""
        block = None
        for block in cut(self._pieces(), self._batch_rows, self._max_rows):
            with said_of(block[-1].reader.name):
                y = None if block[0].labels is None else np.concatenate([piece.reader.labels(piece) for piece in block])
                X = self._matrix(block)
            yield X, y, block[-1].position
        if block is None:
            raise ValueError(f"{self._readers[0].name} has no rows.")

    def _pieces(self) -> Iterator[Piece]:
        """Yield the rows of all files, with the bytes of the files before counted in."""
        done = 0
        for reader in self._readers:
            for piece in reader.pieces(self._batch_rows):
                yield piece.after(done)
            done += reader.file.n_bytes or 0

    def _matrix(self, block: list[Piece]) -> NDArray[np.floating] | csr_matrix:
        """Return the rows of pieces as one matrix."""
        if hasattr(block[0].reader, "encode_sparse"):
            return vstack([piece.reader.encode_sparse(piece, self._dtype) for piece in block], format="csr")
        X = np.empty((sum(map(len, block)), self.columns.n_features), self._dtype)
        start = 0
        for piece in block:
            piece.reader.encode(piece, X[start : start + len(piece)])
            start += len(piece)
        return X
