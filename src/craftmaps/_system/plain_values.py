"""Values as JSON can hold them."""

import math
from typing import Any


def plain(value: Any) -> Any:
    """Return dictionaries, lists and Python scalars in place of arrays and tuples; None for NaN and infinity.

    Examples
    --------
    >>> plain({1: (2.5, float("nan"))})
    {'1': [2.5, None]}
    """
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
