"""Data frames of pandas, Polars, Arrow and other libraries as tables: a schema, and batches of Arrow rows."""

import sys
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from craftmaps.tables.lazy_arrow import import_arrow

# A frame may fill most of the memory, so it is converted in pieces.
_ROWS_AT_ONCE = 1 << 16
_CELLS_AT_ONCE = 1 << 22


class PandasTable:
    """A pandas DataFrame; its index is ignored."""

    is_typed = True
    has_names = True

    def __init__(self, frame: Any, ignored: Collection[str]):
        arrow = import_arrow()
        self.name, self.n_rows, self._frame = type(frame).__name__, len(frame), frame
        names = [str(name) for name in frame.columns]
        self._positions = {name: i for i, name in enumerate(names)}
        types = [arrow.null() if name in ignored else self._type(name, i) for i, name in enumerate(names)]
        self.schema = arrow.schema(list(zip(names, types, strict=True)))

    def _type(self, name: str, position: int) -> Any:
        """Return the Arrow type of a column; Python objects are all inspected."""
        arrow, series = import_arrow(), self._frame.iloc[:, position]
        try:
            if series.dtype == object:
                return arrow.infer_type(series.array, from_pandas=True)
            return arrow.array(_dense(series.iloc[:0]), from_pandas=True).type
        except (arrow.ArrowException, OverflowError):
            raise self._refusal(name, series) from None

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
        """Yield batches of the columns in `kinds`, each with 0 for the unknown number of bytes read."""
        arrow = import_arrow()
        step = _rows_at_once(len(kinds))
        for start in range(0, self.n_rows, step):
            rows = self._frame.iloc[start : start + step]
            arrays = [self._array(name, rows.iloc[:, self._positions[name]]) for name in kinds]
            for batch in arrow.Table.from_arrays(arrays, list(kinds)).combine_chunks().to_batches():
                yield batch, 0

    def _array(self, name: str, series: Any) -> Any:
        """Convert some cells of a column."""
        arrow = import_arrow()
        try:
            own = self.schema.field(name).type if series.dtype == object else None
            return arrow.array(_dense(series), type=own, from_pandas=True)
        except (arrow.ArrowException, OverflowError):
            raise self._refusal(name, series) from None

    def _refusal(self, name: str, series: Any) -> ValueError:
        """Return the error for a column that cannot be converted."""
        found = sorted({type(value).__name__ for value in series.array[:1000]} - {"NoneType"})
        got = " and ".join(found[:3]) if series.dtype == object else str(series.dtype)
        return _unusable(name, self.name, got)


class ArrowTableInMemory:
    """An Arrow table in memory."""

    is_typed = True
    has_names = True

    def __init__(self, table: Any, name: str):
        self.name, self.n_rows, self.schema, self._table = name, table.num_rows, table.schema, table

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
        """Yield batches of the columns in `kinds`, each with 0 for the unknown number of bytes read."""
        for batch in self._table.select(list(kinds)).to_batches(max_chunksize=_rows_at_once(len(kinds))):
            yield batch, 0


