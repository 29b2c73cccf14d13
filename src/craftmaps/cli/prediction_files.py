"""Files of predictions, written block by block.

In CSV files probabilities have nine decimals and sum to one exactly. In Parquet and NPY files they are float32, and
their sum is one within half the spacing of floats below one (`craftmaps.scores.probabilities`).
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.atomic_files import new_file
from craftmaps.cli.files import writing

SUFFIXES = (".parquet", ".csv", ".npy")
_CSV_DECIMALS = 9


@contextmanager
def prediction_file(path: Path) -> Iterator[Any]:
    """Yield a writer for the format of a suffix; "-" is CSV to standard output."""
    if str(path) == "-":
        writer = CsvPredictions(sys.stdout.buffer)
        yield writer
        writer.close()
        sys.stdout.buffer.flush()
        return
    writers = {".parquet": ParquetPredictions, ".csv": CsvPredictions, ".npy": NpyPredictions}
    with writing(path), new_file(path) as new, open(new, "wb") as file:
        writer = writers[path.suffix.lower()](file)
        yield writer
        writer.close()


class _ArrowPredictions(ABC):
    """Named columns, written by Arrow."""

    decimals: int | None = None  # of probabilities; None: the precision of their type

    def __init__(self, file: BinaryIO):
        self._file = file
        self._writer: Any = None

    def add(self, columns: Mapping[str, NDArray]) -> None:
        """Write the columns of a block of rows."""
        import pyarrow

        table = pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()})
        if self._writer is None:
            self._writer = self._open(table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write the end of the file."""
        if self._writer is not None:
            self._writer.close()

    @abstractmethod
    def _open(self, schema: Any) -> Any:
        """Return Arrow's writer of a format."""


class ParquetPredictions(_ArrowPredictions):
    """Parquet."""

    def _open(self, schema: Any) -> Any:
        import pyarrow.parquet

        return pyarrow.parquet.ParquetWriter(self._file, schema)


class CsvPredictions(_ArrowPredictions):
    """Comma-separated text with a header."""

    decimals = _CSV_DECIMALS

    def _open(self, schema: Any) -> Any:
        import pyarrow.csv

        options = pyarrow.csv.WriteOptions(quoting_style="needed")
        return pyarrow.csv.CSVWriter(self._file, schema, write_options=options)


class NpyPredictions:
    """One array: a vector, or a matrix with a column for each class."""

    decimals = None

    def __init__(self, file: BinaryIO):
        self._file, self._n_rows = file, 0
        self._header: dict[str, Any] = {}

    def add(self, columns: Mapping[str, NDArray]) -> None:
        """Write the rows of a block."""
        values = list(columns.values())
        block = np.ascontiguousarray(values[0] if len(values) == 1 else np.column_stack(values))
        if not self._header:
            self._header = np.lib.format.header_data_from_array_1_0(block)
            self._write_header()
        self._file.write(block.tobytes())
        self._n_rows += block.shape[0]

    def close(self) -> None:
        """Write the number of rows, for which NumPy leaves room in the header."""
        self._file.seek(0)
        self._write_header()

    def _write_header(self) -> None:
        """Write the dtype and the shape of the rows so far."""
        shape = (self._n_rows, *self._header["shape"][1:])
        np.lib.format.write_array_header_1_0(self._file, self._header | {"shape": shape})
