"""An array in a file, and the limits on its shape and type."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from craftmaps.streams.limits import Limits


@dataclass(frozen=True)
class StoredArray:
    """An array in a file: its shape, its type, and a function that reads batches of its first axis."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    batches: Callable[[int], Iterator[NDArray]]

    @property
    def width(self) -> int:
        """Number of elements along all axes but the first."""
        return math.prod(self.shape[1:])


def check_claim(name: str, shape: tuple[int, ...], dtype: np.dtype, limits: Limits) -> None:
    """Refuse a shape or a type that no array of rows or labels has; a header may claim anything."""
    if len(shape) > limits.most_axes:
        raise ValueError(f"{name} must have at most {limits.most_axes} axes, got {len(shape)}.")
    if not all(type(n) is int and 0 <= n < 2**63 for n in shape):
        raise ValueError(f"{name} must have axes of lengths from 0 to 2**63, got shape {str(shape)[:60]}.")
    width = math.prod(shape[1:])
    if width > limits.widest_row:
        raise ValueError(f"{name} must have rows of at most {limits.widest_row:,} numbers, got {width:,}.")
    if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None:
        raise ValueError(f"{name} must hold numbers or strings, got {str(dtype)[:60]}.")
    if not 0 < dtype.itemsize <= 4 * limits.longest_label:
        raise ValueError(f"{name} must hold strings of 1 to {limits.longest_label} characters, got {dtype}.")
