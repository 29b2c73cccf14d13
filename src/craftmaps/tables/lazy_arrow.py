"""pyarrow, an optional dependency, imported on first use."""

import importlib
from functools import cache
from typing import Any


@cache
def import_arrow(module: str = "pyarrow") -> Any:
    """Import a module of pyarrow; if it is not installed, raise an error that names the package."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError("Tables and data frames are read with pyarrow: pip install pyarrow.") from None