class PolarsTable:
    """A Polars DataFrame, or a LazyFrame, which every pass collects batch by batch."""

    is_typed = True
    has_names = True

    def __init__(self, frame: Any, ignored: Collection[str]):
        arrow, polars = import_arrow(), sys.modules["polars"]
        self.name, self._frame = type(frame).__name__, frame
        self._is_lazy = isinstance(frame, polars.LazyFrame)
        self.n_rows = None if self._is_lazy else frame.height
        types = dict(frame.collect_schema())
        # A column can have many more categories than a batch, and every batch would convert all of them.
        self._categorical = [name for name, dtype in types.items() if dtype in (polars.Categorical, polars.Enum)]
        self.schema = arrow.schema(
            [
                (name, arrow.null() if name in ignored else self._type(polars, name, dtype))
                for name, dtype in types.items()
            ]
        )

    def _type(self, polars: Any, name: str, dtype: Any) -> Any:
        """Return the Arrow type of a column."""
        try:
            if dtype != polars.Object:
                return self._to_arrow(polars.DataFrame(schema={name: dtype})).schema.field(0).type
        except polars.exceptions.PolarsError:
            pass
        raise _unusable(name, self.name, dtype)

    def _to_arrow(self, frame: Any) -> Any:
        """Convert a frame to an Arrow table, categories to strings."""
        categorical = [name for name in self._categorical if name in frame.columns]
        return frame.cast(dict.fromkeys(categorical, sys.modules["polars"].String)).to_arrow()

    def batches(self, kinds: Mapping[str, str], batch_rows: int) -> Iterator[tuple[Any, int]]:
        """Yield batches of the columns in `kinds`, each with 0 for the unknown number of bytes read."""
        for frame in self._pieces(self._frame.select(list(kinds)), _rows_at_once(len(kinds))):
            for batch in self._to_arrow(frame).to_batches():
                yield batch, 0

    def _pieces(self, frame: Any, step: int) -> Iterator[Any]:
        """Yield the rows of a frame in order."""
        if self._is_lazy and hasattr(frame, "collect_batches"):
            yield from frame.collect_batches(chunk_size=step, maintain_order=True)
        else:
            yield from (frame.collect() if self._is_lazy else frame).iter_slices(step)


def table_of(frame: Any, ignored: Collection[str] = ()) -> Any:
    """Return a data frame as a table; the ignored columns are not converted."""
    if isinstance(frame, classes("narwhals", "DataFrame", "LazyFrame")):
        frame = frame.to_native()
    if isinstance(frame, classes("pandas", "DataFrame")):
        return PandasTable(frame, ignored)
    if isinstance(frame, classes("polars", "DataFrame", "LazyFrame")):
        return PolarsTable(frame, ignored)
    name = type(frame).__name__
    if isinstance(frame, classes("pyarrow", "Table")):
        return ArrowTableInMemory(frame, name)
    if isinstance(frame, classes("pyarrow", "RecordBatch")):
        return ArrowTableInMemory(import_arrow().Table.from_batches([frame]), name)
    return ArrowTableInMemory(_collected(frame), name)


def classes(module: str, *names: str) -> tuple[type, ...]:
    """Return classes of a module if it is imported; otherwise no object can be an instance of them."""
    home = sys.modules.get(module)
    return tuple(found for name in names if isinstance(found := getattr(home, name, None), type))


def _collected(frame: Any) -> Any:
    """Convert a frame of another library to an Arrow table, by narwhals or by the Arrow C stream interface."""
    if not (hasattr(frame, "columns") or hasattr(frame, "__arrow_c_stream__")):
        raise TypeError(
            f"frame must be a data frame of pandas or Polars, an Arrow table or a frame that narwhals supports, got "
            f"{type(frame).__name__}."
        )
    try:
        import narwhals
    except ImportError:
        if hasattr(frame, "__arrow_c_stream__"):
            return import_arrow().table(frame)
        raise ImportError(f"{type(frame).__name__} is read with narwhals: pip install narwhals.") from None
    known = narwhals.from_native(frame, pass_through=True)
    if isinstance(known, narwhals.LazyFrame):
        return known.collect(backend="pyarrow").to_native()
    if isinstance(known, narwhals.DataFrame):
        return known.to_arrow()
    if hasattr(frame, "__arrow_c_stream__"):
        return import_arrow().table(frame)
    raise TypeError(f"frame must be a data frame that narwhals supports, got {type(frame).__name__}.")


def _unusable(name: str, frame: str, got: Any) -> ValueError:
    """Return the error for a column of a type that is not supported."""
    return ValueError(
        f"Column {name!r} of {frame} must hold numbers, or strings, or lists of numbers, got {got}: cast it, or leave "
        f"it out with drop=[{name!r}]."
    )


def _dense(series: Any) -> Any:
    """Return a pandas column, converted to dense if it is sparse."""
    return series.sparse.to_dense() if str(series.dtype).startswith("Sparse") else series


def _rows_at_once(width: int) -> int:
    """Return how many rows of a width to convert at a time."""
    return max(1, min(_ROWS_AT_ONCE, _CELLS_AT_ONCE // max(width, 1)))
