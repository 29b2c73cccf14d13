"""Files of predictions, written block by block."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from craftmaps.cli.files import writing
from craftmaps.whole_files import new_file

SUFFIXES = (".parquet", ".csv", ".npy")


@contextmanager
def prediction_file(path: Path) -> Iterator[Any]:
    """Give a writer for the format that a suffix tells."""
    writers = {".parquet": ParquetPredictions, ".csv": CsvPredictions, ".npy": NpyPredictions}
    with writing(path), new_file(path) as new, open(new, "wb") as file:
        writer = writers[path.suffix.lower()](file)
        yield writer
        writer.close()


class _ArrowPredictions(ABC):
    """Named columns, written by Arrow."""

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
        """Write what a file ends with."""
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

    def _open(self, schema: Any) -> Any:
        import pyarrow.csv

        options = pyarrow.csv.WriteOptions(quoting_style="needed")
        return pyarrow.csv.CSVWriter(self._file, schema, write_options=options)


class NpyPredictions:
    """One array: a vector, or a matrix with a column for each class."""

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
        """Write the number of rows, which is known now; NumPy leaves room for it in the header."""
        self._file.seek(0)
        self._write_header()

    def _write_header(self) -> None:
        """Write the type and the shape of the rows so far."""
        shape = (self._n_rows, *self._header["shape"][1:])
        np.lib.format.write_array_header_1_0(self._file, self._header | {"shape": shape})
