"""Labels of classes as a file has them."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.fields import DamagedError, Fields, is_text

# What `dtype.str` gives for labels that can be saved.
_TYPE = re.compile(r"[<>=|]?(O|U[1-9][0-9]{0,6}|b1|[iu][1248]|f[248])")
_MOST_BYTES = 2**28
# Arrays of text have room for this, or for their longest label, in every row.
_USUAL_LENGTH, LONGEST = 256, 4096
_VALUES: dict[str, tuple[type, ...]] = {"b": (bool,), "i": (int,), "u": (int,), "f": (float, int)}


def labels_from_plain(fields: Fields) -> NDArray:
    """Return labels in their order, each once and of one type; text may not take more room than it has to."""
    name, values = fields.value("dtype"), fields.value("values")
    if not isinstance(name, str) or _TYPE.fullmatch(name) is None:
        raise fields.refuse("dtype", "the type of strings, numbers or booleans")
    dtype = np.dtype(name)
    if not isinstance(values, list) or not all(_is_label(value, dtype.kind) for value in values):
        raise fields.refuse("values", f"a list of labels of type {dtype}")
    if dtype.kind == "U":
        longest = max(map(len, values), default=0)
        if longest > LONGEST:
            raise DamagedError(f"{fields.path('values')} must be of at most {LONGEST} letters, got {longest}")
        if dtype.itemsize // 4 > max(longest, _USUAL_LENGTH):
            dtype = np.dtype(f"{dtype.str[0]}U{max(longest, _USUAL_LENGTH)}")
    if len(values) * dtype.itemsize > _MOST_BYTES:
        raise fields.refuse("dtype", f"a type in which {len(values)} labels take at most {_MOST_BYTES} bytes")
    try:
        labels = np.array(values, dtype=dtype)
    except OverflowError:
        raise fields.refuse("values", f"numbers of type {dtype}") from None
    if dtype.kind == "f" and not np.isfinite(labels).all():
        raise fields.refuse("values", "finite numbers")
    if not (labels[1:] > labels[:-1]).all():
        raise DamagedError(f"{fields.path('values')} must be sorted, every label once")
    return labels


def _is_label(value: Any, kind: str) -> bool:
    """Tell whether a value is a label of a kind."""
    return is_text(value) if kind in "OU" else type(value) in _VALUES[kind]
