"""pyarrow, which is optional: imported when first used, with an error that says how to install it."""

import importlib
from functools import cache
from typing import Any


@cache
def import_arrow(module: str = "pyarrow") -> Any:
    """Import a module of pyarrow, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError("Tables and data frames are read with pyarrow: pip install pyarrow.") from None
