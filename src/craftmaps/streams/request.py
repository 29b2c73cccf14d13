"""The arguments of `open` and `of`, checked."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from craftmaps.streams.column_options import NO_OPTIONS, ColumnOptions
from craftmaps.streams.limits import DEFAULT_LIMITS, Limits
from craftmaps.streams.sources.data_file import Part
from craftmaps.tables import Columns

Target = str | int | None


@dataclass(frozen=True)
class Request:
    """What a caller asks of a stream, see `open`, the limits on its files, and the part of them to read, if not all."""

    target: Target = "auto"
    columns: Columns | None = None
    batch_rows: int = 8192
    max_rows: int | None = None
    dtype: Any = "float32"
    options: ColumnOptions = NO_OPTIONS
    zero_based: bool | str = "auto"
    limits: Limits = DEFAULT_LIMITS
    part: Part | None = None

    def __post_init__(self):
        check_scalar(self.batch_rows, "batch_rows", Integral, min_val=1)
        target: Any = self.target
        if not (target is None or isinstance(target, (str, Integral))) or isinstance(target, bool):
            raise TypeError(f"target must be a name, a position or None, got {target!r}.")
        if self.columns is not None and not isinstance(self.columns, Columns):
            raise TypeError(f"columns must be a Columns or None, got {type(self.columns).__name__}.")
        if self.dtype not in ("float32", "float64", np.float32, np.float64):
            raise ValueError(f"dtype must be float32 or float64, got {self.dtype!r}.")
        if self.max_rows is not None:
            check_scalar(self.max_rows, "max_rows", Integral, min_val=1)
        if not (isinstance(self.zero_based, bool) or self.zero_based == "auto"):
            raise ValueError(f"zero_based must be True, False or 'auto', got {self.zero_based!r}.")
        if isinstance(target, Integral):
            object.__setattr__(self, "target", int(target))
