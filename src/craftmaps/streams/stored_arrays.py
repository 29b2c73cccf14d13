"""An array in a file, and what it may claim to be."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.limits import LONGEST_LABEL, MOST_AXES, WIDEST_ROW


@dataclass(frozen=True)
class StoredArray:
    """An array in a file: its shape, its type, and how to read it in batches."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    batches: Callable[[int], Iterator[NDArray]]

    @property
    def width(self) -> int:
        """The number of elements along all axes but the first."""
        return math.prod(self.shape[1:])


def check_claim(name: str, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Refuse a shape or a type that no array of rows or labels has; files may claim anything."""
    if len(shape) > MOST_AXES:
        raise ValueError(f"{name} must have at most {MOST_AXES} axes, got {len(shape)}.")
    if not all(type(n) is int and 0 <= n < 2**63 for n in shape):
        raise ValueError(f"{name} must have axes of lengths from 0 to 2**63, got shape {str(shape)[:60]}.")
    width = math.prod(shape[1:])
    if width > WIDEST_ROW:
        raise ValueError(f"{name} must have rows of at most {WIDEST_ROW:,} numbers, got {width:,}.")
    if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None:
        raise ValueError(f"{name} must hold numbers or strings, got {str(dtype)[:60]}.")
    if not 0 < dtype.itemsize <= 4 * LONGEST_LABEL:
        raise ValueError(f"{name} must hold strings of 1 to {LONGEST_LABEL} characters, got {dtype}.")
